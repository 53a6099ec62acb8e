#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes an OCI image of the relay, FOLDER/htw-relay.oci.tar, of packages alone: htw-relay from PACKAGES, and what it
# needs from Debian. It holds the files of these packages and no more: no shell, no package manager. The relay runs as
# a user without rights. Needs mmdebstrap and python3, but neither Docker nor a daemon.
# usage: image.sh PACKAGES FOLDER
set -eu
packages=$(readlink -f "$1")
here=$(dirname "$(readlink -f "$0")")
mkdir -p "$2"
cd "$2"
rm -rf source
mkdir source
cp "$packages"/htw-relay_*.deb source/
(cd source && dpkg-scanpackages . >Packages 2>../log) || { cat log; exit 1; }
"$here/debian_sources.sh" >sources.list
echo "deb [trusted=yes] copy:$PWD/source ./" >>sources.list

# The time of the last entry of the changelog, so that the same packages make the same image.
SOURCE_DATE_EPOCH=$(dpkg-parsechangelog -l "$here/../debian/changelog" -S Timestamp)
export SOURCE_DATE_EPOCH
# Extracted and not configured: no script of a package runs, so what these would have made is made here.
# shellcheck disable=SC2016 # the folder of the image
mmdebstrap --variant=extract --skip=output/dev --quiet --include=base-files,netbase,ca-certificates,htw-relay \
    --hook-dir=/usr/share/mmdebstrap/hooks/merged-usr \
    --extract-hook='find "$1/usr/share/ca-certificates" -name "*.crt" -print0 | LC_ALL=C sort -z |
        xargs -0 cat >"$1/etc/ssl/certs/ca-certificates.crt"' \
    --extract-hook='echo "htw:x:65532:65532::/:/usr/sbin/nologin" >"$1/etc/passwd"
        echo "htw:x:65532:" >"$1/etc/group"' \
    --extract-hook='cd "$1" && find usr/bin usr/sbin ! -type d ! -name htw-relay -delete
        find usr/share/doc -type f ! -name copyright -delete
        rm -rf usr/share/ca-certificates usr/share/man usr/share/locale usr/share/lintian usr/share/perl5 \
            usr/share/debconf usr/lib/systemd var/lib/dpkg/info etc/apt/sources.list.d/*' \
    "$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)" root.tar sources.list >log 2>&1 || { cat log; exit 1; }
python3 -B "$here/oci.py" root.tar "$(dpkg-deb --field source/htw-relay_*.deb Architecture)" \
    "$(dpkg-deb --field source/htw-relay_*.deb Version)" htw-relay.oci.tar
rm -rf source sources.list root.tar log
