#!/bin/sh
# SPDX-License-Identifier: MIT
# The shared library exports functions named htw_ and nothing else, and every function that
# the headers declare, those that are inline included. What the static library defines for others
# has such names, too. No function has the name of a struct or an enum.
# usage: symbols.sh SHARED_LIBRARY STATIC_LIBRARY INCLUDE_FOLDER
set -eu
exported=$(nm -D --defined-only "$1" | awk '{ print $2, $3 }' | sort)
wrong=$(printf '%s\n' "$exported" | grep -v '^T htw_[a-z]' || true)
[ -z "$wrong" ] || { printf 'exported, but no function named htw_:\n%s\n' "$wrong"; exit 1; }
defined=$(nm -g --defined-only "$2" | awk 'NF == 3 { print $3 }')
# (The compiler's reference to the routine that unwinds the stack is allowed, and AddressSanitizer's
# marks of global variables in its own build.)
wrong=$(printf '%s\n' "$defined" | grep -v -e '^htw_' -e '^DW.ref.__gcc_personality' -e '^__odr_asan' || true)
[ -z "$wrong" ] || { printf 'defined in the static library, but not named htw_:\n%s\n' "$wrong"; exit 1; }
declared=$(cat "$3"/htw/*.h |
    sed -n 's/^\(HTW_API\|static inline\) .*[ *]\(htw_[a-z_]*\)(.*/\2/p' | sort -u)
[ -n "$declared" ] || { echo 'no declarations found'; exit 1; }
for function in $declared; do
    printf '%s\n' "$exported" | grep -qx "T $function" || { echo "not exported: $function"; exit 1; }
done
[ "$(printf '%s\n' "$declared" | wc -l)" = "$(cat "$3"/htw/*.h | grep -c '^HTW_API')" ] ||
    { echo 'not every declaration was found'; exit 1; }
# shellcheck disable=SC2013 # words
for type in $(cat "$3"/htw/*.h | sed -n 's/^\(struct\|enum\|union\) \(htw_[a-z_]*\)\( {\|;\).*/\2/p'); do
    ! printf '%s\n' "$declared" | grep -qx "$type" ||
        { echo "a function has the name of a type: $type"; exit 1; }
done
printf '%s\n' "$exported" | wc -l | xargs printf '%d functions exported\n'
