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

# --version says so where it is true, whoever has defined it.
cat >"$work/main.c" <<'END'
#include <htw/base.h>

#include "programs/kit/version.h"

const char *htw_version(void) {
    return "1";
}

int main(void) {
    return htw__version_print("htw");
}
END
root=$(cd "$(dirname "$0")/../.." && pwd)
said() {
    wanted=$1
    shift
    "$@" -I"$root" -I"$root/include" -DHTW_BUILD_FEATURES='""' -DHTW_BUILD_ALLOCATOR='""' \
        -DHTW_BUILD_HARDENING='"yes"' -DHTW_BUILD_ASSERTIONS='""' "$root/programs/kit/version.c" "$work/main.c" \
        -o "$work/version"
    "$work/version" | grep -qx "hardening: $wanted" || wrong "--version does not say '$wanted' with $*"
}
said 'yes' "$@" -U_FORTIFY_SOURCE -O2 -D_FORTIFY_SOURCE=2
said 'yes, without _FORTIFY_SOURCE' "$@" -U_FORTIFY_SOURCE -O2
said 'yes, without _FORTIFY_SOURCE' "$@" -U_FORTIFY_SOURCE -O0

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
