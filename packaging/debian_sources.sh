#!/bin/sh
# SPDX-License-Identifier: MIT
# Prints where this machine gets Debian from, in the format of sources.list.
set -eu
# shellcheck disable=SC2016 # apt's own variables
sources=$(apt-get indextargets --format 'deb $(REPO_URI) $(RELEASE) $(COMPONENT)' \
    'Created-By: Packages' 'Origin: Debian' | sort -u)
[ -n "$sources" ] || { echo 'apt knows no packages of Debian: run apt-get update' >&2; exit 1; }
printf '%s\n' "$sources"
