#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of users under race detectors, against the installed library, which is not instrumented:
# ThreadSanitizer of gcc and clang, helgrind and DRD must be silent about those without a race, and
# report each race of the others.
# usage: run.sh PREFIX FOLDER   (PREFIX: where htw is installed; FOLDER: for what is built here)
set -eu
prefix=$1
folder=$2
cd "$(dirname "$0")"
PKG_CONFIG_PATH=$(dirname "$(find "$prefix" -name htw.pc)")
export PKG_CONFIG_PATH
library=$(dirname "$PKG_CONFIG_PATH")
suppressions=$prefix/share/htw/valgrind.supp
races=$(sed -n 's/^static void \([a-z_]*\)(void) {$/\1/p' races.c)
passed=0
failed=0
mkdir -p "$folder"
log=$folder/log

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
    "$@" >"$log" 2>&1 || status=$?
    if [ "$what" = silent ] && [ "$status" = 0 ] && [ ! -s "$log" ]; then
        passed=$((passed + 1))
    elif [ "$what" != silent ] && [ "$status" = "$reported" ] && grep -q "$what" "$log"; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf '%s: status %s, expected: %s\n' "$name" "$status" "$what"
        head -60 "$log"
    fi
}

# build SOURCE COMPILER KIND FLAG...: sets `program`. COMPILER: gcc or clang, for C++ theirs.
build() {
    program=$folder/${1%.*}-$2-$3
    built=$1
    by=$2
    libraries="$(pkg-config --libs htw) -Wl,-rpath,$library -Wl,-z,defs"
    [ "$3" = shared ] || libraries=$library/libhtw.a
    shift 3
    standard=-std=c11
    if [ "${built##*.}" = cc ]; then
        standard=-std=c++11
        [ "$by" = gcc ] && by=g++ || by=clang++
    fi
    # shellcheck disable=SC2046,SC2086 # lists of words
    "$by" $standard -g -O1 -Wall -Wextra "$@" $(pkg-config --cflags htw) "$built" \
        -o "$program" $libraries -pthread
}

# Without a run time of a sanitizer the functions that the library looks for are not there.
if nm -D "$library/libhtw.so" | grep Annotate | grep -v ' w Annotate'; then
    echo 'these must be weak and undefined'
    failed=$((failed + 1))
fi
build scheduler.c gcc shared
expect silent 0 'no tool, shared' "$program" callback
build scheduler.c gcc static -static
expect silent 0 'no tool, static' "$program" callback

for kind in shared static; do
    for compiler in gcc clang; do
        for source in scheduler.c purgatory.c threads.cc; do
            build $source $compiler $kind -fsanitize=thread
            # shellcheck disable=SC2086 # a list of words
            expect silent 66 "$program" $same_addresses "$program"
        done
        build races.c $compiler $kind -fsanitize=thread
        for race in $races; do
            # shellcheck disable=SC2086 # a list of words
            expect 'WARNING: ThreadSanitizer: data race' 66 "$program $race" \
                $same_addresses "$program" "$race"
        done
    done
    for tool in helgrind drd; do
        set -- valgrind --tool=$tool --quiet --error-exitcode=9 "--suppressions=$suppressions"
        for source in scheduler.c purgatory.c threads.cc; do
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
