# SPDX-License-Identifier: MIT
# shellcheck shell=sh
# package.sh - the manual, packages, archives and releases. Part of ../../dev.

help_package() {
    cat <<'END'
  docs [--check]    build the manual: build/docs/html/index.html and build/docs/man; --check: pages, links, code and figures
  package [--quick] build the Debian packages, check them with lintian, and use them in a clean root; --quick: no HTML.
                    DEB_BUILD_OPTIONS= runs the tests in the build, too
  dist              pack the sources of the last commit (build/dist), test what was packed, and list what it uses (SPDX)
  reproducible      build twice in different folders, and compare each byte, also of the packages
  release           whether this commit can be tagged and released. Publishes nothing
  recipes [--quick] use the library by the recipes of packaging/ and by Bazel: vcpkg's functions are played, Nix and Homebrew only read;
                    --quick: vcpkg and Conan
  version [NEW]     print the version; with NEW (1.2.3 or 1.2.3~dev), write it wherever it stands
END
}

# The manual is built by Meson, in build/docs.
verb_docs() {
    case ${1:-} in
    '' | --check) ;;
    *) fail "docs: no such option: $1" ;;
    esac
    need "$docs_packages"
    configure docs -Dbuildtype=plain -Dhardening=false -Dtests=false -Dexamples=false -Dcalendar=enabled -Djournal=enabled \
        -Dmonitor=enabled -Drelay=enabled -Dtop=enabled -Ddocs=true
    compile docs
    if [ "${1:-}" = --check ]; then
        "$python" tests/docs/check.py . build/docs
    fi
    say "the manual is $PWD/build/docs/html/index.html; man -M $PWD/build/docs/man htw"
}

# Tags of lintian that concern an upload to Debian alone: there is no bug that asks for the package, its
# tarball holds debian/ as well, where the sources come from is not written down, and the manual is in no package of its own.
lintian_exceptions=initial-upload-closes-no-bugs,no-debian-changes,debian-watch-file-is-missing
lintian_exceptions=$lintian_exceptions,no-homepage-field,arch-dep-package-has-big-usr-share

# make_packages FOLDER KIND [EXCEPT]...: builds the packages of a kind of dpkg-buildpackage, and tests them, except by those
# tests.
make_packages() {
    need "$deb_packages"
    folder=$1
    kind=$2
    shift 2
    rm -rf "$folder"
    tarball=$(packaging/tarball.sh "$folder")
    say 'building the Debian packages'
    packaging/deb.sh "$tarball" "$folder" "--build=$kind"
    say 'lintian'
    lintian --allow-root --pedantic --display-info --suppress-tags "$lintian_exceptions" \
        --fail-on error,warning,info "$folder"/*.changes
    say 'tests in a clean root'
    tests/packaging/clean_root.sh "$folder" . "$@"
    say "the packages are in $PWD/$folder"
}

verb_package() {
    case ${1:-} in
    '') make_packages build/package full ;;
    --quick) # for CI: nobody debugs these
        export DEB_BUILD_OPTIONS='nocheck nodoc noautodbgsym' DEB_CFLAGS_STRIP=-g DEB_CXXFLAGS_STRIP=-g XZ_OPT=-0
        make_packages build/package-quick binary manual
        ;;
    *) fail "package: no such option: $1" ;;
    esac
}

verb_dist() {
    need "$dist_packages"
    [ -e .git ] || fail 'dist: packs a commit, and this is no git repository'
    configure dist -Dtests=false -Dexamples=false
    rm -rf build/dist/meson-dist build/dist/unpacked
    meson dist -C build/dist --no-tests
    mkdir build/dist/unpacked
    tar -xf build/dist/meson-dist/htw-*.tar.xz -C build/dist/unpacked --strip-components=1
    build/dist/unpacked/dev test
    for tarball in build/dist/meson-dist/htw-*.tar.xz; do
        python3 tools/sbom.py build/dist/unpacked/build/test "$tarball" >"${tarball%.tar.xz}.spdx.json"
    done
    say "the tarball, and a list of what it uses (SPDX), are in $PWD/build/dist/meson-dist"
}

verb_reproducible() {
    need "$deb_packages"
    rm -rf build/reproducible
    tarball=$(packaging/tarball.sh build/reproducible)
    tests/packaging/reproducible.sh "$tarball" build/reproducible/builds
}

# Their tools, in build/recipes: Conan is of PyPI, and the one Bazel that needs no other network is of npm.
verb_recipes() {
    need 'cmake python3-venv'
    tools='vcpkg conan'
    place=$PWD/build/recipes
    [ -x "$place/bin/conan" ] || { /usr/bin/python3 -m venv "$place" && "$place/bin/pip" --quiet install 'conan>=2,<3'; }
    if [ "${1:-}" != --quick ]; then
        need "$recipe_packages"
        command -v npm >/dev/null || need npm
        [ -x "$place/bin/bazel" ] || (
            cd "$place" || exit 1
            tar -xzf "$(npm pack --silent @bazel/bazel-linux_x64@2.1.0)"
            mv package/bazel-* bin/bazel
            chmod +x bin/bazel
        )
        tools="$tools bazel nix ruby"
    fi
    # shellcheck disable=SC2086 # a list of words
    PATH=$place/bin:$PATH sh tests/packaging/recipes.sh . $tools
}

verb_version() {
    need python3
    [ $# -le 1 ] || fail "version: one version, not $*"
    python3 tests/api/version.py . "$@"
}

# All checks run, also in a state between releases, so that what is missing shows early. Verbs are called as commands: a
# function that stands before || does not stop where something in it fails.
verb_release() {
    need "$test_packages $docs_packages git"
    version=$(sed -n "s/^  version: '\(.*\)',\$/\1/p" meson.build)
    home=$(sed -n "s/^home = '\(.*\)'\$/\1/p" meson.build)
    wrong=
    lacks() {
        wrong="$wrong
  - $*"
    }
    clean=$(git status --porcelain) || fail 'release: this is no git checkout'
    [ -z "$clean" ] || lacks 'a clean tree: what is not committed is not released'
    case $version in
    *~dev) lacks "a version without ~dev: ./dev version ${version%~dev}, and commit it" ;;
    esac
    tagged=$(git rev-parse -q --verify "refs/tags/v$version^{commit}" 2>/dev/null || true)
    [ -z "$tagged" ] || [ "$tagged" = "$(git rev-parse HEAD)" ] ||
        lacks "a version of its own: the tag v$version is on another commit"
    [ -z "$home" ] || ! grep -rq '//htw\.invalid' packaging || lacks "the address $home in packaging/: homebrew, oss-fuzz"
    [ -z "$home" ] || grep -qFx "Homepage: $home" debian/control || lacks "the address $home as Homepage in debian/control"
    for check in version abi 'docs --check' dist package reproducible; do
        # shellcheck disable=SC2086 # a verb and its option
        ./dev $check || lacks "./dev $check"
    done
    [ -n "$home" ] || say "the project has no public address yet: 'home' in meson.build, 'Homepage:' in debian/control"
    [ -z "$wrong" ] || fail "release: $version cannot be released yet; it lacks:$wrong"
    say "$version can be released: tag it v$version; the archive is in build/dist/meson-dist, the packages in build/package, the manual in build/docs"
}
