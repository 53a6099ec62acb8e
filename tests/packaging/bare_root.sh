#!/bin/sh
# SPDX-License-Identifier: MIT
# The first minutes of a newcomer: each command that README.md begins with is the only one that is run in a new Debian
# system (new_root.sh), on a copy of the sources. Needs a network, and some minutes.
# usage: bare_root.sh SOURCES FOLDER [install | demo | test]...
set -eu
sources=$(readlink -f "$1")
folder=$2
shift 2
[ $# -gt 0 ] || set -- install demo test

for part; do
    case $part in
    install | demo | test) ;;
    *) echo "no such part: $part"; exit 1 ;;
    esac
    rm -rf "$folder"
    mkdir -p "$folder/htw/tree"
    (cd "$sources" && tar -c --exclude=./.git --exclude='./build*' .) | tar -x -C "$folder/htw/tree"
    printf '#!/bin/sh\nexec /htw/tree/tests/packaging/bare_inside.sh %s\n' "$part" >"$folder/htw/run"
    chmod +x "$folder/htw/run"
    start=$(date +%s)
    "$sources/tests/packaging/new_root.sh" "$folder/htw"
    echo "ok ./dev $part: $(($(date +%s) - start)) s"
done
rm -rf "$folder"
printf '%d passed, 0 failed\n' "$#"
