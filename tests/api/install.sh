#!/bin/sh
# SPDX-License-Identifier: MIT
# Installs to a fresh prefix and builds a program outside the tree with pkg-config alone,
# against the shared and against the static library.
# usage: install.sh SOURCE_ROOT [MESON_OPTION]...
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# The compiler and flags of a sanitizer run must not leak in here.
unset CFLAGS LDFLAGS
root=$1
shift
meson setup "$work/build" "$root" --prefix "$work/prefix" --libdir lib -Dtests=false "$@" \
    >"$work/log" || { cat "$work/log"; exit 1; }
meson install -C "$work/build" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
cd "$work"
export PKG_CONFIG_PATH="$work/prefix/lib/pkgconfig"
pkg-config --modversion htw
# A user of htw does not need what building htw needs.
[ -z "$(pkg-config --print-requires --print-requires-private htw)" ] ||
    { echo 'htw.pc requires other packages'; exit 1; }
# The scheduler's threads, where these are not part of libc (glibc before 2.34).
case " $(pkg-config --static --libs htw) " in
*' -pthread '* | *' -lpthread '*) ;;
*) echo 'htw.pc forgets the threads'; exit 1 ;;
esac

# The program of the wheel, and that of the scheduler.
for name in timeouts scheduler_hello; do
    # The program is written in C11 without GNU's extensions.
    # shellcheck disable=SC2046 # words
    cc -std=c11 -o "$name.shared" "$root/examples/$name.c" $(pkg-config --cflags --libs htw)
    LD_LIBRARY_PATH="$work/prefix/lib" "./$name.shared" >shared.out
    ldd "./$name.shared" | grep -q libhtw ||
        { echo "$name is not linked to the shared library"; exit 1; }

    # shellcheck disable=SC2046
    cc -std=c11 -o "$name.static" "$root/examples/$name.c" \
        $(pkg-config --static --cflags --libs htw | sed 's/-lhtw/-l:libhtw.a/')
    if ldd "./$name.static" | grep libhtw; then
        echo "$name is not linked to the static library"
        exit 1
    fi
    "./$name.static" >static.out
    cmp shared.out static.out
    cat static.out
done

# With no shared library at all, which is where a library of threads that is missing shows.
# shellcheck disable=SC2046
cc -std=c11 -static -o hello "$root/examples/scheduler_hello.c" \
    $(pkg-config --static --cflags --libs htw)
./hello | cmp - static.out

# The command installs and runs too.
test "$(LD_LIBRARY_PATH="$work/prefix/lib" "$work/prefix/bin/htw" --version | head -n 1)" = \
    "htw $(pkg-config --modversion htw)"
echo '0 installed' | LD_LIBRARY_PATH="$work/prefix/lib" "$work/prefix/bin/htw" delay | grep -qx installed
