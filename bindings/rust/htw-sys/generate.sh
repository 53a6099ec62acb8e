#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints the declarations of the public headers in Rust, as bindgen of Debian 12 makes them:
# src/bindings.rs.
# usage: generate.sh [--layout-tests]
set -eu
cd "$(dirname "$(readlink -f "$0")")"
layout=--no-layout-tests
[ "${1:-}" != --layout-tests ] || layout=--rustfmt-bindings

# This bindgen understands clang up to 14. The version is that of the crate.
LIBCLANG_PATH=${LIBCLANG_PATH:-/usr/lib/llvm-14/lib} PATH=/usr/bin:$PATH bindgen generate.h \
    --rust-target 1.47 --size_t-is-usize --ctypes-prefix ::std::os::raw --no-prepend-enum-name \
    --no-doc-comments --no-derive-debug "$layout" \
    --allowlist-function 'htw_.*' --allowlist-type 'htw_.*' --allowlist-var '(rust_)?HTW_.*' \
    --blocklist-type 'FILE|_IO_.*' --blocklist-item 'HTW_VERSION.*' --blocklist-item 'HTW__.*' \
    --raw-line '// Made by generate.sh from the headers. ./dev rust fails where they differ.' \
    --raw-line 'use libc::FILE;' -- -I../../../include |
    sed 's/rust_HTW_/HTW_/; /^pub type __.*_t = /d'
