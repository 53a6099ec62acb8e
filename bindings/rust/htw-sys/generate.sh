#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the declarations of the public headers in Rust, as bindgen of Debian 12 makes them:
# src/bindings.rs; of htw/calendar.h: src/calendar.rs, of htw/journal.h: src/journal.rs; or all of them, with
# tests of the layout of structs.
# usage: generate.sh [calendar | journal | --layout-tests]
set -eu
cd "$(dirname "$(readlink -f "$0")")"

# generate [ARG]...: this bindgen understands clang up to 14. The version is that of the crate.
generate() {
    LIBCLANG_PATH=${LIBCLANG_PATH:-/usr/lib/llvm-14/lib} PATH=/usr/bin:$PATH bindgen generate.h \
        --rust-target 1.47 --size_t-is-usize --ctypes-prefix ::std::os::raw --no-prepend-enum-name \
        --no-doc-comments --no-derive-debug \
        --blocklist-type 'FILE|_IO_.*' --blocklist-item 'HTW_VERSION.*' --blocklist-item 'HTW__.*' \
        --raw-line '// Made by generate.sh from the headers. ./dev rust fails where they differ.' "$@" \
        -- -I../../../include |
        sed 's/rust_HTW_/HTW_/; /^pub type __.*_t = /d'
}

calendar='htw_(calendar|zone|schedule_calendar|weekday).*|(rust_)?HTW_CALENDAR_.*'
types='htw_(journal|job|lease|queue_|deliver|durable|stopped|synchronous|list_place|recurring|next_instant)'
journal="sqlite3|$types.*|(rust_)?HTW_(JOURNAL|JOB|LEASE|QUEUE|KICK|SYNCHRONOUS|RECURRING).*"
# part PATTERN [ARG]...
part() {
    pattern=$1
    shift
    generate --no-layout-tests --no-recursive-allowlist --raw-line 'use crate::*;' \
        --allowlist-function "$pattern" --allowlist-type "$pattern" --allowlist-var "$pattern" "$@"
}
case ${1:-} in
calendar) part "$calendar" ;;
journal) part "$journal" --raw-line 'use libc::FILE;' ;;
*)
    all='--allowlist-function htw_.* --allowlist-type htw_.* --allowlist-var (rust_)?HTW_.*'
    [ "${1:-}" = --layout-tests ] ||
        all="--no-layout-tests --blocklist-item $calendar|$journal $all"
    # shellcheck disable=SC2086 # a list of words, none of which is a pattern of files
    generate --raw-line 'use libc::FILE;' $all
    ;;
esac
