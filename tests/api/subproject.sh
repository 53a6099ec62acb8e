#!/bin/sh
# SPDX-License-Identifier: MIT
# A Meson project of which htw is a subproject gets the library, and nothing else of this project.
# usage: subproject.sh SOURCE_ROOT
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CFLAGS CXXFLAGS LDFLAGS LD_LIBRARY_PATH
root=$1
cp -R "$root/tests/api/consumer" "$work/consumer"
cd "$work/consumer"
mkdir subprojects
ln -s "$root" subprojects/htw
# The wrap file that the documents show; Meson fetches nothing where the folder is there.
sed -n '/^\[wrap-git\]$/,/^```$/p' "$root/docs/install.md" | sed '$d' >subprojects/htw.wrap
grep -q '^dependency_names = htw$' subprojects/htw.wrap

# quiet COMMAND...: what it prints shows only where it fails.
quiet() {
    "$@" >"$work/log" 2>&1 || { cat "$work/log"; echo "failed: $*"; exit 1; }
}

# An htw that is installed must not come first.
quiet meson setup build --buildtype debug --wrap-mode nodownload --force-fallback-for htw
quiet meson introspect --targets build
built=$(python3 -c 'import json, sys
print(*sorted({target["name"] for target in json.load(sys.stdin)
               if "subprojects" in target["defined_in"] and target["build_by_default"]}))' <"$work/log")
[ "$built" = 'htw htw_core' ] || { echo "built of htw: $built"; exit 1; }
quiet meson introspect --tests build
[ "$(cat "$work/log")" = '[]' ] || { cat "$work/log"; exit 1; }
quiet ninja -C build

# runs PROGRAM KIND
runs() {
    "build/$1" >"$work/log"
    case $2,$(ldd "build/$1" | grep -c libhtw || true) in
    shared,1 | static,0) echo "ok $1: $2, version $(cat "$work/log")" ;;
    *) echo "$1 is not $2"; exit 1 ;;
    esac
}
for language in c cc; do
    runs "$language.shared" shared
    runs "$language.static" static
done
runs default shared
DESTDIR=$work/installed quiet meson install -C build --no-rebuild
[ -z "$(find "$work/installed" -path '*/bin/*')" ] || { echo 'the command is installed'; exit 1; }
rm -rf build
quiet meson setup build --buildtype debug --wrap-mode nodownload --force-fallback-for htw \
    -Ddefault_library=static
quiet ninja -C build default
runs default static
