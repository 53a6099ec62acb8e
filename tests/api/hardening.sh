#!/bin/sh
# SPDX-License-Identifier: MIT
# The library and the command have what the build option `hardening` promises: what the loader has
# written is read-only afterwards, stacks cannot be executed, and functions with arrays notice that
# their stack was overwritten. On x86-64 each object marks what may be jumped to, if the compiler can.
# usage: hardening.sh SHARED_LIBRARY STATIC_LIBRARY COMMAND IS_OPTIMISED COMPILER...
# COMMAND is empty where it is not built.
set -eu
shared=$1
static=$2
command=$3
is_optimised=$4
shift 4
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
result=0

wrong() {
    echo "$*"
    result=1
}

echo '#include <features.h>
#ifdef __GLIBC__
glibc
#endif' | "$@" -E -P - >"$work/library"

for file in "$shared" ${command:+"$command"}; do
    readelf --wide --segments --dynamic --dyn-syms "$file" >"$work/file"
    # The flags of GNU_STACK are RW where the stack cannot be executed.
    for line in ' GNU_RELRO ' ' GNU_STACK .* RW ' '(FLAGS_1).* NOW' ' __stack_chk_fail'; do
        grep -q "$line" "$work/file" || wrong "$file has no line '$line'"
    done
    ! grep -q TEXTREL "$work/file" || wrong "$file is written to by the loader (TEXTREL)"
    if [ "$is_optimised" = true ] && grep -q glibc "$work/library"; then
        grep -q '_chk@GLIBC' "$work/file" || wrong "$file calls nothing that _FORTIFY_SOURCE checks"
    fi
done

# Not of the shared library: the C library may lack the marks in what it adds to each file.
if [ "$(uname -m)" = x86_64 ] && echo 'int main(void) { return 0; }' |
    "$@" -fcf-protection -x c -c -o "$work/probe.o" - 2>/dev/null; then
    readelf --wide --notes "$static" >"$work/notes"
    objects=$(grep -c '^File: ' "$work/notes" || true)
    marked=$(grep -c 'x86 feature: IBT, SHSTK' "$work/notes" || true)
    if [ "$objects" = 0 ] || [ "$objects" != "$marked" ]; then
        wrong "$marked of $objects objects in $static are marked for IBT and SHSTK"
    fi
fi
exit "$result"
