#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints src/bindings.rs: the declarations of the public headers in Rust, as bindgen of Debian 12 makes them.
# usage: generate.sh [--layout-tests]   with tests of the layout of structs
set -eu
root=$(dirname "$(readlink -f "$0")")/../../..
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

# generate "HEADER..." [ARG]...: what these headers declare, on one level. bindgen does not see macros that are no plain
# numbers: those of times are constants for it. This bindgen understands clang up to 14.
generate() {
    headers=$1
    shift
    for header in $headers; do
        echo "#include <htw/$header.h>"
        sed -nE 's,^#define (HTW_[A-Z_]+) \(?(INT64_|HTW_)[A-Z0-9_() /]+$,static const int64_t rust_\1 = \1;,p' \
            "$root/include/htw/$header.h"
    done >"$work/all.h"
    LIBCLANG_PATH=${LIBCLANG_PATH:-/usr/lib/llvm-14/lib} PATH=/usr/bin:$PATH bindgen "$work/all.h" \
        --rust-target 1.47 --size_t-is-usize --ctypes-prefix ::std::os::raw --no-prepend-enum-name \
        --no-doc-comments --no-recursive-allowlist \
        --allowlist-file ".*/(all|$(echo "$headers" | tr ' ' '|'))\.h" \
        --blocklist-item 'HTW_VERSION.*' --blocklist-item 'HTW__.*' "$@" -- "-I$root/include" |
        sed 's/rust_HTW_/HTW_/; /^\/\* automatically generated/d; /^$/d'
}

engine='base log backoff wheel wheel_inspect scheduler_options scheduler timer group scope executor loop observe'
engine="$engine purgatory purgatory_inspect threshold"
echo '// Made by generate.sh from the headers, with rust-bindgen. ./dev rust fails where they differ.'
if [ "${1:-}" = --layout-tests ]; then
    echo 'type FILE = ::std::os::raw::c_void;'
    generate "$engine calendar journal journal_inspect journal_guest"
else
    echo 'use libc::FILE;'
    generate "$engine" --no-layout-tests
    for part in calendar journal; do
        printf '#[cfg(feature = "%s")]\npub use self::%s::*;\n' $part $part
        printf '#[cfg(feature = "%s")]\nmod %s {\nuse super::*;\n' $part $part
        generate "$(cd "$root/include/htw" && basename -s .h $part*.h | xargs)" --no-layout-tests
        echo '}'
    done | rustfmt --edition 2021
fi
