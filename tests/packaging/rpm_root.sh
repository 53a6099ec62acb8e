#!/bin/sh
# SPDX-License-Identifier: MIT
# Unpacks the RPM packages in a folder, and runs the tests of debian/tests with what lies there.
# usage: rpm_root.sh FOLDER_OF_PACKAGES SOURCES
set -eu
packages=$(readlink -f "$1")
sources=$(readlink -f "$2")
root=$packages/root
rm -rf "$root"
mkdir -p "$root"
count=0
for package in "$packages"/RPMS/*/*.rpm; do
    (cd "$root" && rpm2cpio "$package" | cpio -id --quiet)
    count=$((count + 1))
done
[ "$count" = "$(grep -c -e '^%files' "$sources/packaging/htw.spec")" ] ||
    { echo "$count packages are not those of htw.spec"; exit 1; }
libdir=$(dirname "$(dirname "$(find "$root/usr" -name htw.pc)")")
export PATH="$root/usr/bin:$PATH" LD_LIBRARY_PATH="$libdir" htw_DIR="$libdir/cmake/htw" \
    PKG_CONFIG_LIBDIR="$libdir/pkgconfig" PKG_CONFIG_SYSROOT_DIR="$root" \
    PKG_CONFIG_ALLOW_SYSTEM_CFLAGS=1 PKG_CONFIG_ALLOW_SYSTEM_LIBS=1
unset PKG_CONFIG_PATH CMAKE_PREFIX_PATH CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS
[ "$(command -v htw)" = "$root/usr/bin/htw" ]
cd "$sources"
for test in command serve cron top consumer calendar journal monitor; do
    mkdir "$packages/root/$test"
    AUTOPKGTEST_TMP=$packages/root/$test sh "debian/tests/$test" >"$packages/root/log" 2>&1 ||
        { cat "$packages/root/log"; echo "failed: $test"; exit 1; }
done
# The library that the programs ask for, and its version, are names that packages depend on.
rpm -qp --provides "$packages"/RPMS/*/htw-libs-*.rpm >"$root/provides"
soname=$(basename "$(find "$libdir" -type l -name 'libhtw.so.*')")
for name in "$soname()" "$soname(HTW_"; do
    grep -qF "$name" "$root/provides" ||
        { cat "$root/provides"; echo "htw-libs does not provide $name"; exit 1; }
done
echo '8 passed, 0 failed'
