#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs of this folder are built against the htw that pkg-config finds, with pkg-config alone, CMake and Meson, shared and static,
# with each compiler of $COMPILERS that is there, and run: each has the version of htw.pc, and uses the libraries that it is meant to.
# consumer.c and consumer.cc use libhtw, NAME.c the library NAME beside it. For tests/api/install.sh and debian/tests.
# usage: build.sh PROGRAM...
set -eu
consumer=$(dirname "$(readlink -f "$0")")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
exec 2>&1 # a compiler that warns fails no test of Debian
: "${COMPILERS:=gcc/g++ clang/clang++}"
version=$(pkg-config --modversion htw)
folder=$(cd "$(pkg-config --variable=libdir htw)" && pwd)

has() {
    command -v "$1" >found || { echo "NOT TESTED: $1 is not installed"; return 1; }
}

# quiet COMMAND...: what it prints shows only where it fails.
quiet() {
    "$@" >log 2>&1 || { cat log; echo "failed: $*"; exit 1; }
}

library_of() {
    case $1 in
    consumer.*) echo htw ;;
    *) echo "htw-${1%.c}" ;;
    esac
}

# runs FOLDER PROGRAM KIND: it works, and uses the libraries of its kind.
runs() {
    [ "$("$1/$2.$3")" = "$version" ] || { echo "$2 is not of version $version"; exit 1; }
    wanted=''
    [ "$3" = static ] || wanted=$(readlink -f "$folder/libhtw.so.${version%.*}" "$folder/lib$(library_of "$2").so.${version%.*}" | sort -u)
    used=$(ldd "$1/$2.$3" | sed -n 's/^.*libhtw[^ ]* => \([^ ]*\) .*/\1/p' | xargs -r readlink -f | sort -u)
    [ "$used" = "$wanted" ] || { echo "$2, which is to be $3, uses: $used"; exit 1; }
}

# shellcheck disable=SC2046,SC2086 # words
for compiler in $(echo "$COMPILERS" | tr / ' '); do
    has "$compiler" || continue
    for program; do
        case $compiler:$program in
        *++:*.cc) standard=c++17 ;;
        gcc:*.c | clang:*.c) standard=c11 ;;
        *) continue ;;
        esac
        "$compiler" "-std=$standard" -Wall -Wextra -Werror -pedantic -c -o "$program.o" "$consumer/$program" $(pkg-config --cflags "$(library_of "$program")")
        for kind in shared static; do
            flags=$(pkg-config --libs "$(library_of "$program")")
            [ "$kind" = shared ] ||
                flags=$(pkg-config --static --libs "$(library_of "$program")" | sed 's/-l\(htw[a-z-]*\)/-l:lib\1.a/g')
            "$compiler" -o "$program.$kind" "$program.o" $flags
            LD_LIBRARY_PATH=$folder runs . "$program" "$kind"
        done
        echo "ok pkg-config $compiler $program"
    done
done

for compilers in $COMPILERS; do
    { has cmake && has "${compilers%/*}" && has "${compilers#*/}"; } || continue
    CMAKE_PREFIX_PATH=$(pkg-config --variable=prefix htw) quiet cmake -S "$consumer" -B "cmake/$compilers" \
        -DCMAKE_C_COMPILER="${compilers%/*}" -DCMAKE_CXX_COMPILER="${compilers#*/}" -DPROGRAMS="$(printf '%s;' "$@")"
    quiet cmake --build "cmake/$compilers"
    for program; do
        runs "cmake/$compilers" "$program" shared # finds the libraries by itself
        runs "cmake/$compilers" "$program" static
    done
    echo "ok CMake $compilers"
done

if has meson; then
    quiet meson setup meson "$consumer"
    quiet ninja -C meson
    for program in consumer.c consumer.cc; do
        LD_LIBRARY_PATH=$folder runs meson "$program" shared
        runs meson "$program" static
    done
    echo 'ok Meson'
fi
