#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs outside htw's tree are built with pkg-config against a build that is not installed.
# usage: uninstalled.sh ROOT BUILD LIBRARY... CC...
set -eu
root=$1 build=$2
shift 2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
export PKG_CONFIG_PATH="$build/meson-uninstalled" LD_LIBRARY_PATH="$build"
programs=consumer
while [ -f "$root/tests/api/consumer/$1.c" ]; do
    programs="$programs $1"
    shift
done
for program in $programs; do
    library=htw
    [ "$program" = consumer ] || library=htw-$program
    # shellcheck disable=SC2046 # words
    "$@" -std=c11 -o "$program" "$root/tests/api/consumer/$program.c" $(pkg-config --cflags --libs "$library")
    "./$program" >/dev/null
    echo "ok $library"
done
