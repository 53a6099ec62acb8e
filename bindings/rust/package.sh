#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes the packages of both crates as they would be published, and tests what they hold: first with the
# library compiled in, then with an installed one. A folder of crates takes the place of crates.io.
# usage: package.sh FOLDER PREFIX   FOLDER: to work in; PREFIX: where the library is installed
# Environment: what ./dev sets for cargo.
set -eu
here=$(dirname "$(readlink -f "$0")")
root=$here/../..
work=$(readlink -f "$1")
prefix=$(readlink -f "$2")
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$here/Cargo.toml")

# What lies beside the crates in the repository, and in them in a package.
mkdir -p "$work/source" "$work/registry"
cp -r "$here/Cargo.toml" "$here/htw" "$here/htw-sys" "$work/source"
xxhash=$(echo '#include <xxhash.h>' | ${CC:-cc} -E - | sed -n 's/^# [0-9]* "\(.*xxhash\.h\)".*/\1/p' | head -n 1)
csrc=$work/source/htw-sys/csrc
mkdir -p "$csrc/include/htw"
cp "$xxhash" "$csrc"
cp "$root"/include/htw/*.h "$csrc/include/htw"
mkdir "$csrc/src"
cp "$root/src/sources.txt" "$csrc/src"
for folder in $(sed -n 's,^\(.*\)/.*\.c$,\1,p' "$root/src/sources.txt" | uniq) $(cd "$root/src" && find calendar journal -type d); do
    mkdir -p "$csrc/src/$folder"
    cp "$root/src/$folder"/*.[ch]* "$csrc/src/$folder"
done
cp "$root/LICENSE" "$work/source/htw"
cp "$root/LICENSE" "$root/LICENSE.xxhash" "$work/source/htw-sys"

# publish NAME: packs a crate, builds what was packed, and puts it where the next one looks for it.
publish() {
    (cd "$work/source" && "$CARGO" package --quiet --allow-dirty -p "$1" --features vendored,calendar,journal)
    tar -xzf "$CARGO_TARGET_DIR/package/$1-$version.crate" -C "$work/registry"
    echo '{"files":{},"package":null}' >"$work/registry/$1-$version/.cargo-checksum.json"
}
for crate in /usr/share/cargo/registry/*; do
    ln -s "$crate" "$work/registry"
done
publish htw-sys
publish htw
ls "$CARGO_TARGET_DIR"/package/*.crate

for crate in htw-sys htw; do
    echo "== tests of the package $crate, with the library compiled in"
    cp -r "$work/registry/$crate-$version" "$work/test-$crate"
    (cd "$work/test-$crate" && "$CARGO" test --quiet --features vendored,calendar,journal)
done
export PKG_CONFIG_PATH="$prefix/lib/pkgconfig" LD_LIBRARY_PATH="$prefix/lib"
for crate in htw-sys htw; do
    echo "== tests of the package $crate, with the installed library"
    (cd "$work/test-$crate" && "$CARGO" test --quiet)
done
readelf -d "$CARGO_TARGET_DIR"/debug/examples/keep_alive | grep 'NEEDED.*libhtw'
