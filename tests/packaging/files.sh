#!/bin/sh
# SPDX-License-Identifier: MIT
# The Debian packages and those of htw.spec hold each file that the build installs.
# usage: files.sh PREFIX ROOT, with --libdir lib
set -eu
prefix=$1
root=$2

# lacks PATTERN...: prints the files of the prefix that no pattern matches. Like those of debhelper
# and rpm, a pattern that matches a folder takes what is in it.
lacks() (
    cd "$prefix"
    set -f
    find . ! -type d -printf '%P\n' | while read -r file; do
        for pattern in $1; do
            # shellcheck disable=SC2254 # patterns
            case $file in
            $pattern | ${pattern%/}/*) continue 2 ;;
            esac
        done
        printf '%s\n' "$file"
    done
)

[ -e "$prefix/lib/pkgconfig/htw.pc" ] || { echo "htw is not installed in $prefix"; exit 1; }
debian=$(cat "$root"/debian/*.install | sed 's,^usr/,,; s,^lib/\*/,lib/,')
soversion=$(sed -n 's/^%global soversion //p' "$root/packaging/htw.spec")
rpm=$(sed -n '/^%files/,$p' "$root/packaging/htw.spec" | sed -n "s/%{soversion}/$soversion/
    s,^%{_bindir},bin,p; s,^%{_libdir},lib,p; s,^%{_includedir},include,p; s,^%{_datadir},share,p
    s,^%{_unitdir},lib/systemd/system,p; s,^%{_mandir},share/man,p; s,^%{_docdir},share/doc,p")
for kind in debian rpm; do
    [ "$kind" = debian ] && patterns=$debian || patterns=$rpm
    left=$(lacks "$patterns")
    [ -z "$left" ] || { printf 'in no package of %s:\n%s\n' "$kind" "$left"; exit 1; }
done
