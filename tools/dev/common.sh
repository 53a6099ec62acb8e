# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# common.sh - what all verbs use, and the Debian packages that they need. Part of ../../dev.

build_packages='gcc libc6-dev meson ninja-build pkg-config libxxhash-dev'
calendar_packages='g++ libcctz-dev tzdata'
journal_packages='libsqlite3-dev'
relay_packages="$calendar_packages librdkafka-dev libmicrohttpd-dev"
top_packages='libncurses-dev libjansson-dev'
trace_packages='systemtap-sdt-dev bpftrace'
relay_example_packages='kcat python3-confluent-kafka'
loop_packages='libev-dev libevent-dev libglib2.0-dev liburing-dev libuv1-dev' # of examples/loops
test_packages="$build_packages $calendar_packages $journal_packages $relay_packages $relay_example_packages $loop_packages $top_packages $trace_packages tmux zsh fish libcmocka-dev python3 python3-pytest python3-pytest-xdist binutils cmake"
replay_packages='chromium chromium-driver python3-selenium'
serve_packages='beanstalkd netcat-openbsd php-cli php-pda-pheanstalk'
serve_demo_packages="$build_packages $journal_packages libmicrohttpd-dev python3"
peer_packages='g++ libev-dev libevent-dev libboost-dev'
bench_packages="$build_packages $peer_packages python3 gnuplot-nox"
journal_bench_packages="$bench_packages $journal_packages redis-server libhiredis-dev"
jvm_packages='default-jdk-headless maven' # they also start a Kafka, and a consumer of its own library
go_packages='golang-go'
tokio_packages='cargo-web rustc-web' # new enough for tokio; they replace cargo and rustc
lint_packages="$test_packages clang clang-format shellcheck"
fuzz_packages="$build_packages $journal_packages $calendar_packages $relay_packages $top_packages clang libclang-rt-dev"
analyze_packages="$build_packages $calendar_packages $journal_packages $relay_packages $loop_packages $top_packages clang-tidy cppcheck python3 libcmocka-dev"
jemalloc_packages="$test_packages libjemalloc-dev"
valgrind_packages="$test_packages valgrind"
detector_packages="$build_packages g++ clang libclang-rt-dev valgrind gdb binutils"
proof_packages='python3 gcc libc6-dev frama-c-base why3 z3 cvc4'
coverage_packages="$test_packages clang-19 llvm-19 libclang-rt-19-dev"
demo_packages="$build_packages mawk"
man_packages='python3-myst-parser python3-sphinx'
manual_packages="$man_packages furo"
# What is not in $build_packages can be left out; the list left_out in meson.build says the same.
install_packages="$build_packages $calendar_packages $journal_packages $relay_packages $top_packages $man_packages man-db valgrind-if-available systemtap-sdt-dev"
root_packages='mmdebstrap uidmap'
deb_packages="$test_packages $manual_packages valgrind-if-available build-essential xz-utils dpkg-dev debhelper lintian $root_packages"
docs_packages="$test_packages $manual_packages man-db"
dist_packages="$test_packages xz-utils git"
python_packages='gcc g++ libc6-dev libcctz-dev tzdata libsqlite3-dev libxxhash-dev pkg-config python3 python3-cffi python3-dev python3-pytest python3-setuptools mypy'
python_package_packages="$build_packages $python_packages python3-pip python3-venv python3-wheel binutils"
rust_crates='librust-cc-dev librust-libc-dev librust-pkg-config-dev'
rust_packages="gcc g++ libc6-dev libcctz-dev tzdata libsqlite3-dev libxxhash-dev pkg-config cargo rustc $rust_crates"
rust_test_packages="$rust_packages rustfmt rust-clippy bindgen libclang1-14 libclang-common-14-dev"
rust_package_packages="$build_packages $rust_packages binutils"
rust_bench_packages="$rust_packages librust-tokio-dev librust-tokio-util-dev"
cross_packages="$build_packages python3 qemu-user xz-utils"
mingw_packages='gcc-mingw-w64-x86-64-posix g++-mingw-w64-x86-64-posix wine64'
recipe_packages='nix-bin ruby'
musl_packages="$build_packages musl-tools linux-libc-dev xz-utils"

say() {
    if [ -t 2 ]; then
        printf '\033[1m== %s\033[0m\n' "$*" >&2
    else
        printf '== %s\n' "$*" >&2
    fi
}

fail() {
    printf 'dev: %s\n' "$*" >&2
    exit 1
}

# number OF VALUE
number() {
    case $2 in
    0 | '' | *[!0-9]*) fail "not a number of $1: $2" ;;
    esac
}

# need "PACKAGE...": installs the Debian packages that are missing.
need() {
    if ! command -v dpkg-query >/dev/null 2>&1; then # not Debian: the tools must be there
        for tool in cc meson ninja pkg-config; do
            command -v "$tool" >/dev/null 2>&1 ||
                fail "$tool is missing; on Debian this would install: $1"
        done
        return 0
    fi
    # shellcheck disable=SC2016,SC2086 # for dpkg-query; a list of words
    present=$(dpkg-query -W -f=' ${Package}=${db:Status-Abbrev}' $1 2>/dev/null || true)
    missing=
    for package in $1; do
        case $present in *" $package=ii"*) ;; *) missing="$missing $package" ;; esac
    done
    [ -n "$missing" ] || return 0
    as_root='env'
    if [ "$(id -u)" != 0 ]; then
        command -v sudo >/dev/null 2>&1 ||
            fail "missing packages, and neither root nor sudo to install them:$missing"
        as_root=sudo
    fi
    say "installing$missing"
    # Another verb may be running beside this one.
    mkdir -p build
    # shellcheck disable=SC2086 # a list of words
    if ! (flock 9 && $as_root apt-get -qq update &&
        $as_root env DEBIAN_FRONTEND=noninteractive \
            apt-get -qq install -y --no-install-recommends -o DPkg::Lock::Timeout=300 $missing \
            >/dev/null) 9>build/packages.lock; then
        fail "cannot install$missing: is there a network, and are the package sources right?"
    fi
}

# configure FOLDER OPTION...: once, and anew where the options or the compiler have changed. Without its
# build.ninja: again, and what is compiled is kept.
configure() {
    folder=build/$1
    shift
    options="$* ${CC:-} ${CXX:-} ${CFLAGS:-} ${LDFLAGS:-}"
    if [ "$(cat "$folder/dev-options" 2>/dev/null)" = "$options" ]; then
        [ ! -f "$folder/build.ninja" ] || return 0
        rm -rf "$folder/meson-private"
    else
        rm -rf "$folder"
    fi
    # The manual is not built again wherever something is tested.
    meson setup "$folder" -Ddocs=false "$@"
    printf '%s\n' "$options" >"$folder/dev-options"
}

# For all parts of the library and the command. Where packages cannot be installed, Meson leaves out the parts that
# need them.
need_all() {
    # shellcheck disable=SC2310 # the build goes on
    (need "$install_packages") || need "$build_packages"
}

# configure_all FOLDER OPTION...: what was missing the last time is searched for again.
configure_all() {
    [ ! -s "build/$1/left-out" ] || rm -f "build/$1/build.ninja"
    configure "$@"
}

compile() {
    folder=build/$1
    shift
    ninja -C "$folder" --quiet "$@"
}

# run_tests FOLDER ARG...: runs Meson's tests, and ends with their count, without those that were skipped. Builds what they need and no
# more.
run_tests() {
    folder=build/$1
    shift
    logs=$folder/meson-logs
    rm -f "$logs"/testlog*.json
    result=0
    meson test -C "$folder" --print-errorlogs "$@" || result=$?
    results=$(cat "$logs"/testlog*.json 2>/dev/null | grep -o '"result": "[A-Z]*' || true)
    [ -n "$results" ] || fail "no tests were run"
    printf '%d passed, %d failed\n' "$(echo "$results" | grep -c 'OK$')" "$(echo "$results" | grep -cvE '(OK|SKIP)$')"
    return "$result"
}

release_options='-Dbuildtype=release -Dtests=false'

# test_in FOLDER RUN OPTIONS [ARG]...: has the function RUN build and run tests in build/FOLDER, with these options.
test_in() {
    place=$1
    run=$2
    own_options=$3
    shift 3
    # The relay is left out where librdkafka is missing or too old, so that all else can be tested.
    # shellcheck disable=SC2086 # a list of words
    configure "$place" -Dbuildtype=debugoptimized -Dcheck_level=1 -Dcalendar=enabled -Djournal=enabled -Drelay=auto $own_options
    "$run" "$place" "$@"
}

# In CI what gcc and clang (./dev asan) warn of is an error, and nobody debugs.
test_options=-Dbenchmarks=true
[ "${CI:-}" != true ] || test_options="$test_options -Dwerror=true -Ddebug=false"

build_tests() {
    test_in test compile "$test_options"
}

# absolute PATH: as it was meant where ./dev was called.
absolute() {
    case $1 in
    /*) printf '%s\n' "$1" ;;
    *) printf '%s\n' "$called_from/$1" ;;
    esac
}

# Debian's interpreter, for which its packages are; elsewhere that of the PATH.
python=python3
[ ! -x /usr/bin/python3 ] || python=/usr/bin/python3
