# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# test.sh - verbs that run tests. Part of ../../dev.

help_test() {
    cat <<'END'
  test [TEST]...    build and run the tests (build/test), but those of the suite ci
  test relay [--quick | --long] [ARG]...
                    the relay over a mock cluster and a real Kafka, which Maven fetches (HTW_KAFKA_VERSION: 3 or 4)
  test replay [ARG]...
                    the page of htw replay in headless Chromium; ARG as for pytest
  test serve [ARG]...
                    htw serve beside beanstalkd; ARG as for pytest; also after the verbs asan and tsan
  test bare [install | demo | test]...
                    each as the only command in a new Debian system
  clang, jemalloc, asan, tsan, portable, valgrind [TEST]...
                    the tests built with clang, with the option jemalloc, under AddressSanitizer and UBSan (by clang), under
                    ThreadSanitizer with a pause at random at each atomic operation (HTW_YIELD_SEED), in the form for other
                    systems than Linux; the unit tests under memcheck
  coherence [ARG]...
                    count the cache lines that change hands between 2 to 64 virtual CPUs; --lines WORKLOAD CPUS
  explore [--full] [--random] [--list]
                    the real code in schedules that it chooses; a failure prints the command that plays it again
  simulate [--hours H] [--seed S] [--twice] [--tell [LIFE]]
                    an hour of virtual time, in which memory, disk, clock and threads fail (tests/simulate)
  barriers [--quick] [FILE]...
                    make each memory order weaker in turn, and see which scene of explore fails
  stress [SECONDS]  each stress test for 60 seconds, or SECONDS
  soak [MINUTES [--only NAME,...] [--seed N]]
                    the programs under mixed load for 30 minutes, or MINUTES (tests/soak)
  loaded [ARG]...   the tests three times beside eight busy processes; ARG as for meson test
  cross [--quick] [ARCH]...
                    the tests on i686 armhf aarch64 s390x riscv64, or ARCH. --quick: unit tests, i686 and s390x
  musl              the tests with the C library musl, shared and static
  port [freebsd | netbsd | macos | windows]...
                    compile and link the library, for BSD its tests, and for macOS with CMake, too, by zig, which PyPI has; nothing
                    is run. For Windows also by mingw-w64, and with CMake; then the tests run in Wine
  port windows --quick
                    the unit tests alone, without zig
  enumerate [wheel 2|4 any|fifo zero|high|last LEVELS TIMERS | journal DEPTH [--quick]]
                    each step from each state of small wheels, short histories of a journal (tests/enumerate)
  oracle            calendars over 50 years beside Python's zoneinfo
  detectors         programs of users under ThreadSanitizer, helgrind and DRD; the script for gdb
END
}

# Of a build with a sanitizer, whose compilation takes twice as long otherwise, and that of C++ thrice: reports name lines as before.
sanitizer_options="-Doptimization=1 -Dc_args=-g1 -Dcpp_args=['-g1','-O0']"

# Not among Meson's tests: one Kafka serves all of them, and they take minutes.
run_relay() {
    folder=build/$1
    shift
    ninja -C "$folder" --quiet htw htw-relay programs/relay/tests/relay_suspend.so \
        programs/relay/tests/test_relay_mock_long examples/relay_producer examples/relay_consumer
    fetch_kafka
    HTW_KAFKA=$PWD/$kafka run_pytest programs/relay/tests/kafka -s "$@"
}

# run_pytest FOLDER OF TESTS [ARG]...: with the programs of the build in $folder.
run_pytest() {
    HTW_BUILD=$PWD/$folder "$python" -B -m pytest "$@"
}

# What a browser makes of the page.
run_replay() {
    folder=build/$1
    shift
    ninja -C "$folder" --quiet htw
    run_pytest tests/replay "$@"
}

run_serve() {
    folder=build/$1
    shift
    ninja -C "$folder" --quiet htw-serve tests/serve_strict_clock.so tests/serve_faults.so
    run_pytest tests/serve "$@"
}

verb_test() {
    case ${1:-} in
    serve) need "$test_packages $serve_packages" ;;
    replay) need "$test_packages $replay_packages" ;;
    relay) need "$test_packages $jvm_packages" ;;
    bare)
        need "$root_packages"
        shift
        tests/packaging/bare_root.sh . build/bare "$@"
        return
        ;;
    *)
        need "$test_packages"
        [ $# -gt 0 ] || set -- --no-suite ci
        test_in test run_tests "$test_options" "$@"
        return
        ;;
    esac
    run=run_$1
    shift
    test_in test "$run" "$test_options" "$@"
}

verb_jemalloc() {
    need "$jemalloc_packages"
    test_in jemalloc run_tests "$test_options -Djemalloc=enabled" "$@"
}

# sanitized NAME OPTIONS [serve] [ARG]...
sanitized() {
    place=$1
    options="$2 $sanitizer_options"
    shift 2
    need "$test_packages"
    if [ "${1:-}" != serve ]; then
        test_in "$place" "run_$place" "$options" "$@"
        return
    fi
    shift
    need "$serve_packages"
    test_in "$place" run_serve "$options" --slowness 4 "$@"
}

# The sanitizers are a library, which Meson does not expect of clang: within each program they take long to link.
verb_asan() {
    need 'clang libclang-rt-dev'
    LDFLAGS="-shared-libsan -Wl,-rpath,$(clang -print-runtime-dir)" CC=clang CXX=clang++ sanitized asan "$test_options -Db_sanitize=address,undefined -Db_lundef=false" "$@"
}

verb_tsan() {
    sanitized tsan '-Db_sanitize=thread -Dyield_points=true' "$@"
}

run_asan() {
    UBSAN_OPTIONS=halt_on_error=1:print_stacktrace=1 run_tests "$@" --timeout-multiplier 4
}

# Where the kernel spreads addresses widely (vm.mmap_rnd_bits above 28), something may lie where
# ThreadSanitizer wants its shadow ("unexpected memory mapping"): so without, if that is allowed.
run_tsan() {
    if setarch -R true 2>/dev/null; then
        set -- "$@" --wrap 'setarch -R'
    fi
    TSAN_OPTIONS=halt_on_error=1:second_deadlock_stack=1 \
        run_tests "$@" --timeout-multiplier 4
}

# build_hooked PROGRAM...: what plays the accesses of scheduler, purgatory and journal to memory.
build_hooked() {
    need "$test_packages"
    test_in test compile "$test_options" "$@"
    programs=build/test/tests
}

verb_coherence() {
    build_hooked tests/coherence/coherence
    "$programs/coherence/coherence" "$@"
}

verb_explore() {
    build_hooked tests/explore/explore
    "$programs/explore/explore" "$@"
}

verb_simulate() {
    build_hooked tests/simulate/simulate
    "$programs/simulate/simulate" "$@"
}

verb_barriers() {
    build_hooked tests/explore/explore
    "$python" tests/barriers/barriers.py "$programs/explore/explore" "$@"
}

# On one core, beside eight processes that never rest, and that end when this one has gone: no test may depend on how fast the
# machine is.
run_loaded() {
    place=$1
    shift
    compile "$place"
    for _ in 1 2 3 4 5 6 7 8; do
        taskset -c 0 sh -c "while kill -0 $$ 2>/dev/null; do :; done" &
    done
    taskset -c 0 meson test -C "build/$place" --no-rebuild --print-errorlogs --num-processes 2 --timeout-multiplier 20 --repeat 3 "$@"
}

verb_loaded() {
    need "$test_packages"
    test_in test run_loaded -Dbenchmarks=true "$@"
}

verb_stress() {
    number seconds "${1:-60}"
    need "$test_packages"
    build_tests
    for program in build/test/tests/stress_*; do
        [ -f "$program" ] || continue
        say "${program##*/}"
        "$program" "${1:-60}"
    done
}

# The programs as users have them, optimised.
verb_soak() {
    minutes=${1:-30}
    number minutes "$minutes"
    [ $# -eq 0 ] || shift
    need "$test_packages"
    configure soak -Dbuildtype=release -Dtests=true -Djournal=enabled -Dmonitor=enabled -Drelay=auto
    targets='htw htw-serve tests/soak_program'
    if ninja -C build/soak -t query htw-relay >/dev/null 2>&1; then
        targets="$targets htw-relay programs/relay/tests/relay_brokers"
    fi
    # shellcheck disable=SC2086 # a list of words
    compile soak $targets
    "$python" tests/soak/soak.py build/soak --minutes "$minutes" "$@"
}

# One wheel a core at a time.
verb_enumerate() {
    need "$test_packages"
    configure enumerate -Dbuildtype=release -Dexamples=false -Drelay=disabled
    case ${1:-} in
    wheel | journal)
        program=enumerate_$1
        shift
        ninja -C build/enumerate --quiet "tests/$program"
        "build/enumerate/tests/$program" "$@"
        return
        ;;
    esac
    ninja -C build/enumerate --quiet tests/enumerate_wheel tests/enumerate_journal
    for start in zero high last; do
        for bounds in '2 3 1' '2 2 3' '4 1 4'; do
            echo "${bounds%% *} any $start ${bounds#* }"
            echo "${bounds%% *} fifo $start ${bounds#* }"
        done
    done | xargs -P "$(nproc)" -L 1 build/enumerate/tests/enumerate_wheel
    build/enumerate/tests/enumerate_journal 3
}

verb_oracle() {
    need "$test_packages"
    build_tests
    ninja -C build/test --quiet tests/calendar/calendar_instants
    /usr/bin/python3 tests/calendar/oracle.py build/test/tests/calendar/calendar_instants --long
}

# Without a descriptor for gdb, as tests count descriptors.
verb_valgrind() {
    need "$valgrind_packages"
    build_tests
    [ $# -gt 0 ] || set -- --suite unit
    run_tests test --timeout-multiplier 20 \
        --wrap "valgrind --quiet --error-exitcode=1 --leak-check=full --vgdb=no --suppressions=$PWD/packaging/debug/valgrind.supp" "$@"
}

# The library as users have it: an optimised build, installed, without instruments; with what gdb
# needs.
verb_detectors() {
    need "$detector_packages"
    prefix=$PWD/build/detectors/prefix
    CC=gcc configure detectors -Dbuildtype=release -Ddebug=true -Dtests=false -Dexamples=false \
        -Dannotations=enabled --prefix "$prefix"
    compile detectors
    meson install -C build/detectors --no-rebuild --quiet
    sh tests/detectors/run.sh "$prefix" "$PWD/build/detectors/programs"
}

architectures='i686 armhf aarch64 s390x riscv64'

# need_cross ARCH...
need_cross() {
    packages=$cross_packages
    for arch in "$@"; do
        [ -f "packaging/cross/$arch.ini" ] || fail "cross: no such architecture: $arch (there are $architectures)"
        triple=$(sed -n "s/^triple = '\(.*\)'$/\1/p" "packaging/cross/$arch.ini")
        packages="$packages gcc-$triple g++-$triple"
    done
    need "$packages"
}

# other_headers FOLDER HEADER...: headers of this machine that are good for others.
other_headers() {
    mkdir -p "build/$1"
    for header in $2; do
        ln -sfn "$header" "build/$1/${header##*/}"
    done
}

# Makes cmocka a subproject, out of Debian's source package: other machines and C libraries have no package of it.
need_foreign_cmocka() {
    [ ! -e subprojects/cmocka/src/cmocka.c ] || return 0
    command -v apt-get >/dev/null 2>&1 ||
        fail 'put the sources of cmocka into subprojects/cmocka, and tests/support/cmocka/meson.build beside them'
    place=$PWD/build/cmocka
    rm -rf "$place" subprojects/cmocka
    mkdir -p "$place/lists/partial" "$place/sources" subprojects
    say 'fetching the sources of cmocka'
    packaging/debian_sources.sh | sed 's/^deb /deb-src /' >"$place/sources/debian.list"
    set_apt="apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts=$place/sources
        -o Dir::State::Lists=$place/lists -o APT::Sandbox::User=root"
    # shellcheck disable=SC2086 # a list of words
    (cd "$place" && $set_apt update && $set_apt source --download-only cmocka &&
        mkdir cmocka && tar -xf cmocka_*.orig.tar.?z -C cmocka --strip-components=1) ||
        fail 'cannot fetch the sources of cmocka: is there a network, and are the package sources right?'
    cp tests/support/cmocka/meson.build "$place/cmocka/"
    mv "$place/cmocka" subprojects/cmocka
}

# What the tests of another machine or C library can be: they have no package of libuv.
# The suite cmd is there only without an emulator.
run_foreign() {
    run_tests "$@" --suite unit --suite model --suite amalgamated --suite fault --suite fuzz \
        --suite cpp --suite examples --suite cmd
}

# The two of --quick differ in the size of words and in the order of bytes.
verb_cross() {
    quick=
    if [ "${1:-}" = --quick ]; then
        quick=yes
        shift
        [ $# -gt 0 ] || set -- i686 s390x
    fi
    # shellcheck disable=SC2086 # a list of words
    [ $# -gt 0 ] || set -- $architectures
    need_cross "$@"
    need_foreign_cmocka
    other_headers cross-include '/usr/include/xxhash.h /usr/include/xxh3.h'
    for arch in "$@"; do
        say "$arch"
        qemu=
        [ "$arch" = i686 ] || qemu='--cross-file packaging/cross/qemu.ini'
        # shellcheck disable=SC2086 # none or two words
        configure "cross-$arch" --cross-file "packaging/cross/$arch.ini" --cross-file packaging/cross/debian.ini $qemu -Dbuildtype=debugoptimized \
            -Ddebug=false -Dcheck_level=1 -Dwerror=true "-Dc_args=-isystem$PWD/build/cross-include -Wno-psabi"
        if [ -n "$quick" ]; then
            run_tests "cross-$arch" --suite unit --timeout-multiplier 4
            continue
        fi
        compile "cross-$arch"
        run_foreign "cross-$arch" --timeout-multiplier 4
    done
}

# Twice: programs that find libc.so, and programs that need nothing.
verb_musl() {
    need "$musl_packages"
    need_foreign_cmocka
    other_headers musl-include "/usr/include/xxhash.h /usr/include/xxh3.h /usr/include/linux \
        /usr/include/asm-generic /usr/include/$(uname -m)-linux-gnu/asm"
    for kind in shared static; do
        say "musl, $kind"
        linked=
        [ $kind = shared ] || linked=-static
        configure "musl-$kind" --cross-file packaging/cross/musl.ini -Dbuildtype=debugoptimized \
            -Dcheck_level=1 -Dwerror=true \
            "-Dc_args=-isystem$PWD/build/musl-include" "-Dc_link_args=$linked"
        # With -static not all: the shared library of the monitor cannot be linked to that of htw.
        compile "musl-$kind" ${linked:+htw}
        run_foreign "musl-$kind"
    done
}

verb_portable() {
    need "$test_packages"
    configure portable -Dbuildtype=debugoptimized -Ddebug=false -Dcheck_level=1 -Dwerror=true -Dportable=true
    if [ $# -eq 0 ]; then
        set -- --suite unit --suite model --suite fault --suite stress --suite examples
    fi
    run_tests portable "$@"
}

# A project of CMake, of which htw is a part.
port_cmake() {
    say 'Windows by mingw-w64, CMake'
    place=$PWD/build/port-mingw/cmake
    cmake -S tests/api/consumer -B "$place" -G Ninja -DCMAKE_TOOLCHAIN_FILE="$PWD/packaging/cross/mingw.cmake" -DHTW_SOURCE="$PWD" \
        -DBUILD_SHARED_LIBS=ON -DHTW_XXHASH="$PWD/build/cross-include" -DPROGRAMS="consumer.c;consumer.cc" -DCMAKE_RUNTIME_OUTPUT_DIRECTORY="$place/programs"
    ninja -C "$place" --quiet
    for program in c.shared c.static cc.shared cc.static; do
        /usr/lib/wine/wine64 "$place/programs/consumer.$program.exe"
    done
}

# For the compiler of Microsoft there are no headers here: clang compiles for its conventions, with those of mingw-w64.
compile_for_msvc() {
    say 'Windows by clang for msvc: compiled'
    grep -v '^#' src/sources.txt | xargs -P "$(nproc)" -I '{}' clang -fsyntax-only -target x86_64-pc-windows-msvc \
        -fmsc-version=0 -fno-ms-compatibility -D__MINGW32__ -nostdlibinc -isystem /usr/share/mingw-w64/include \
        -isystem build/cross-include -std=gnu11 -DHTW_PORTABLE=1 -DHTW_ANNOTATE=1 -Iinclude -Wall -Wextra -Werror \
        -Wno-ignored-attributes 'src/{}'
}

# The library by mingw-w64. Wine begins with an empty Windows of its own, and shows no window.
port_mingw() {
    need "$build_packages $mingw_packages cmake clang"
    need_foreign_cmocka
    other_headers cross-include '/usr/include/xxhash.h /usr/include/xxh3.h'
    export WINEPREFIX="$PWD/build/wine" WINEDEBUG=-all WINEDLLOVERRIDES='mscoree,mshtml='
    mkdir -p "$WINEPREFIX"
    /usr/lib/wine/wineserver64 -p60 # not to be gone where the next program comes
    say 'Windows by mingw-w64'
    configure port-mingw --cross-file packaging/cross/mingw.ini -Dbuildtype=debugoptimized -Ddebug=false -Dcheck_level=1 -Dwerror=true -Dexamples=false \
        "-Dc_args=-isystem$PWD/build/cross-include"
    if [ "${1:-}" = --quick ]; then
        run_tests port-mingw --suite unit --timeout-multiplier 4
        return
    fi
    compile port-mingw
    run_tests port-mingw --suite unit --suite model --suite stress --suite amalgamated --timeout-multiplier 4
    port_cmake
    compile_for_msvc
}

# The systems that zig of PyPI, which has their headers, builds for. Nothing is run.
verb_port() {
    [ $# -gt 0 ] || set -- freebsd netbsd macos windows
    if [ "$*" = 'windows --quick' ]; then
        port_mingw --quick
        return
    fi
    need "$build_packages python3-venv cmake"
    place=$PWD/build/zig
    [ -x "$place/bin/python" ] || /usr/bin/python3 -m venv "$place"
    "$place/bin/python" -m ziglang version >/dev/null 2>&1 || "$place/bin/pip" --quiet install ziglang
    ln -sf "$PWD/packaging/cross/zig" "$place/bin/zig"
    PATH=$place/bin:$PATH
    need_foreign_cmocka
    other_headers cross-include '/usr/include/xxhash.h /usr/include/xxh3.h'
    for system in "$@"; do
        [ -f "packaging/cross/$system.ini" ] || fail "port: no such system: $system (there are freebsd, netbsd, macos, windows)"
        say "$system: compiled and linked"
        tests=true
        case $system in macos | windows) tests=false ;; esac # no --wrap
        configure "port-$system" --cross-file "packaging/cross/$system.ini" -Dbuildtype=debugoptimized -Dtests=$tests \
            -Dexamples=false "-Dc_args=-isystem$PWD/build/cross-include"
        compile "port-$system"
        [ "$system" != windows ] || port_mingw
        [ "$system" = macos ] || continue
        cmake -S . -B build/port-cmake -DCMAKE_SYSTEM_NAME=Darwin "-DCMAKE_C_COMPILER=zig;cc;-target;aarch64-macos.13.0" \
            -DBUILD_SHARED_LIBS=ON "-DHTW_XXHASH=$PWD/build/cross-include" >build/port-cmake.log
        cmake --build build/port-cmake --parallel >>build/port-cmake.log
    done
}

verb_clang() {
    need "$test_packages clang"
    CC=clang CXX=clang++ test_in clang run_tests "$test_options" "$@"
}
