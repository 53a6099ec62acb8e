#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs to a fresh prefix and builds programs outside the tree against the shared and the static
# library: with pkg-config alone, CMake and Meson, in C and in C++ with htw.hpp, with each compiler that
# is there; then again where the prefix has been moved to.
# The calendar, the journal and the monitor, where they were built, likewise in C.
# usage: install.sh SOURCE_ROOT [MESON_OPTION]...
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The compiler and flags of a sanitizer run must not leak in here.
unset CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH
root=$1
shift
consumer=$root/tests/api/consumer

has() {
    command -v "$1" >"$work/found" || { echo "NOT TESTED: $1 is not installed"; return 1; }
}

# quiet COMMAND...: what it prints shows only where it fails.
quiet() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; return 1; }
}

# runs PROGRAM KIND: the consumer works, and uses the library that it is meant to.
runs() {
    [ "$("./$1")" = "$version" ] || { echo "$1 is not of version $version"; exit 1; }
    used=$(ldd "./$1" | sed -n 's/^.*libhtw[^ ]* => \([^ ]*\) .*/\1/p')
    case $2 in
    shared) [ "$used" = "$prefix/lib/libhtw.so.${version%.*}" ] ;;
    static) [ -z "$used" ] ;;
    esac || { echo "$1, which is to be $2, uses: $used"; exit 1; }
}

# runs_own LIBRARY PROGRAM KIND: of a library beside libhtw.
runs_own() {
    [ "$("./$2")" = "$version" ] || { echo "$2 is not of version $version"; exit 1; }
    used=$(ldd "./$2" | sed -n 's/^.*libhtw[^ ]* => \([^ ]*\) .*/\1/p' | LC_ALL=C sort | tr '\n' ' ')
    case $3 in
    shared) [ "$used" = "$prefix/lib/libhtw-$1.so.${version%.*} $prefix/lib/libhtw.so.${version%.*} " ] ;;
    static) [ -z "$used" ] ;;
    esac || { echo "$2, which is to be $3, uses: $used"; exit 1; }
}

own_with_pkg_config() {
    for library in $own; do
        for kind in shared static; do
            flags=$(pkg-config --cflags --libs "htw-$library")
            [ "$kind" = shared ] ||
                flags=$(pkg-config --static --cflags --libs "htw-$library" |
                    sed "s/-lhtw-$library/-l:libhtw-$library.a/; s/-lhtw /-l:libhtw.a /")
            # shellcheck disable=SC2086 # words
            gcc -std=c11 -Wall -Wextra -Werror -pedantic -o "$library.$kind" "$consumer/$library.c" $flags
            LD_LIBRARY_PATH=$prefix/lib runs_own "$library" "$library.$kind" "$kind"
        done
        echo "ok pkg-config of the $library"
    done
}

with_pkg_config() {
    own_with_pkg_config
    for compiler in gcc clang g++ clang++; do
        has "$compiler" || continue
        case $compiler in
        *++) source=consumer.cc standard=c++17 ;;
        *) source=consumer.c standard=c11 ;;
        esac
        # shellcheck disable=SC2046 # words
        "$compiler" "-std=$standard" -Wall -Wextra -Werror -pedantic -c -o consumer.o \
            "$consumer/$source" $(pkg-config --cflags htw)
        for kind in shared static; do
            flags=$(pkg-config --libs htw)
            [ "$kind" = shared ] ||
                flags=$(pkg-config --static --libs htw | sed 's/-lhtw/-l:libhtw.a/')
            # shellcheck disable=SC2086 # words
            "$compiler" -o "$kind" consumer.o $flags
            LD_LIBRARY_PATH=$prefix/lib runs "$kind" "$kind"
            echo "ok pkg-config $compiler $kind"
        done
    done
}

with_cmake() {
    has cmake || return 0
    for compilers in gcc/g++ clang/clang++; do
        { has "${compilers%/*}" && has "${compilers#*/}"; } || continue
        rm -rf cmake
        CMAKE_PREFIX_PATH=$prefix quiet cmake -G Ninja -S "$consumer" -B cmake \
            -DCMAKE_C_COMPILER="${compilers%/*}" -DCMAKE_CXX_COMPILER="${compilers#*/}" \
            -DACCEPTED="$accepted" -DREFUSED="$refused" -DOWN="$own_list" || exit 1
        quiet cmake --build cmake || exit 1
        for language in c cc; do
            for kind in shared static; do
                runs "cmake/$language.$kind" "$kind" # finds the library by itself
            done
        done
        for library in $own; do
            runs_own "$library" "cmake/$library.shared" shared
            runs_own "$library" "cmake/$library.static" static
        done
        [ "$(cat cmake/version)" = "${version%~dev}" ] || { cat cmake/version; exit 1; }
        echo "ok CMake $compilers"
    done
}

with_meson() {
    rm -rf meson
    quiet meson setup meson "$consumer" || exit 1
    quiet ninja -C meson || exit 1
    for language in c cc; do
        for kind in shared static; do
            LD_LIBRARY_PATH=$prefix/lib runs "meson/$language.$kind" "$kind"
        done
    done
    echo 'ok Meson'
}

prefix=$work/prefix
# The sources as they are, and with a public address.
mkdir "$work/source"
ln -s "$root"/* "$root/.clang-tidy" "$work/source/"
rm "$work/source/meson.build"
sed "s,^home = '.*'\$,home = 'https://htw.example/'," "$root/meson.build" >"$work/source/meson.build"
quiet meson setup "$work/build" "$work/source" --prefix "$prefix" --libdir lib -Dtests=false \
    -Dexamples=false "$@"
quiet meson install -C "$work/build"
sh "$root/tests/packaging/files.sh" "$prefix" "$root"
cd "$work"
rm -rf build

# What ./dev tells a user to set.
lines=$("$root/dev" environment "$prefix")
eval "$lines"
[ "$(pkg-config --variable=pcfiledir htw) $LD_LIBRARY_PATH $CMAKE_PREFIX_PATH $(command -v htw)" = \
    "$prefix/lib/pkgconfig $prefix/lib $prefix $prefix/bin/htw" ] || { echo "$lines"; exit 1; }
[ -z "$("$root/dev" environment "$prefix")" ] || { echo 'what is set is asked for again'; exit 1; }

# One version is everywhere; programs/kit is linked statically.
version=$(sed -n 's/^#define HTW_VERSION "\(.*\)"$/\1/p' "$prefix/include/htw/base.h")
[ "$(pkg-config --modversion htw)" = "$version" ]
[ "$(htw --version | head -n 1)" = "htw $version" ]
echo '0 installed' | htw delay | grep -qx installed
unset LD_LIBRARY_PATH # each way below sets it where it must
IFS=. read -r major minor patch <<END
${version%~dev}
END
accepted="$major.$minor;$major.$minor.$patch;$major.$minor...$major.$((minor + 1))"
refused="$major.$minor.$((patch + 1));$major.$((minor + 1));$((major + 1))"
refused="$refused;$major.$((minor + 1))...$major.$((minor + 2));$major.0...<$major.$minor"
[ "$major" != 0 ] || refused="$refused;$major.$((minor - 1))"

grep -qFx 'URL: https://htw.example/' "$prefix/lib/pkgconfig/htw.pc" ||
    { cat "$prefix/lib/pkgconfig/htw.pc"; exit 1; }
own=''
own_list=''
for library in calendar journal monitor; do
    [ -e "$prefix/include/htw/$library.h" ] || continue
    own="$own $library"
    own_list="$own_list;$library"
done
[ "$(ldd "$prefix/lib/libhtw.so" | grep -c -e cctz -e 'stdc++' -e sqlite)" = 0 ] ||
    { echo 'libhtw needs what only the calendar or the journal may need'; exit 1; }

# A user of htw does not need what building htw needs.
[ -z "$(pkg-config --print-requires --print-requires-private htw)" ] ||
    { echo 'htw.pc requires other packages'; exit 1; }
# The scheduler's threads, where these are not part of libc (glibc before 2.34).
case " $(pkg-config --static --libs htw) " in
*' -pthread '* | *' -lpthread '*) ;;
*) echo 'htw.pc forgets the threads'; exit 1 ;;
esac
! grep -r "$work" "$prefix/lib/pkgconfig" "$prefix/lib/cmake" ||
    { echo 'what is installed knows where it was'; exit 1; }
! grep -rlE '(\.\./|/)(src/(base|wheel|scheduler|purgatory)|programs)/' "$prefix" ||
    { echo 'these know where they were built: two builds are not the same'; exit 1; }

# Programs that say what they do, in C11 without the extensions of GNU.
for name in timeouts scheduler_hello; do
    # shellcheck disable=SC2046 # words
    cc -std=c11 -o "$name.shared" "$root/examples/$name.c" $(pkg-config --cflags --libs htw)
    LD_LIBRARY_PATH=$prefix/lib "./$name.shared" >shared.out
    # With no shared library at all, which is where a library of threads that is missing shows.
    # shellcheck disable=SC2046
    cc -std=c11 -static -o "$name.static" "$root/examples/$name.c" \
        $(pkg-config --static --cflags --libs htw)
    "./$name.static" | cmp - shared.out
done

with_pkg_config
with_cmake
with_meson
mkdir elsewhere
mv "$prefix" elsewhere/moved
prefix=$work/elsewhere/moved
echo 'moved'
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig"
with_pkg_config
with_cmake
with_meson
