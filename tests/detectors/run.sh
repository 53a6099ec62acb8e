#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of users under race detectors, against the installed library, which is not instrumented:
# ThreadSanitizer of gcc and clang, helgrind and DRD must be silent about those without a race, and
# report each race of the others. So must LeakSanitizer of both, of what is lost. The script for gdb must show what a program holds.
# usage: run.sh PREFIX FOLDER   (PREFIX: where htw is installed; FOLDER: for what is built here)
set -eu
prefix=$1
folder=$2
cd "$(dirname "$0")"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name htw.pc)")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
suppressions=$prefix/share/htw/valgrind.supp
races=$(sed -n 's/^static void \([a-z_]*\)(void) {$/\1/p' races.c) # one a function
passed=0
failed=0
mkdir -p "$folder"
log=$folder/gdb

# Where the kernel spreads addresses widely, gcc's run time needs this: see run_tsan in ./dev.
same_addresses=
if setarch -R true 2>/dev/null; then
    same_addresses='setarch -R'
fi

# expect WHAT STATUS NAME COMMAND...: WHAT: silent, or a line that must be in the output. The tool
# itself gives STATUS where it reports a race.
expect() {
    what=$1
    reported=$2
    name=$3
    shift 3
    status=0
    "$@" >"$folder/output" 2>&1 || status=$?
    if [ "$what" = silent ] && [ "$status" = 0 ] && [ ! -s "$folder/output" ]; then
        passed=$((passed + 1))
    elif [ "$what" != silent ] && [ "$status" = "$reported" ] && grep -q "$what" "$folder/output"
    then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: status %s, expected: %s\n' "$name" "$status" "$what"
        head -60 "$folder/output"
    fi
}

# build SOURCE COMPILER KIND FLAG...: sets `program`. COMPILER: gcc or clang.
build() {
    program=$folder/${1%.*}-$2-$3
    built=$1
    by=$2
    libraries="$(pkg-config --libs htw) -Wl,-rpath,$library -Wl,-z,defs"
    [ "$3" = shared ] || libraries=$library/libhtw.a
    shift 3
    # shellcheck disable=SC2046,SC2086 # lists of words
    "$by" -std=c11 -g -O1 -Wall -Wextra "$@" $(pkg-config --cflags htw) "$built" \
        -o "$program" $libraries -pthread
}

# The script for gdb, on a program that has stopped: what it must print, line by line.
for kind in shared static; do
    build gdb.c gcc $kind
    gdb -q -nx -batch -ex "source $prefix/share/htw/htw-gdb.py" -ex 'break stop_here' -ex run \
        -ex 'print *scheduler' -ex 'print *wheel' -ex 'htw-timer scheduler plain' \
        -ex 'htw-timer scheduler keyed' -ex 'htw-timer scheduler gone' -ex 'htw-timer scheduler 0' \
        -ex 'htw-timers scheduler' \
        "$program" >"$log" 2>&1 || true
    # shellcheck disable=SC2016 # gdb's names
    for line in '^\$1 = htw_scheduler tried: [0-9]* shards with 2 timers, [01] of [0-9]* workers' \
        '^\$2 = htw_wheel: clock 0, 1 timer, 2 levels of 256 buckets$' \
        'generation 1: pending, deadline 5000000000 ns, callback 0x[0-9a-f]* <callback>, arg 0x' \
        'generation 1: pending, deadline 7000000000 ns, site keyed main() .*gdb.c:[0-9]*, callback 0x[0-9a-f]* <callback>, arg 0x' \
        '^1 from callback 0x[0-9a-f]* <callback>: the first 5000000000 ns$' \
        '^1 from site keyed main() .*: the first 7000000000 ns$' \
        '^5000000000 ns: handle 0x[0-9a-f]*, callback 0x' '^7000000000 ns: handle 0x[0-9a-f]*, site keyed' \
        '^armed by$' '^  main + [0-9]* .*gdb.c:[0-9]*$' '^0 timers in group tenant, paused$' 'generation 1: gone$' '^no handle of this scheduler$'; do
        expect "$line" 0 "gdb $program" cat "$log"
    done
done

# Without a run time of a sanitizer the functions that the library looks for are not there.
if nm -D "$library/libhtw.so" | grep -e Annotate -e lsan | grep -v -e ' w Annotate' -e ' w __lsan'; then
    echo 'these must be weak and undefined'
    failed=$((failed + 1))
fi
build scheduler.c gcc shared
expect silent 0 'no tool, shared' "$program" callback
build scheduler.c gcc static -static
expect silent 0 'no tool, static' "$program" callback

for kind in shared static; do
    for compiler in gcc clang; do
        for source in scheduler.c purgatory.c; do
            build $source $compiler $kind -fsanitize=thread
            # shellcheck disable=SC2086 # a list of words
            expect silent 66 "$program" $same_addresses "$program"
        done
        build scheduler.c $compiler $kind -fsanitize=thread
        # shellcheck disable=SC2086 # a list of words
        expect silent 66 "$program released" $same_addresses "$program" released
        build races.c $compiler $kind -fsanitize=thread
        for race in $races; do
            # shellcheck disable=SC2086 # a list of words
            expect 'WARNING: ThreadSanitizer: data race' 66 "$program $race" \
                $same_addresses "$program" "$race"
        done
    done
    for compiler in gcc clang; do
        for sanitizer in address leak; do
            build leaks.c $compiler $kind -fsanitize=$sanitizer
            set -- env ASAN_OPTIONS=exitcode=23 "$program"
            expect silent 23 "$program $sanitizer" "$@"
            expect 'SUMMARY: .*leaked in 500[0-9] alloc' 23 "$program $sanitizer lost" "$@" lost
        done
    done
    for tool in helgrind drd; do
        set -- valgrind --tool=$tool --quiet --error-exitcode=9 "--suppressions=$suppressions"
        for source in scheduler.c purgatory.c; do
            build $source gcc $kind
            expect silent 9 "$tool $program" "$@" "$program"
        done
        build races.c gcc $kind
        for race in $races; do
            expect "$([ $tool = drd ] && echo 'Conflicting' || echo 'Possible data race')" 9 \
                "$tool $program $race" "$@" "$program" "$race"
        done
    done
done
printf '%d passed, %d failed\n' "$passed" "$failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
