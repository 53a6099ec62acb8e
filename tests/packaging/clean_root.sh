#!/bin/sh
# SPDX-License-Identifier: MIT
# In a new Debian system (new_root.sh), runs each test of debian/tests, except those that are named, with what
# debian/tests/control says that it needs, and removes the packages again.
# usage: clean_root.sh FOLDER_OF_PACKAGES SOURCES [EXCEPT]...
set -eu
packages=$(readlink -f "$1")
sources=$(readlink -f "$2")
shift 2
work=$packages/clean_root
rm -rf "$work"
mkdir -p "$work/htw/packages"

# What the new system gets: the packages, as a source of apt, and what the tests read.
find "$packages" -maxdepth 1 -name '*.deb' ! -name '*-dbgsym_*' -exec cp -t "$work/htw/packages" '{}' +
(cd "$work/htw/packages" && dpkg-scanpackages --multiversion . >Packages 2>../log) ||
    { cat "$work/htw/log"; exit 1; }
mkdir -p "$work/htw/sources/tests/api"
cp -r "$sources/debian" "$work/htw/sources/"
cp -r "$sources/tests/api/consumer" "$work/htw/sources/tests/api/"
sed -n 's/^Tests: //p' "$sources/debian/tests/control" | grep -vxF "$(printf '%s\n' "${@:-none}")" >"$work/htw/tests"
cat >"$work/htw/run" <<'END_OF_RUN'
#!/bin/sh
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
quiet() {
    "$@" >/htw/log 2>&1 || { cat /htw/log; echo "failed: $*"; exit 1; }
}
echo 'deb [trusted=yes] file:/htw/packages ./' >/etc/apt/sources.list.d/htw.list
quiet apt-get update
cd /htw/sources
ours=$(sed -n 's/^Package: //p' /htw/packages/Packages)
total=0
while read -r test; do
    needs=$(sed -n "/^Tests: $test\$/,/^\$/ { s/^Depends: //p }" debian/tests/control | tr -d ,)
    # shellcheck disable=SC2086 # a list of words
    quiet apt-get install -y --no-install-recommends $needs
    echo "== $test, with $needs"
    mkdir "/htw/$test"
    AUTOPKGTEST_TMP=/htw/$test "debian/tests/$test" >/htw/log 2>&1 </dev/null ||
        { cat /htw/log; echo "failed: $test"; exit 1; }
    tail -n 3 /htw/log
    total=$((total + 1))
done </htw/tests
[ "$total" -gt 0 ]
for package in $ours; do
    dpkg-query -W "$package" >/htw/log || { echo "no test installs $package"; exit 1; }
done
[ -z "$(find /etc/systemd -name '*htw*')" ] || { echo 'a unit is enabled'; exit 1; }
# shellcheck disable=SC2086
quiet apt-get purge -y $ours
left=$(find / -xdev -path /htw -prune -o -path /proc -prune -o -name '*htw*' \
    ! -path '/var/lib/apt/*' ! -path '/etc/apt/*' -print)
[ -z "$left" ] || { printf 'still there after the removal:\n%s\n' "$left"; exit 1; }
echo "$total passed, 0 failed"
END_OF_RUN
chmod +x "$work/htw/run"

"$sources/tests/packaging/new_root.sh" "$work/htw"
