#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages hold each file that the build installs.
# usage: files.sh PREFIX ROOT, with --libdir lib
set -eu
prefix=$1
root=$2

# lacks PATTERN...: prints the files of the prefix that no pattern matches. Like one of debhelper,
# a pattern that matches a folder takes what is in it.
lacks() (
    cd "$prefix"
    set -f
    find . ! -type d -printf '%P\n' | while read -r file; do
        for pattern in $1; do
            # shellcheck disable=SC2254 # patterns
            case $file in
            $pattern | ${pattern%/}/*) continue 2 ;;
            esac
        done
        printf '%s\n' "$file"
    done
)

[ -e "$prefix/lib/pkgconfig/htw.pc" ] || { echo "htw is not installed in $prefix"; exit 1; }
left=$(lacks "$(cat "$root"/debian/*.install | sed 's,^usr/,,; s,^lib/\*/,lib/,')")
[ -z "$left" ] || { printf 'in no package of Debian:\n%s\n' "$left"; exit 1; }
