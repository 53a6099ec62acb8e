# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# bindings.sh - the packages for Python and Rust. Part of ../../dev.

help_bindings() {
    cat <<'END'
  python [TEST]...  build and test the Python package (build/python)
  python package    build its source distribution and from that its wheel; test the wheel, and the
                    package linked with an installed library
  python bench      measure it beside asyncio
  rust [TEST]...    build and test the Rust crates (build/rust), with Debian's cargo and crates, without
                    a network; CARGO: another cargo, with crates from where that has them
  rust bindings     make the declarations of the C functions again
  rust valgrind [TEST]...
                    the tests of the crates under memcheck
  rust package      make the two packages, and test what they hold, also with an installed library
  rust bench        measure the wheel beside tokio-util's DelayQueue
END
}

# build_python NAME: in build/NAME.
build_python() {
    mkdir -p build
    (cd bindings/python &&
        "$python" -W ignore setup.py --quiet build --build-base="../../build/$1" \
            --build-lib="../../build/$1/lib") >"build/$1.log" 2>&1 ||
        { cat "build/$1.log" >&2 && fail "the Python package cannot be built"; }
}

# test_python INTERPRETER [ARG]...: with the package that the interpreter finds; ends with a count.
test_python() {
    interpreter=$1
    shift
    [ $# -gt 0 ] || set -- bindings/python/tests
    "$interpreter" -B -m pytest --quiet -c bindings/python/pyproject.toml "$@"
}

python_package() {
    need "$python_package_packages"
    place=$PWD/build/python-package
    rm -rf "$place" build/python-linked
    mkdir -p "$place"
    say 'source distribution'
    (cd bindings/python && "$python" -W ignore setup.py --quiet egg_info --egg-base="$place" \
        sdist --dist-dir="$place/dist") >"$place/log" 2>&1 ||
        { cat "$place/log" >&2 && fail "no source distribution"; }
    say 'wheel, from that'
    "$python" -m pip --quiet --disable-pip-version-check --no-cache-dir wheel \
        --no-build-isolation \
        --no-deps --no-index --wheel-dir "$place/dist" "$place"/dist/htw-*.tar.gz
    ls "$place/dist"
    say 'tests of the wheel'
    "$python" -m venv --system-site-packages "$place/venv"
    "$place/venv/bin/pip" --quiet --disable-pip-version-check install --no-index --no-deps \
        "$place"/dist/htw-*.whl
    test_python "$place/venv/bin/python" "$@"
    say 'tests with an installed library'
    configure python-system -Dbuildtype=release -Dtests=false -Dexamples=false \
        --prefix "$place/prefix" --libdir lib >/dev/null
    compile python-system
    meson install -C build/python-system --no-rebuild --quiet
    export PKG_CONFIG_PATH="$place/prefix/lib/pkgconfig" LD_LIBRARY_PATH="$place/prefix/lib"
    HTW_PYTHON_SYSTEM=1 build_python python-linked
    readelf -d build/python-linked/lib/htw/_native*.so | grep 'NEEDED.*libhtw' ||
        fail "the package is not linked with the library"
    PYTHONPATH=$PWD/build/python-linked/lib test_python "$python" "$@"
}

# The tests run with the library's assertions.
verb_python() {
    case ${1:-} in
    package)
        shift
        python_package "$@"
        ;;
    bench)
        need "$python_packages"
        build_python python-bench
        PYTHONPATH=$PWD/build/python-bench/lib "$python" bindings/python/bench/compare.py
        ;;
    *)
        need "$python_packages"
        CFLAGS="${CFLAGS:-} -DHTW_CHECK_LEVEL=1" build_python python
        (cd bindings/python && mypy --cache-dir=../../build/python/mypy)
        PYTHONPATH=$PWD/build/python/lib test_python "$python" "$@"
        ;;
    esac
}

# use_cargo TARGET [REGISTRY]: sets CARGO, to build in build/TARGET. On Debian it is Debian's own, the oldest
# that is supported, with the crates of Debian or of a folder. There is no Cargo.lock: each cargo resolves anew.
use_cargo() {
    export CARGO_TARGET_DIR="$PWD/build/$1"
    registry=${2:-/usr/share/cargo/registry}
    if [ -z "${CARGO:-}" ] && [ -x /usr/bin/cargo ] && [ -d "$registry" ]; then
        export CARGO=/usr/bin/cargo RUSTC=/usr/bin/rustc RUSTDOC=/usr/bin/rustdoc PATH="/usr/bin:$PATH"
        export CARGO_HOME="$CARGO_TARGET_DIR/home"
        mkdir -p "$CARGO_HOME"
        printf '[source.crates-io]\nreplace-with = "%s"\n[source.folder]\ndirectory = "%s"\n' \
            folder "$registry" >"$CARGO_HOME/config.toml"
    fi
    export CARGO="${CARGO:-cargo}"
    rm -f bindings/rust/Cargo.lock bindings/rust/bench/Cargo.lock
}

in_rust() {
    (cd bindings/rust && "$CARGO" "$@")
}

rust_package() {
    need "$rust_package_packages"
    place=$PWD/build/rust-package
    rm -rf "$place"
    mkdir -p "$place/registry"
    configure rust-system -Dbuildtype=release -Dtests=false -Dexamples=false \
        --prefix "$place/prefix" --libdir lib >/dev/null
    compile rust-system
    meson install -C build/rust-system --no-rebuild --quiet
    unset CARGO
    use_cargo rust-package/target "$place/registry"
    bindings/rust/package.sh "$place" "$place/prefix"
}

# On one processor, as the other benchmarks.
rust_bench() {
    need "$rust_bench_packages"
    use_cargo rust-bench
    (cd bindings/rust/bench && "$CARGO" build --quiet --release)
    taskset -c "$(($(nproc) - 1))" build/rust-bench/release/htw-bench
}

# The declarations are those of the headers, and the compiler lays out each struct as C does.
check_bindings() {
    mkdir -p build/rust
    bindings/rust/htw-sys/generate.sh >build/rust/bindings.rs
    diff -u bindings/rust/htw-sys/src/bindings.rs build/rust/bindings.rs ||
        fail 'the headers have changed: ./dev rust bindings'
    bindings/rust/htw-sys/generate.sh --layout-tests >build/rust/layout.rs
    "${RUSTC:-rustc}" --edition 2021 --test -A warnings -o build/rust/layout build/rust/layout.rs
    build/rust/layout --quiet
}

# The library is compiled in, with its assertions.
rust_test() {
    use_cargo rust
    export CFLAGS="${CFLAGS:-} -DHTW_CHECK_LEVEL=1"
    if [ $# -gt 0 ]; then
        in_rust test --workspace --features htw/vendored,htw/calendar,htw/journal "$@"
        return
    fi
    check_bindings
    in_rust fmt --check
    in_rust clippy --quiet --workspace --all-targets --features htw/vendored,htw/calendar,htw/journal -- -D warnings
    RUSTDOCFLAGS=-Dwarnings in_rust doc --quiet --workspace --no-deps --features htw/vendored,htw/calendar,htw/journal
    in_rust test --quiet --workspace --features htw/vendored,htw/calendar,htw/journal
}

verb_rust() {
    case ${1:-} in
    bindings)
        need "$rust_test_packages"
        mkdir -p build/rust
        bindings/rust/htw-sys/generate.sh >build/rust/bindings.rs
        mv build/rust/bindings.rs bindings/rust/htw-sys/src
        ;;
    valgrind)
        shift
        need "$rust_test_packages valgrind"
        export HTW_HISTORIES=2
        rust_test --tests --config "target.'cfg(unix)'.runner = [
            'valgrind', '--quiet', '--error-exitcode=1', '--leak-check=full', '--suppressions=$PWD/packaging/debug/valgrind.supp']" "$@"
        ;;
    package) rust_package ;;
    bench) rust_bench ;;
    *)
        need "$rust_test_packages"
        rust_test "$@"
        ;;
    esac
}
