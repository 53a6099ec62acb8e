#!/bin/sh
# SPDX-License-Identifier: MIT
# The wheel in two files compiles without a warning with each compiler that is there, in each
# standard, with and without a C library, also for WebAssembly; it exports functions named htw_ and nothing else, and
# needs nothing but what it says. So does libhtw in two files, with the C library. Small programs that contain them are built
# and run.
# usage: compile.sh FOLDER_OF_THE_FILES FOLDER_OF_THE_PROGRAMS DOCUMENT PROGRAM_OF_LIBHTW
set -eu
files=$1
programs=$2
document=$3
consumer=$4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
warnings='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wcast-qual -Wundef
    -pedantic -Werror'
library_strict='-Wall -Wextra -Wconversion -Wsign-conversion -Wshadow -Wcast-align -Wundef -pedantic -Werror
    -Wstrict-prototypes -Wmissing-prototypes -Wvla'
c_warnings="$warnings -Wstrict-prototypes -Wmissing-prototypes -Wvla"

fail() {
    echo "$*"
    exit 1
}

# compile COMPILER ARG...: quietly.
compile() {
    "$@" || fail "failed: $*"
}

# run COMPILER PROGRAM: if this machine can run what the compiler makes.
run() {
    case $1 in
    i686-*) qemu='qemu-i386' ;;
    arm-*) qemu='qemu-arm' ;;
    *) qemu= ;;
    esac
    if [ -z "$qemu" ]; then
        "$2" >"$work/output" || fail "$1: the program failed: $2"
    elif command -v "$qemu" >"$work/found"; then
        "$qemu" "$2" >"$work/output" || fail "$1: the program failed in $qemu: $2"
    fi
}

# needs_only OBJECT PATTERN: every undefined symbol matches. `__...` are routines of the compiler.
needs_only() {
    wrong=$(nm -u "$1" | awk '{ print $2 }' | grep -vxE "__.*|_GLOBAL_OFFSET_TABLE_|$2" || true)
    [ -z "$wrong" ] || fail "$compiler: the wheel needs:" "$wrong"
}

# exports_only_htw OBJECT
exports_only_htw() {
    wrong=$(nm -g --defined-only "$1" | awk 'NF == 3 { print $3 }' | grep -vE '^(htw_[a-z]|__x86\.get_pc_thunk|DW\.)' || true)
    [ -z "$wrong" ] || fail "$compiler: exported, but not named htw_:" "$wrong"
}

# The first program that the document shows, with the header of the two files.
# shellcheck disable=SC2016 # backquotes of Markdown
sed -n '/^```c$/,/^```$/p' "$document" | sed '/^```$/q' | grep -v '^```' |
    sed 's|<htw/wheel.h>|"htw_wheel.h"|' >"$work/shown.c"
sed 's|<htw/htw.h>|"htw.h"|' "$consumer" >"$work/consumer.c"
echo 'void *memcpy(void *to, const void *from, __SIZE_TYPE__ size); /* else clang warns */
void *memcpy(void *to, const void *from, __SIZE_TYPE__ size) { return __builtin_memcpy(to, from, size); }' >"$work/copy.c"

tested=0
for compiler in gcc clang i686-linux-gnu-gcc arm-linux-gnueabihf-gcc x86_64-w64-mingw32-gcc musl-gcc tcc; do
    command -v "$compiler" >"$work/found" || continue
    # shellcheck disable=SC2086 # lists of words
    case $compiler in
    tcc) strict='-Wall -Werror' freestanding=-DHTW_FREESTANDING ;;
    *mingw*) # its own printf() and its stddef.h lie in folders of the C library
        strict="$c_warnings -Wno-format" freestanding=-ffreestanding
        ;;
    *)
        strict=$c_warnings
        headers=$("$compiler" -print-file-name=include)
        # The headers of the compiler and no others.
        freestanding="-ffreestanding -nostdinc -isystem $headers"
        ;;
    esac
    static=-static
    case $compiler in
    gcc | clang | tcc) static= ;;
    esac
    for standard in c11 'c99 -O2'; do
        object=$work/hosted-${standard%% *}.o
        # shellcheck disable=SC2086
        compile "$compiler" -std=$standard $strict -c -o "$object" "$files/htw_wheel.c"
        needs_only "$object" '(mem(cpy|move|set)|malloc|free|fprintf|fputc|fputs|fwrite|fflush|ferror)'
        case $compiler in
        *mingw*) ;; # contains printf() itself
        *) exports_only_htw "$object" ;;
        esac
        # shellcheck disable=SC2086
        compile "$compiler" -std=$standard $strict $freestanding -c -o "$work/free.o" \
            "$files/htw_wheel.c"
        needs_only "$work/free.o" 'mem(cpy|move|set)'
    done
    # shellcheck disable=SC2086
    for more in -DHTW_NO_BUILTINS -DHTW_CHECK_LEVEL=2; do
        compile "$compiler" -std=c99 $strict $more -c -o "$work/more.o" "$files/htw_wheel.c"
    done
    # shellcheck disable=SC2086
    compile "$compiler" -std=c99 $strict $static -I "$files" -o "$work/one" "$programs/one_file.c"
    # shellcheck disable=SC2086
    compile "$compiler" -std=c99 $strict $freestanding -I "$files" -c -o "$work/free_main.o" \
        "$programs/freestanding.c"
    # shellcheck disable=SC2086
    compile "$compiler" $static -o "$work/free" "$work/free_main.o" "$work/free.o"
    case $compiler in
    *mingw*) ;;
    *)
        run "$compiler" "$work/one"
        run "$compiler" "$work/free"
        # shellcheck disable=SC2086
        compile "$compiler" -std=c99 $strict $static -I "$files" -o "$work/shown" "$work/shown.c" \
            "$work/hosted-c99.o"
        run "$compiler" "$work/shown"
        [ "$(cat "$work/output")" = "$(printf 'request %d timed out\n' 1 3)" ] ||
            fail "$compiler: the program of $document: $(cat "$work/output")"
        ;;
    esac
    case $compiler in
    *mingw* | tcc) forms= ;; # no threads of POSIX, or no atomics
    gcc | clang) forms='-DHTW_CHECK_LEVEL=2 -DHTW_PORTABLE -DHTW_API=static' ;; # Meson adds -fexceptions
    *) forms=-O0 ;; # ./dev cross and musl optimise
    esac
    for form in $forms; do
        # shellcheck disable=SC2086
        compile "$compiler" -std=c11 $library_strict -Wno-psabi "$form" -c -o "$work/htw.o" "$files/htw.c"
        exports_only_htw "$work/htw.o"
        [ "$form" != -DHTW_API=static ] || continue
        # shellcheck disable=SC2086
        compile "$compiler" -std=c11 $c_warnings $static -I "$files" -o "$work/consumer" "$work/consumer.c" "$work/htw.o" -pthread
        run "$compiler" "$work/consumer"
    done
    echo "ok $compiler"
    tested=$((tested + 1))
done
[ "$tested" -gt 0 ] || fail 'no compiler is there'

# Without a C library, the compiler copies memory itself.
if command -v clang >"$work/found"; then
    for source in "$files/htw_wheel.c" "$programs/freestanding.c" "$work/copy.c"; do
        # shellcheck disable=SC2086
        compile clang --target=wasm32 -ffreestanding -mbulk-memory -std=c99 $warnings -O2 -I "$files" -c -o "$work/${source##*/}.wasm" "$source"
    done
    if command -v wasm-ld node >"$work/found"; then
        compile wasm-ld --no-entry --export=main -o "$work/program.wasm" "$work"/*.c.wasm
        compile node -e 'WebAssembly.instantiate(require("fs").readFileSync(process.argv[1])).then((program) =>
            process.exit(program.instance.exports.main()))' "$work/program.wasm"
        echo 'ok wasm32'
    fi
fi

printf '#include "htw.h"\n#include "htw_wheel.h"\n#include "htw.h"\nint main() { return htw_wheel_create(nullptr, nullptr) == 0; }\n' \
    >"$work/twice.cc"
compile gcc -std=c11 -O2 -c -o "$work/wheel.o" "$files/htw_wheel.c"
for compiler in g++ clang++; do
    command -v "$compiler" >"$work/found" || continue
    for standard in c++11 c++17; do
        # shellcheck disable=SC2086
        compile "$compiler" "-std=$standard" $warnings -Wold-style-cast -I "$files" -o "$work/twice" \
            "$work/twice.cc" "$work/wheel.o"
        run "$compiler" "$work/twice"
    done
    echo "ok $compiler"
done
