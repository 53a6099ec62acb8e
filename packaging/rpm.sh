#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the RPM packages of a tarball, in FOLDER/RPMS. Without their tests: rpmbuild of Debian knows
# no packages that these need.
# usage: rpm.sh TARBALL FOLDER
set -eu
tarball=$(readlink -f "$1")
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$2/SOURCES"
cd "$2"
cp "$tarball" SOURCES/
set --
if [ "$(rpm --eval '%{?meson:yes}')" != yes ]; then
    set -- --load "$here/macros.meson"
fi
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH
rpmbuild -ba "$@" --nodeps --without tests --define "_topdir $PWD" --define 'debug_package %{nil}' \
    "$here/htw.spec" >log 2>&1 || { tail -n 200 log; exit 1; }
