#!/bin/sh
# SPDX-License-Identifier: MIT
# What bare_root.sh runs in a new Debian system, in /htw/tree, a copy of the sources.
# usage: bare_inside.sh install | demo | test
set -eu
export DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8
cd /htw/tree

wrong() {
    cat /htw/log
    echo "failed: $*"
    exit 1
}

# quiet COMMAND...: what it prints shows only where it fails.
quiet() {
    "$@" >/htw/log 2>&1 </dev/null || wrong "$@"
}

# mine COMMAND...: as a user, in a copy of the sources that is the user's.
mine() {
    (cd /htw/mine && PATH=${user_path:-$PATH} HOME=/htw/mine setpriv --reuid=1000 --regid=1000 --clear-groups "$@")
}

# leaves_out COUNT: the last command ended with so many lines, and had none before.
leaves_out() {
    [ "$(grep -c '^left out: ' /htw/log) $(tail -n "$1" /htw/log | grep -c '^left out: ')" = "$1 $1" ] ||
        wrong "it does not end with $1 lines of what is left out"
}

# Installs everything, and then what can be installed without root.
bare_install() {
    cp -r /htw/tree /htw/mine
    chown -R 1000:1000 /htw/mine
    ! mine ./dev install /htw/mine/prefix >/htw/log 2>&1 || wrong 'an installation without a compiler'
    grep -q '^dev: missing packages, and neither root nor sudo to install them:.* gcc .* meson ' /htw/log ||
        wrong 'what a build needs is not said'

    quiet ./dev install
    leaves_out 0
    for test in command serve cron relay top libraries; do
        quiet "debian/tests/$test"
    done
    for page in htw-cron htw-delay htw-draw htw-journal htw-relay htw-replay htw-serve htw-top; do
        quiet man -w 1 "$page"
    done
    quiet env MANPAGER=cat MANOPT='--nh --nj' man htw_schedule # words and blanks as written
    grep -q 'int htw_schedule(struct htw_scheduler' /htw/log || wrong man htw_schedule
    # shellcheck disable=SC2046 # words
    quiet gcc -std=c11 -g -o /htw/scheduler tests/detectors/scheduler.c $(pkg-config --cflags --libs htw) -pthread
    set -- valgrind --tool=helgrind --quiet --error-exitcode=9 --suppressions=/usr/local/share/htw/valgrind.supp /htw/scheduler
    quiet "$@"
    [ ! -s /htw/log ] || wrong 'helgrind is not silent'

    # As a user, with a compiler, and without all that may be left out.
    optional='g++ libcctz-dev libjansson-dev libmicrohttpd-dev libncurses-dev librdkafka-dev libsqlite3-dev python3-myst-parser python3-sphinx systemtap-sdt-dev valgrind'
    # shellcheck disable=SC2086 # words
    quiet apt-get purge -y $optional
    quiet mine ./dev install /htw/mine/prefix
    grep -q '^dev: missing packages, and neither root nor sudo' /htw/log || wrong 'what is missing is not said'
    leaves_out 7
    packages=$(sed -n 's/^left out: .*(Debian: \(.*\))/\1/p' /htw/log | tr ' ' '\n' | sort -u | xargs)
    [ "$packages" = "$optional" ] || wrong 'other packages than these'
    user_path=/usr/bin mine prefix/bin/htw top >/htw/log 2>&1 || true # root's htw-top is in /usr/local
    grep -qx 'htw top: the program htw-top is not installed' /htw/log || wrong htw top
    quiet mine ./dev build # makes no manual
    leaves_out 6

    # The same where there are no packages.
    mkdir /htw/bin
    ln -s /usr/bin/* /htw/bin
    rm /htw/bin/dpkg-query
    user_path=/htw/bin quiet mine ./dev install /htw/mine/prefix
    ! grep -q 'missing packages' /htw/log || wrong 'packages of Debian are asked for'
    leaves_out 7

    # The packages that these lines name bring all of it.
    # shellcheck disable=SC2086 # words
    quiet apt-get install -y --no-install-recommends $packages
    quiet mine ./dev install /htw/mine/prefix
    leaves_out 0
    quiet mine prefix/bin/htw cron --version
    quiet mine prefix/bin/htw top --version
    for file in include/htw/journal.h share/man/man3/htw_schedule.3; do
        quiet mine test -e "/htw/mine/prefix/$file"
    done
}

bare_demo() {
    quiet ./dev demo
    grep -q 1000000 /htw/log || wrong 'a million messages'
    quiet ./dev demo serve
    grep -q ' 0 of them are lost$' /htw/log || wrong 'a kill'
}

# Up to the start of the build: the test needs nothing that is built.
bare_test() {
    quiet ./dev test version
    grep -qx '1 passed, 0 failed' /htw/log || wrong ./dev test
}

"bare_$1"
