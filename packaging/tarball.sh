#!/bin/sh
# SPDX-License-Identifier: MIT
# Packs the sources as they are, those included that no commit has yet, but nothing that git
# ignores, and prints the name of the tarball: FOLDER/htw-VERSION.tar.xz. The same sources make the
# same bytes.
# usage: tarball.sh FOLDER
set -eu
mkdir -p "$1"
folder=$(readlink -f "$1")
cd "$(dirname "$(readlink -f "$0")")/.."
version=$(sed -n "s/^  version: '\(.*\)',$/\1/p" meson.build)
list=$folder/sources.list

if [ "$(git rev-parse --show-prefix 2>/dev/null || echo none)" = '' ]; then # the top of a work tree
    git ls-files -z --cached --others --exclude-standard
else
    find . \( -path ./build -o -path ./.git \) -prune -o ! -type d -printf '%P\0'
fi >"$list.all"
# Without those that are deleted, but not in a commit.
# shellcheck disable=SC2016 # for the inner shell
xargs -0 -r sh -c 'for file; do [ ! -e "$file" ] || printf "%s\\0" "$file"; done' sh <"$list.all" |
    LC_ALL=C sort -z >"$list"

tar -c --null --files-from "$list" --transform "flags=r;s,^,htw-$version/," \
    --owner=0 --group=0 --numeric-owner --mode=go=rX,u+rw,a-s \
    --mtime="$(sed -n 's/^ -- .*>  //p' debian/changelog | head -n 1)" \
    --file "$folder/htw-$version.tar"
xz --threads=1 --force "$folder/htw-$version.tar"
rm "$list" "$list.all"
printf '%s\n' "$folder/htw-$version.tar.xz"
