#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs to a fresh prefix and builds programs outside the tree against it in all ways (consumer/build.sh); then again
# where the prefix has been moved to.
# usage: install.sh SOURCE_ROOT [MESON_OPTION]...
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The compiler and flags of a sanitizer run must not leak in here.
unset CFLAGS CXXFLAGS LDFLAGS PKG_CONFIG_PATH CMAKE_PREFIX_PATH LD_LIBRARY_PATH
root=$1
shift

# quiet COMMAND...: what it prints shows only where it fails.
quiet() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; return 1; }
}

prefix=$work/prefix
# The sources as they are, and with a public address.
mkdir "$work/source"
ln -s "$root"/* "$root/.clang-tidy" "$work/source/"
rm "$work/source/meson.build"
sed "s,^home = '.*'\$,home = 'https://htw.example/'," "$root/meson.build" >"$work/source/meson.build"
quiet meson setup "$work/build" "$work/source" --prefix "$prefix" --libdir lib --buildtype plain -Dtests=false \
    -Dexamples=false -Ddocs=false "$@"
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
# The tests of Debian's packages pass in any prefix.
for program in cron relay serve top; do
    [ ! -e "$prefix/bin/htw-$program" ] || quiet "$root/debian/tests/$program"
done
unset LD_LIBRARY_PATH # each way below sets it where it must
IFS=. read -r major minor patch <<END
${version%~dev}
END
export ACCEPTED="$major.$minor;$major.$minor.$patch;$major.$minor...$major.$((minor + 1))"
export REFUSED="$major.$minor.$((patch + 1));$major.$((minor + 1));$((major + 1))"
REFUSED="$REFUSED;$major.$((minor + 1))...$major.$((minor + 2));$major.0...<$major.$minor"
[ "$major" != 0 ] || REFUSED="$REFUSED;$major.$((minor - 1))"

grep -qFx 'URL: https://htw.example/' "$prefix/lib/pkgconfig/htw.pc" ||
    { cat "$prefix/lib/pkgconfig/htw.pc"; exit 1; }
set -- consumer.cc consumer.c
for library in calendar journal monitor; do
    [ ! -e "$prefix/include/htw/$library.h" ] || set -- "$@" "$library.c"
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
! grep -rlE '(\.\./|/)(src/[a-z]+|programs)/' "$prefix" ||
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

"$root/tests/api/consumer/build.sh" "$@"
mkdir elsewhere
mv "$prefix" elsewhere/moved
echo 'moved'
export PKG_CONFIG_PATH="$work/elsewhere/moved/lib/pkgconfig"
unset CMAKE_PREFIX_PATH
shift # the headers of C++ lie beside those of C
COMPILERS=gcc/g++ "$root/tests/api/consumer/build.sh" "$@" # all are told the same folder
