#!/bin/sh
# SPDX-License-Identifier: MIT
# A shared library exports the functions that its src/LIBRARY.map lists and nothing else: all that its
# headers declare, but those that are inline, each in the node of a release. What libhtw exports for the other
# libraries is in a node of its own. What the static library defines for others is named htw_, too. No function has
# the name of a struct or an enum.
# usage: symbols.sh LIBRARY SHARED_LIBRARY STATIC_LIBRARY ROOT
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
library=$1
shift
map=$3/src/$library.map
case $library in
libhtw) headers=$(find "$3/include/htw" -name '*.h' ! -name bubble.h ! -name calendar.h ! -name 'journal*.h' ! -name monitor.h) ;;
libhtw-*) headers=$(find "$3/include/htw" -name "${library#libhtw-}*.h") ;;
esac
# shellcheck disable=SC2086 # words
cat $headers >"$work/headers"

# NAME@@NODE of each.
nm -D --defined-only "$1" | awk '$2 != "A" && !/@@HTW_PRIVATE_/ { print $3 }' | LC_ALL=C sort >"$work/exported"
awk '/^HTW_/ { node = $1 }
     /^    htw_[a-z0-9_]*;$/ { name = $1; sub(/;/, "", name); print name "@@" node }' "$map" |
    LC_ALL=C sort >"$work/listed"
[ -s "$work/listed" ] || { echo "no functions found in $map"; exit 1; }
grep -E '^    [^ ]' "$map" | grep -v -x -e '    htw_[a-z0-9_]*;' -e '    htw__\*;' -e '    \*;' &&
    { echo "$map lists what is no function named htw_"; exit 1; }
diff "$work/listed" "$work/exported" ||
    { echo "$map (<) is not what the library exports (>)"; exit 1; }
# What others use of libhtw, which is not public, is that of their own release.
node=HTW_PRIVATE_$(sed -n 's/^#define HTW_VERSION "\([0-9.]*\).*"/\1/p' "$3/include/htw/base.h")
[ "$library" != libhtw ] || nm -D --defined-only "$1" | grep -q "@@$node\$" || { echo "no function is in the node $node"; exit 1; }
! nm -D --undefined-only "$1" | grep ' htw__' | grep -v "@$node\$" || { echo "(above) not of the node $node"; exit 1; }
# For Debian, each node stands for its functions.
awk '/^HTW_/ { match($1, /[0-9]+\.[0-9]+/); print " (symver)" $1, substr($1, RSTART, RLENGTH) ".0~" }' "$map" >"$work/nodes"
sed -n "/^$library\.so/,/^lib/ { /symver/p }" "$3"/debian/*.symbols | diff "$work/nodes" - ||
    { echo "the nodes of $map (<) are not those of the symbols file of debian/ (>)"; exit 1; }
defined=$(nm -g --defined-only "$2" | awk 'NF == 3 { print $3 }')
# (The compiler's reference to the routine that unwinds the stack is allowed, AddressSanitizer's
# marks of global variables in its own build, inline functions of C++, what clang calls if these throw, and the hidden
# mark of probes.)
wrong=$(printf '%s\n' "$defined" | grep -v -e '^htw_' -e '^DW.ref.__g.*_personality' -e '^_Z' -e '^__clang_call_terminate$' -e '^__odr_asan' -e '^_\.stapsdt\.base$' || true)
[ -z "$wrong" ] || { printf 'defined in the static library, but not named htw_:\n%s\n' "$wrong"; exit 1; }
declared=$(sed -n 's/^HTW_API .*[ *]\(htw_[a-z_]*\)(.*/\1/p' "$work/headers" | sort -u)
[ -n "$declared" ] || { echo 'no declarations found'; exit 1; }
printf '%s\n' "$declared" | LC_ALL=C sort >"$work/declared"
sed 's/@@.*//' "$work/exported" | diff "$work/declared" - ||
    { echo 'the headers (<) do not declare what the library exports (>)'; exit 1; }
[ "$(printf '%s\n' "$declared" | wc -l)" = "$(grep -c '^HTW_API' "$work/headers")" ] ||
    { echo 'not every declaration was found'; exit 1; }
# shellcheck disable=SC2013 # words
for type in $(sed -n 's/^\(struct\|enum\|union\) \(htw_[a-z_]*\)\( {\|;\).*/\2/p' "$work/headers"); do
    ! printf '%s\n' "$declared" | grep -qx "$type" ||
        { echo "a function has the name of a type: $type"; exit 1; }
done
wc -l <"$work/exported" | xargs printf '%d functions exported\n'
