#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header compiles alone, and twice, as C11 and as C++17, without a warning.
# usage: headers.sh INCLUDE_FOLDER
set -eu
warnings='-Wall -Wextra -Wconversion -Wsign-conversion -pedantic -Werror'
for header in "$1"/htw/*.h; do
    name=htw/$(basename "$header")
    source=$(printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name")
    # shellcheck disable=SC2086 # a list of words
    printf '%s\n' "$source" | cc -x c -std=c11 $warnings -Wstrict-prototypes -I "$1" -fsyntax-only -
    # shellcheck disable=SC2086
    printf '%s\n' "$source" | c++ -x c++ -std=c++17 $warnings -I "$1" -fsyntax-only -
    echo "ok $name"
done
# The initialisers must be good in both languages, too.
initialisers='#include <htw/htw.h>
int main(void)
{
    struct htw_backoff_options backoff = HTW_BACKOFF_OPTIONS_INIT;
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    return backoff.struct_size == 0 || options.struct_size == 0 || stats.struct_size == 0;
}'
# shellcheck disable=SC2086
printf '%s\n' "$initialisers" | cc -x c -std=c11 $warnings -I "$1" -fsyntax-only -
# shellcheck disable=SC2086
printf '%s\n' "$initialisers" | c++ -x c++ -std=c++17 $warnings -I "$1" -fsyntax-only -
echo "ok initialisers"
