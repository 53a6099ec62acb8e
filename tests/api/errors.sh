#!/bin/sh
# SPDX-License-Identifier: MIT
# htw_strerror() knows each error that the library returns or that a header names.
# usage: errors.sh ROOT
set -eu
cd "$1"
errors=$(grep -rhoE -- '-E[A-Z]+\b' include src/base src/wheel src/scheduler src/purgatory src/calendar src/journal src/monitor | sort -u)
for error in -EINVAL -ENOMEM -EIO; do
    printf '%s\n' "$errors" | grep -qx -- "$error" || { echo "not found: $error"; exit 1; }
done
for error in $errors; do
    grep -q "case $error:" src/base/base.c || { echo "htw_strerror() does not know $error"; exit 1; }
done
printf '%s\n' "$errors" | wc -l | xargs printf '%d errors have a description\n'
