#!/bin/sh
# SPDX-License-Identifier: MIT
# Programs outside the tree use libhtw by each recipe: a port of vcpkg, whose functions are played here; a package of Conan; a module of
# Bazel. The expression of Nix is evaluated, the formula of Homebrew parsed.
# usage: recipes.sh ROOT TOOL...   TOOL: vcpkg, conan, bazel, nix, ruby, which PATH has except the first
set -eu
root=$(cd "$1" && pwd)
shift
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
version=$(sed -n 's/^#define HTW_VERSION "\(.*\)"$/\1/p' "$root/include/htw/base.h")
consumer=$root/tests/api/consumer

# quiet COMMAND...: what it prints shows only where it fails.
quiet() {
    "$@" >log 2>&1 || { cat log; echo "failed: $*"; exit 1; }
}

try_vcpkg() {
    cat >port.cmake <<'END'
function(run)
    execute_process(COMMAND ${CMAKE_COMMAND} ${ARGN} COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(port "" "SOURCE_PATH" "OPTIONS" ${ARGN})
    run(-S ${port_SOURCE_PATH} -B build -DCMAKE_INSTALL_PREFIX=${CMAKE_SOURCE_DIR}/installed -DCMAKE_BUILD_TYPE=${VCPKG_BUILD_TYPE} ${port_OPTIONS})
endfunction()
function(vcpkg_cmake_install)
    run(--build build --target install --parallel 2)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(port "" "" "FILE_LIST" ${ARGN})
    file(INSTALL ${port_FILE_LIST} DESTINATION installed/share/htw)
endfunction()
include(${PORT})
END
    quiet cmake -DPORT="$root/packaging/vcpkg/htw/portfile.cmake" -P port.cmake
    [ -e installed/share/htw/htw-config.cmake ] || { find installed; exit 1; }
    CMAKE_PREFIX_PATH=$PWD/installed quiet cmake -S "$consumer" -B program -DPROGRAMS=consumer.c
    quiet cmake --build program
    for kind in shared static; do # a port has one form, here the static one
        [ "$("program/consumer.c.$kind")" = "$version" ]
    done
}

try_conan() {
    export CONAN_HOME="$work/conan"
    quiet conan profile detect
    printf '[platform_requires]\nxxhash/0.8.2\n' >>conan/profiles/default # that of the system, without a network
    for is_shared in True False; do
        quiet conan create "$root/packaging/conan" -s build_type=Debug -o "htw/*:shared=$is_shared" -c tools.cmake.cmaketoolchain:user_presets= \
            -c tools.cmake.cmake_layout:test_folder="$work/conan-$is_shared"
        grep -qx "$version" log || { cat log; exit 1; }
    done
}

# Without a network: the rules that Bazel would fetch are played, by those that the old Bazel of npm has itself.
try_bazel() {
    overrides=
    for rules in cc:cc_library,cc_binary,cc_import,cc_toolchain,cc_toolchain_suite python:py_library,py_binary,py_test,py_runtime \
        java:java_library,java_binary,java_import,java_test,java_plugin,java_toolchain,java_runtime,java_package_configuration proto:proto_library; do
        folder=rules_${rules%%:*}
        mkdir -p "$folder/${rules%%:*}"
        touch "$folder/WORKSPACE" "$folder/BUILD" "$folder/${rules%%:*}/BUILD"
        echo "${rules#*:}" | tr , '\n' | sed 's/.*/& = native.&/' >"$folder/${rules%%:*}/defs.bzl"
        overrides="$overrides --override_repository=$folder=$work/$folder"
    done
    cp "$consumer/consumer.c" .
    grep -v target_compatible_with "$root/BUILD.bazel" >htw.BUILD # which it does not know
    mkdir xxhash
    cp "$(echo '#include <xxhash.h>' | cc -E - | sed -n 's/^# [0-9]* "\(.*xxhash\.h\)".*/\1/p' | head -n 1)" xxhash
    echo "cc_library(name = 'xxhash', hdrs = ['xxhash.h'], includes = ['.'], visibility = ['//visibility:public'])" >xxhash.BUILD
    for repository in "htw', path = '$root" "xxhash', path = 'xxhash"; do
        echo "new_local_repository(name = '$repository', build_file = '${repository%%\'*}.BUILD')"
    done >WORKSPACE
    echo "cc_binary(name = 'consumer', srcs = ['consumer.c'], deps = ['@htw//:htw'])" >BUILD
    # shellcheck disable=SC2086 # words
    quiet bazel --output_user_root="$work/bazel" --batch build $overrides --jobs=2 :consumer
    [ "$(bazel-bin/consumer)" = "$version" ]
    chmod -R u+w bazel
}

try_nix() {
    for variable in STORE STATE CONF LOG; do
        export "NIX_${variable}_DIR=$work/nix/$variable"
    done
    quiet nix-instantiate --eval --strict -E "(import $root/packaging/nix { pkgs = {
        stdenv.mkDerivation = package: package; meson = 1; ninja = 2; pkg-config = 3; cctz = 4; sqlite = 5; xxHash = 6;
        lib = { cleanSource = path: path; licenses = { mit = 7; bsd2 = 8; }; platforms.linux = 9; }; }; }).version"
    grep -qx "\"${version%~dev}\"" log || { cat log; exit 1; }
}

try_ruby() {
    quiet ruby -wc "$root/packaging/homebrew/htw.rb"
}

# What Bazel finds in folders is what src/sources.txt lists.
layers=$(sed -n 's/.* for layer in \[\(.*\)\]\] + .*/\1/p' "$root/BUILD.bazel" | tr -d '",')
sed -n 's/.* exclude = \[\(.*\)\]),$/\1/p' "$root/BUILD.bazel" | tr -d '",' | tr ' ' '\n' | sed 's,^src/,,' >not-of-bazel
for layer in $layers; do (cd "$root/src" && ls "$layer"/*.c); done | grep -vxF -f not-of-bazel | sort >of-bazel
grep -v '^#' "$root/src/sources.txt" | sort | diff - of-bazel || { echo 'BUILD.bazel has other sources than src/sources.txt'; exit 1; }

for tool; do
    "try_$tool"
    echo "ok $tool"
done
