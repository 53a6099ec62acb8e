#!/bin/sh
# SPDX-License-Identifier: MIT
# Each public header compiles alone, and twice, in each standard of C and C++ that users have, with
# each compiler that is there, without a warning; so do the macros, where they are used.
# usage: headers.sh INCLUDE_FOLDER
set -eu
include=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# -I, not -isystem: the warnings of the headers count.
warnings='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wcast-align -pedantic -Werror'

# compile LANGUAGE FILE: with each compiler and standard of it.
compile() {
    if [ "$1" = c ]; then
        compilers='gcc clang' standards='c99 c11 gnu11'
        more='-Wstrict-prototypes -Wmissing-prototypes'
    else
        compilers='g++ clang++' standards='c++11 c++17' more='-Wold-style-cast'
    fi
    for compiler in $compilers; do
        command -v "$compiler" >"$work/found" || continue
        for standard in $standards; do
            # shellcheck disable=SC2086 # lists of words
            "$compiler" -x "$1" "-std=$standard" $warnings $more -I "$include" -fsyntax-only "$2" ||
                { echo "$compiler -std=$standard does not accept $2"; exit 1; }
        done
    done
}

for header in "$include"/htw/*.h; do
    name=htw/$(basename "$header")
    printf '#include <%s>\n#include <%s>\nint main(void) { return 0; }\n' "$name" "$name" \
        >"$work/twice"
    compile c "$work/twice"
    compile c++ "$work/twice"
    echo "ok $name"
done

# Every macro with a value, and those with arguments.
{
    cat <<'PROGRAM'
#include <htw/htw.h>

struct job {
    int number;
    struct htw_timer timer;
};

int job_number(struct htw_timer *timer);
int job_number(struct htw_timer *timer)
{
    return HTW_CONTAINER_OF(timer, struct job, timer)->number;
}

int const_job_number(const struct htw_timer *timer);
int const_job_number(const struct htw_timer *timer)
{
    return HTW_CONTAINER_OF(timer, const struct job, timer)->number;
}

int main(void)
{
    double sum = 0;
PROGRAM
    sed -n 's/^#define \(HTW_[A-Z_]*_INIT\)\b.*/\1/p' "$include"/htw/*.h |
        while read -r macro; do
            name=$(printf '%s' "$macro" | tr '[:upper:]' '[:lower:]')
            name=${name%_init}
            printf '    {\n        struct %s value = %s;\n        sum += (value.struct_size == 0);\n    }\n' \
                "$name" "$macro"
        done
    sed -n 's/^#define \(HTW_[A-Z_]*\) \([A-Z0-9(-].*\)$/\1/p' "$include"/htw/*.h |
        grep -v -e _INIT -e _H$ -e HTW_API -e HTW_WARN |
        while read -r macro; do
            printf '    sum += (%s > 0);\n' "$macro"
        done
    printf '    return sum > 0;\n}\n'
} >"$work/macros"
for macro in HTW_SPEC_INIT HTW_WHEEL_OPTIONS_INIT HTW_DAY HTW_NEVER_NS HTW_WHEEL_SIZE_MAX; do
    grep -q "$macro" "$work/macros" || { echo "the macros are not found: $macro"; exit 1; }
done
compile c "$work/macros"
compile c++ "$work/macros"
echo 'ok macros'
