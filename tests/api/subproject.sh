#!/bin/sh
# SPDX-License-Identifier: MIT
# A project of Meson or CMake of which htw is a part gets the library, and nothing else of this project.
# usage: subproject.sh SOURCE_ROOT [calendar]
set -eu
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CFLAGS CXXFLAGS LDFLAGS LD_LIBRARY_PATH
root=$1
calendar=${2:-}
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
    quiet meson setup build --buildtype plain --wrap-mode nodownload --force-fallback-for htw "$1"
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

# xxhash.h: of a target, fetched (here from a folder), or an error, where the system has none.
mkdir none xxhash
echo '#include <xxhash.h>' | cc -E - | sed -n 's/^# [0-9]* "\(.*xxhash\.h\)".*/\1/p' | head -n 1 | xargs -I{} cp {} xxhash
echo "add_library(xxHash::xxhash INTERFACE IMPORTED)
    target_include_directories(xxHash::xxhash INTERFACE $PWD/xxhash)" >target.cmake
configure_bare() {
    rm -rf bare
    cmake -S "$root" -B bare -G Ninja -DCMAKE_FIND_ROOT_PATH="$PWD/none" -DCMAKE_FIND_ROOT_PATH_MODE_INCLUDE=ONLY "$@" >"$work/log" 2>&1
}
for way in "-DCMAKE_PROJECT_htw_INCLUDE=$PWD/target.cmake" "-DFETCHCONTENT_SOURCE_DIR_XXHASH=$PWD/xxhash"; do
    quiet configure_bare "$way"
    quiet ninja -C bare -t commands libhtw.a
    grep -q -e "-isystem [^ ]*/xxhash .*key_table" "$work/log" || { cat "$work/log"; exit 1; }
done
! configure_bare -DHTW_FETCH_XXHASH=OFF || { echo 'CMake needs no xxhash.h'; exit 1; }
grep -q 'libxxhash-dev' "$work/log" || { cat "$work/log"; exit 1; }

# CMake, where BUILD_SHARED_LIBS says which form htw::htw has.
for way in gcc/g++/shared clang/clang++/static; do
    compiler=${way%%/*}
    form=${way##*/}
    command -v cmake "$compiler" >"$work/log" || { echo "NOT TESTED: CMake or $compiler is not installed"; continue; }
    compilers=${way%/*}
    quiet cmake -S . -B "cmake-$form" -DCMAKE_C_COMPILER="$compiler" -DCMAKE_CXX_COMPILER="${compilers#*/}" -DCMAKE_UNITY_BUILD=ON \
        -DBUILD_SHARED_LIBS="$([ "$form" = static ] || echo ON)" -DHTW_SOURCE="$root" -DHTW_CALENDAR="${calendar:+ON}" \
        -DPROGRAMS="consumer.c;consumer.cc${calendar:+;calendar.c}"
    grep -q "^-- htw .*: built: libhtw.* not built: .*journal" "$work/log" || { cat "$work/log"; exit 1; }
    quiet cmake --build "cmake-$form" --parallel 2
    for program in consumer.c consumer.cc ${calendar:+calendar.c}; do
        for kind in shared static; do
            wanted=$form
            [ "$kind" = shared ] || wanted=static
            case $wanted,$(ldd "cmake-$form/$program.$kind" | grep -c libhtw || true) in
            static,0 | shared,[12]) "cmake-$form/$program.$kind" | xargs echo "ok CMake $compiler $program.$kind: version" ;;
            *) echo "$program.$kind is not $wanted"; exit 1 ;;
            esac
        done
    done
done
