#!/bin/sh
# SPDX-License-Identifier: MIT
# What Meson leaves out because something is missing stands in a line of build/left-out, with the Debian packages that
# bring it; ./dev install ends with these lines, and installs these packages where it can. Here headers are
# hidden from the compiler; ./dev test bare does it on a Debian without them.
# usage: left_out.sh SOURCE_ROOT
set -eu
root=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CFLAGS CXXFLAGS LDFLAGS

# A compiler that does not find the headers of $HTW_HIDDEN, and a Python module that is broken.
for compiler in gcc g++; do
    cat >"$work/$compiler" <<END
#!/bin/sh
for word; do
    case \$word in
    *.c | *.cpp)
        for header in \$HTW_HIDDEN; do
            ! grep -qF "\$header" "\$word" || { echo "\$header: hidden"; exit 1; }
        done
        ;;
    esac
done
exec $compiler "\$@"
END
    chmod +x "$work/$compiler"
done
mkdir "$work/modules"
echo 'raise ImportError("hidden")' >"$work/modules/myst_parser.py"

# left_out NAME [VARIABLE=VALUE]...: the lines, to $work/NAME.
left_out() {
    name=$1
    shift
    env HTW_HIDDEN= CC="$work/gcc" CXX="$work/g++" "$@" \
        meson setup "$work/build-$name" "$root" -Dtests=false -Dexamples=false >"$work/log" 2>&1 ||
        { cat "$work/log"; exit 1; }
    LC_ALL=C sort "$work/build-$name/left-out" >"$work/$name"
}

# expect NAME LINE...: that these lines are there, and no more than this machine lacks anyway.
expect() {
    name=$1
    shift
    { cat "$work/nothing"; printf '%s\n' "$@"; } | LC_ALL=C sort -u | diff - "$work/$name" ||
        { echo "not the lines where $name is hidden"; exit 1; }
}

calendar='left out: the calendar and htw cron: needs cctz and a C++ compiler (Debian: libcctz-dev g++)'
journal='left out: the journal, htw journal and htw serve: needs SQLite (Debian: libsqlite3-dev)'
relay='left out: htw relay: needs librdkafka 2.0.2, libmicrohttpd and the calendar (Debian: librdkafka-dev libmicrohttpd-dev libcctz-dev g++)'
page='left out: htw serve: needs libmicrohttpd (Debian: libmicrohttpd-dev)'
top='left out: htw top and htw replay: needs ncurses and jansson (Debian: libncurses-dev libjansson-dev)'
annotations='left out: what helgrind and DRD are told: needs the headers of valgrind (Debian: valgrind)'
probes='left out: probes for bpftrace and perf: needs sys/sdt.h of SystemTap (Debian: systemtap-sdt-dev)'
man='left out: the man pages: needs Sphinx and MyST (Debian: python3-myst-parser python3-sphinx)'

left_out nothing
left_out first HTW_HIDDEN='cctz/time_zone.h sqlite3.h librdkafka/rdkafka.h curses.h valgrind/helgrind.h sys/sdt.h' PYTHONPATH="$work/modules"
expect first "$calendar" "$journal" "$relay" "$top" "$annotations" "$probes" "$man"
left_out second HTW_HIDDEN='microhttpd.h jansson.h valgrind/drd.h' CXX="$work/none"
expect second "$calendar" "$relay" "$page" "$top" "$annotations"

# Each of these packages is one that ./dev install installs.
installed=$(sed -n "s/^\(build\|calendar\|journal\|relay\|top\|man\|install\)_packages=['\"]\([^'\"]*\)['\"].*/ \2 /p" "$root/tools/dev/common.sh")
# shellcheck disable=SC2013 # words
for package in $(sed 's/.*(Debian: \(.*\))/\1/' "$work/first"); do
    case $installed in
    *" $package "* | *" $package-if-available "*) ;;
    *) echo "./dev install does not install $package"; exit 1 ;;
    esac
done
sed 's/^left out: \(.*\): needs.*/ok \1/' "$work/first"
