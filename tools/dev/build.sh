# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# build.sh - verbs that build, show and install. Part of ../../dev.

help_build() {
    cat <<'END'
  setup             install every package that any verb needs
  build             build everything, optimised (build/release); ends with what is left out, and why
  demo [relay | serve]
                    show the library and htw delay; htw relay with a Kafka; htw serve with a client of others
  pictures          draw the pictures of README.md and the manual again (docs/pictures)
  amalgamate [FOLDER]
                    write the library as two files, and the wheel, to be copied into any project (build/amalgamated)
  install [PREFIX]  build and install, to /usr/local or PREFIX; ends as build does
  environment PREFIX
                    the lines that a shell needs to find what is installed in PREFIX
END
}

verb_setup() {
    # Each list of common.sh but that of tokio, whose packages replace others.
    lists=$(sed -n '/^tokio/!s/^\([a-z_]*_packages\)=.*/ $\1/p' tools/dev/common.sh | tr -d '\n')
    eval "need \"$lists\""
    # shellcheck disable=SC2086 # a list of words
    need_cross $architectures
}

verb_build() {
    need_all
    # shellcheck disable=SC2086 # a list of words
    configure_all release $release_options
    compile release
    cat build/release/left-out
}

# The command alone, by which the demonstration and the pictures are made.
build_command() {
    # shellcheck disable=SC2086 # a list of words
    configure release $release_options
    compile release htw
}

verb_demo() {
    if [ "${1:-}" = serve ]; then
        need "$serve_demo_packages"
        # shellcheck disable=SC2086 # a list of words
        configure_all release $release_options
        compile release htw htw-serve
        HTW_BUILD=$PWD/build/release "$python" -B tests/serve/demo.py
        return
    fi
    if [ "${1:-}" = relay ]; then
        need "$build_packages $relay_packages python3 kcat"
        configure relay -Dbuildtype=release -Dtests=false -Dexamples=false -Drelay=enabled
        ninja -C build/relay --quiet htw-relay
        # shellcheck disable=SC2086 # the compiler may be two words
        ${CC:-cc} -o build/relay/mock programs/relay/tests/mock.c -lrdkafka
        python3 programs/relay/tests/demo.py build/relay/htw-relay build/relay/mock
        return
    fi
    [ $# -eq 0 ] || fail "demo: no such demo: $1"
    need "$demo_packages"
    build_command
    compile release libhtw.a
    demo_library
    sh tests/cmd/demo.sh build/release/htw
}

# A program that uses the library: of two timers one runs, and one is cancelled.
demo_library() {
    echo 'examples/hello.c arms two timers of the library. One runs after 50 ms, and the other is cancelled:'
    echo
    # shellcheck disable=SC2086 # the compiler may be two words
    ${CC:-cc} -std=c11 -Iinclude -o build/release/hello examples/hello.c build/release/libhtw.a -pthread
    sed -n '/^int main/,/^}/p' examples/hello.c
    echo
    build/release/hello
    echo
}

# Fetches a Kafka once, into the folder $kafka.
fetch_kafka() {
    kafka=build/kafka/${HTW_KAFKA_VERSION:-3}
    python3 programs/relay/tests/kafka/cluster.py fetch "$kafka" "${HTW_KAFKA_VERSION:-3}"
}

verb_pictures() {
    need "$build_packages python3 gnuplot-nox"
    build_command
    mkdir -p docs/pictures
    python3 tools/pictures.py build/release/htw docs/pictures
}

verb_amalgamate() {
    need python3
    folder=$(absolute "${1:-$PWD/build/amalgamated}")
    python3 tools/amalgamate.py . "$folder"
    say "wrote htw.h, htw.c, htw_wheel.h and htw_wheel.c to $folder"
}

# same FILE FILE: both are there, and are one.
same() {
    [ -e "$1" ] && [ -e "$2" ] && [ "$(readlink -f "$1")" = "$(readlink -f "$2")" ]
}

# path_line VARIABLE FOLDER: the line that puts the folder in front, unless it is in the variable.
path_line() {
    case ":$(printenv "$1" || true):" in
    *":$2:"*) return 0 ;;
    esac
    # shellcheck disable=SC2016 # for the reader's shell
    printf 'export %s="%s${%s:+:$%s}"\n' "$1" \
        "$(printf '%s' "$2" | sed 's/[\\"$`]/\\&/g')" "$1" "$1"
}

# The lines that pkg-config, the loader, CMake and the shell need to find what is in PREFIX; none
# where they find it without.
verb_environment() {
    [ $# -eq 1 ] || fail 'environment: of which PREFIX?'
    prefix=$(absolute "$1")
    for file in "$prefix"/lib/pkgconfig/htw.pc "$prefix"/lib64/pkgconfig/htw.pc \
        "$prefix"/lib/*/pkgconfig/htw.pc; do
        [ ! -e "$file" ] || break
    done
    [ -e "$file" ] || fail "environment: htw is not installed in $prefix"
    libdir=${file%/pkgconfig/htw.pc}
    same "$(pkg-config --variable=pcfiledir htw 2>/dev/null || true)/htw.pc" "$file" ||
        path_line PKG_CONFIG_PATH "$libdir/pkgconfig"
    library=$libdir/$(readlink "$libdir/libhtw.so" || true) # the name that programs ask for
    same "$(PATH=$PATH:/sbin:/usr/sbin ldconfig -p 2>/dev/null |
        awk -v name="${library##*/}" '$1 == name { print $NF; exit }' || true)" "$library" ||
        path_line LD_LIBRARY_PATH "$libdir"
    case $prefix in
    /usr | /usr/local) ;;
    *) path_line CMAKE_PREFIX_PATH "$prefix" ;;
    esac
    [ ! -e "$prefix/bin/htw" ] || same "$(command -v htw || true)" "$prefix/bin/htw" ||
        path_line PATH "$prefix/bin"
}

verb_install() {
    prefix=$(absolute "${1:-/usr/local}")
    folder=$prefix
    while [ ! -e "$folder" ]; do
        folder=$(dirname "$folder")
    done
    [ -w "$folder" ] || fail "cannot write to $folder: be root, or name another PREFIX"
    need_all
    # Where Debian's loader and pkg-config search. Meson asks dpkg-architecture, which a new system lacks.
    multiarch=
    ! command -v dpkg-query >/dev/null 2>&1 || multiarch=$(gcc -print-multiarch 2>/dev/null || true)
    configure_all install -Dbuildtype=release -Dtests=false -Dexamples=false -Ddocs=auto --prefix "$prefix" \
        ${multiarch:+--libdir "lib/$multiarch"}
    compile install
    meson install -C build/install --no-rebuild --quiet
    # Without this the loader does not see a library that is new.
    [ "$(id -u)" != 0 ] || PATH=$PATH:/sbin:/usr/sbin ldconfig
    say "installed to $prefix"
    lines=$(verb_environment "$prefix")
    [ -z "$lines" ] || printf 'To find it there, a shell needs these lines:\n%s\n' "$lines"
    cat build/install/left-out
}
