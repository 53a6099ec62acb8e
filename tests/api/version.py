#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The version of meson.build stands everywhere.

usage: version.py ROOT          fails where another one stands
       version.py ROOT NEW      writes NEW everywhere; CHANGELOG.md gets its heading, and the files of
                                Debian's package of the library its name
"""

import datetime
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])


def part(index):
    return lambda version: re.split("[.~]", version)[index]


def first_node(version):
    """Of the release that began the SONAME: until 1.0 the minor version, then the major one."""
    major, minor = version.split(".")[:2]
    return f"0.{minor}" if major == "0" else f"{major}.0"


def soversion(version):
    major, minor = version.split(".")[:2]
    return f"0.{minor}" if major == "0" else major


def release_of(version):
    """Without what says that it is not released yet."""
    return version.partition("~")[0]


def semantic(version):
    """As Cargo writes it."""
    return version.replace("~", "-")


# The files, how the version stands there (the only group; it may stand there several times), and what is written there
# for a version.
SOURCE = ("meson.build", r"^project\('htw', 'c',\n  version: '([^']*)'", str)
PLACES = [
    SOURCE,
    ("include/htw/base.h", r'^#define HTW_VERSION "(.*)"$', str),
    ("include/htw/base.h", r"^#define HTW_VERSION_MAJOR (.*)$", part(0)),
    ("include/htw/base.h", r"^#define HTW_VERSION_MINOR (.*)$", part(1)),
    ("include/htw/base.h", r"^#define HTW_VERSION_PATCH (.*)$", part(2)),
    ("src/libhtw*.map", r"^HTW_(?!PRIVATE)(?:[A-Z]+_)?(\S+) {$", first_node),
    ("src/libhtw.map", r"^HTW_PRIVATE_(\S+) {$", release_of),
    ("debian/changelog", r"\Ahtw \((.*)-\d+\)", str),
    ("debian/control", r"^(?:Package:)? libhtw(?:-[a-z]+)?(\d\S*)", soversion),
    ("debian/libhtw*[0-9].install", r"\.so\.(.*)\*$", soversion),
    ("debian/libhtw*[0-9].symbols", r"^\S+\.so\.(\S+) ", soversion),
    ("debian/libhtw*[0-9].symbols", r"^\S+ libhtw(?:-[a-z]+)?(\S+) #", soversion),
    ("debian/libhtw*[0-9].symbols", r"^ \(symver\)HTW_(?!PRIVATE)(?:[A-Z]+_)?(\S+) ", first_node),
    ("debian/libhtw0.*.symbols", r"^ \(symver\)HTW_PRIVATE_(\S+) ", release_of),
    ("debian/libhtw*[0-9].symbols", r"^ \(symver\)\S+ (\S+)~$", lambda version: first_node(version) + ".0"),
    ("tests/api/consumer/CMakeLists.txt", r"^find_package\(htw (\S+) CONFIG", soversion),
    ("docs/install.md", r"(?:^revision = |GIT_TAG )v([\d.]+)", release_of),
    ("MODULE.bazel", r'^module\(name = "htw", version = "(.*)"\)$', release_of),
    ("packaging/homebrew/htw.rb", r'^  url .* tag: "v(.*)"$', release_of),
    ("packaging/vcpkg/htw/vcpkg.json", r'^  "version": "(.*)",$', release_of),
    ("bindings/rust/Cargo.toml", r'^version = "(.*)"$', semantic),
    ("bindings/rust/Cargo.toml", r'^htw-sys = .* version = "(.*)" }$', semantic),
]
HEADING = re.compile(r"^## .*$", re.MULTILINE)


def library_files():
    """The files of Debian's packages of libraries have their names: htw 0.2.0 is in libhtw0.2."""
    return root.glob("debian/libhtw*[0-9].*")


def named_for(path, version):
    return re.sub(r"^(libhtw(?:-[a-z]+)?)[\d.]+\.", rf"\g<1>{soversion(version)}.", path.name)


def find(files, pattern):
    """Where the version stands: each of these files has it."""
    for path in list(root.glob(files)) or sys.exit(f"no such file: {files}"):
        found = list(re.finditer(pattern, path.read_text(), re.MULTILINE))
        if not found:
            sys.exit(f"{path}: no version stands where it is expected: {pattern}")
        yield from ((path, one) for one in reversed(found))


def is_heading_of(heading, version):
    """A release has a date that is not to come; what is not released has none."""
    if version.endswith("~dev"):
        return heading == f"## Unreleased ({version.split('~')[0]})"
    dated = re.fullmatch(rf"## {re.escape(version)} \((\d{{4}}-\d\d-\d\d)\)", heading)
    try:
        return dated is not None and datetime.date.fromisoformat(dated[1]) <= datetime.date.today()
    except ValueError:
        return False


def write(version):
    if re.fullmatch(r"\d+\.\d+\.\d+(~dev)?", version) is None:
        sys.exit(f"not a version as 1.2.3 or 1.2.3~dev: {version}")
    for name, pattern, form in PLACES:
        for path, found in find(name, pattern):
            text = path.read_text()
            path.write_text(text[:found.start(1)] + form(version) + text[found.end(1):])
    for path in library_files():
        path.rename(path.with_name(named_for(path, version)))
    changelog = root / "CHANGELOG.md"
    text = changelog.read_text()
    first = HEADING.search(text)
    if is_heading_of(first[0], version):
        return
    heading = f"## Unreleased ({version.split('~')[0]})" if version.endswith("~dev") \
        else f"## {version} ({datetime.date.today()})"
    # What was not released gets another name; what was, stays, and a section begins above it.
    end = first.end() if first[0].startswith("## Unreleased") else first.start()
    changelog.write_text(text[:first.start()] + heading + ("" if end > first.start() else "\n\n") +
                         text[end:])


def check():
    version = next(find(*SOURCE[:2]))[1][1]
    errors = []
    for name, pattern, form in PLACES:
        errors += [f"{path}: {found[1]!r} stands where {form(version)!r} belongs"
                   for path, found in find(name, pattern) if found[1] != form(version)]
    for path in library_files():
        if path.name != named_for(path, version):
            errors.append(f"debian/{path.name}: {named_for(path, version)} belongs there")
    changelog = (root / "CHANGELOG.md").read_text()
    heading = HEADING.search(changelog)[0]
    if not is_heading_of(heading, version):
        errors.append(f"CHANGELOG.md begins with {heading!r}, which is not the heading of {version}")
    if not version.endswith("~dev") and not HEADING.split(changelog)[1].strip():
        errors.append(f"CHANGELOG.md says nothing of {version}")
    print("\n".join(errors + ["./dev version NEW writes all places"] if errors else [version]))
    return 1 if errors else 0


if len(sys.argv) > 2:
    write(sys.argv[2])
sys.exit(check())
