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

# builds OPTION PROGRAM... An htw that is installed must not come first.
builds() {
    rm -rf build
    quiet meson setup build --buildtype debug --wrap-mode nodownload --force-fallback-for htw "$1"
    shift
    quiet ninja -C build "$@"
    for program; do
        case $program,$(ldd "build/$program" | grep -c libhtw || true) in
        *.static,0 | *.shared,1) "build/$program" | xargs echo "ok $program: version" ;;
        *) echo "$program is not that"; exit 1 ;;
        esac
    done
}
builds -Ddefault_library=static default.static
builds -Ddefault_library=shared default.shared consumer.c.shared consumer.c.static consumer.cc.shared consumer.cc.static
quiet meson introspect --targets build
built=$(python3 -c 'import json, sys
print(*sorted({target["name"] for target in json.load(sys.stdin)
               if "subprojects" in target["defined_in"] and target["build_by_default"]}))' <"$work/log")
[ "$built" = 'htw htw_core' ] || { echo "built of htw: $built"; exit 1; }
quiet meson introspect --tests build
[ "$(cat "$work/log")" = '[]' ] || { cat "$work/log"; exit 1; }
DESTDIR=$work/installed quiet meson install -C build --no-rebuild
[ -z "$(find "$work/installed" -path '*/bin/*')" ] || { echo 'the command is installed'; exit 1; }
