#!/bin/sh
# SPDX-License-Identifier: MIT
# Makes a new Debian system that holds nothing but what packages need, copies a folder named htw to /htw there,
# and runs /htw/run in it. What Debian has comes from where this machine gets it. For root, or a user with user namespaces.
# usage: new_root.sh FOLDER/htw
set -eu
folder=$(readlink -f "$1")
sources=$(mktemp)
trap 'rm -f "$sources"' EXIT

"$(dirname "$0")/../../packaging/debian_sources.sh" >"$sources"

codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
# What is set here (CC, say) must not be set there.
# shellcheck disable=SC2016 # the folder of the new system
mmdebstrap --variant=apt --quiet "--customize-hook=copy-in '$folder' /" \
    '--customize-hook=chroot "$1" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        ${http_proxy:+"http_proxy=$http_proxy"} /htw/run' \
    "$codename" /dev/null "$sources"
