#!/bin/sh
# SPDX-License-Identifier: MIT
# The DLL exports the public functions that the map lists, and nothing else.
# usage: exports.sh OBJDUMP DLL MAP
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
"$1" -p "$2" | sed -n 's/^\t\[ *[0-9]*\] .*\<\(htw_[a-z0-9_]*\)$/\1/p' | LC_ALL=C sort >"$work/exported"
sed -n 's/^    \(htw_[a-z0-9][a-z0-9_]*\);$/\1/p' "$3" | LC_ALL=C sort >"$work/listed"
[ -s "$work/listed" ]
diff "$work/listed" "$work/exported"
