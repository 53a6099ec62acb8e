#!/bin/sh
# SPDX-License-Identifier: MIT
# Two builds of the same sources are the same to the last byte: in folders of different names and
# depth, the build folder inside and outside of the sources, with another time zone, language, umask
# and number of jobs. So are the Debian packages, with their debug information.
# usage: reproducible.sh TARBALL FOLDER
# shellcheck disable=SC2030,SC2031 # what is set for one build is not for the other
set -eu
tarball=$(readlink -f "$1")
work=$2
packaging=$(dirname "$(readlink -f "$0")")/../../packaging
rm -rf "$work"
mkdir -p "$work"
work=$(readlink -f "$work")
# A cache would compile once, and copy the result.
export CCACHE_DISABLE=1

# build SOURCES FOLDER DESTINATION NINJA_OPTION...
build() {
    sources=$1
    folder=$2
    destination=$3
    shift 3
    mkdir -p "$sources"
    tar -xf "$tarball" -C "$sources" --strip-components=1
    meson setup "$folder" "$sources" --prefix /usr --libdir lib -Dbuildtype=release -Dtests=false \
        -Dexamples=false >"$work/log" || { cat "$work/log"; exit 1; }
    ninja -C "$folder" --quiet "$@"
    DESTDIR=$destination meson install -C "$folder" --no-rebuild --quiet
}

first_way() (
    umask 022
    export TZ=UTC LC_ALL=C
    "$@"
)
second_way() (
    umask 077
    export TZ=Pacific/Kiritimati LC_ALL=C.UTF-8 HOME="$work"
    "$@"
)
first_way build "$work/one" "$work/one/build" "$work/first" -j 1
second_way build "$work/another place further down/sources" "$work/far/away" "$work/second"

# what FOLDER: each file with its mode and the hash of what it holds.
what() {
    (cd "$1" && find . ! -type d -printf '%P %m %l\n' | LC_ALL=C sort &&
        find . -type f -exec sha256sum {} + | LC_ALL=C sort -k 2)
}
what "$work/first" >"$work/first.txt"
what "$work/second" >"$work/second.txt"
for file in /lib/libhtw.so /lib/libhtw.a /lib/libhtw-bubble.so /lib/libhtw-calendar.so /lib/libhtw-journal.so /lib/libhtw-monitor.so /bin/htw /bin/htw-cron /bin/htw-relay /bin/htw-serve /bin/htw-top /lib/pkgconfig/htw.pc; do
    [ -s "$work/first/usr$file" ] || { echo "not installed: $file"; exit 1; }
done
diff "$work/first.txt" "$work/second.txt" || { echo 'the two builds differ'; exit 1; }
if grep -rlF "$work" "$work/first" "$work/second"; then
    echo 'these know where they were built'
    exit 1
fi
find "$work/first" -type f | wc -l | xargs printf '%d files are the same in both builds\n'

first_way "$packaging/deb.sh" "$tarball" "$work/deb"
second_way "$packaging/deb.sh" "$tarball" "$work/other/place/of/packages"
# hashes FOLDER: of the packages and of the source package.
hashes() {
    (cd "$1" && sha256sum -- *.deb *.dsc *.tar.*)
}
hashes "$work/deb" >"$work/first.txt"
hashes "$work/other/place/of/packages" >"$work/second.txt"
[ "$(grep -c '\.deb$' "$work/first.txt")" -ge "$(grep -c ^Package: "$work"/deb/*/debian/control)" ] ||
    { echo 'packages are missing'; exit 1; }
diff "$work/first.txt" "$work/second.txt" || { echo 'the packages of the two builds differ'; exit 1; }
wc -l <"$work/first.txt" | xargs printf '%d packages are the same in both builds\n'
