#!/bin/sh
# SPDX-License-Identifier: MIT
# Builds the Debian source and binary packages of a tarball, in FOLDER. DEB_BUILD_OPTIONS is
# nocheck unless it is set: DEB_BUILD_OPTIONS= runs the tests.
# usage: deb.sh TARBALL FOLDER [OPTION of dpkg-buildpackage]...
set -eu
umask 022 # the source package keeps modes
tarball=$(readlink -f "$1")
folder=$2
shift 2
mkdir -p "$folder"
cd "$folder"
name=$(basename "$tarball" .tar.xz)
cp "$tarball" "htw_${name#htw-}.orig.tar.xz"
tar -xf "$tarball"
# The flags are those of the distribution.
unset CC CXX CFLAGS CXXFLAGS CPPFLAGS LDFLAGS PKG_CONFIG_PATH
export DEB_BUILD_OPTIONS="${DEB_BUILD_OPTIONS-nocheck}"
(cd "$name" && dpkg-buildpackage -us -uc "$@") >log 2>&1 || { tail -n 200 log; exit 1; }
