# SPDX-License-Identifier: MIT
"""Describes the extension htw._native to cffi: native/shim.c, and the library.

The library is compiled into the extension, so that the package needs nothing else at run time. In
the repository its sources come from ../../, and are copied to csrc/; a source distribution has
csrc/. With HTW_PYTHON_SYSTEM=1 in the environment the extension is linked with the installed
library that pkg-config finds: for distributions, which package the library themselves.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess

import cffi

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
BUNDLE = HERE / "csrc"
SYSTEM = os.environ.get("HTW_PYTHON_SYSTEM", "") not in ("", "0")


def in_repository():
    """Whether this is the repository, and not a source distribution."""
    return (REPOSITORY / "include/htw/htw.h").exists() and (REPOSITORY / "meson.build").exists()


def library_sources():
    """The sources of the library for Linux, with the default allocator, as meson.build lists them."""
    text = (REPOSITORY / "meson.build").read_text()
    sources = []
    for name in ("core_sources", "linux_sources", "linux_allocator"):
        files = re.search(rf"^{name} = files\((.*?)^\)", text, re.DOTALL | re.MULTILINE)
        if files is None:
            raise SystemExit(f"build_native.py: meson.build has no list {name} = files(...)")
        sources += re.findall(r"'(src/[\w/]+\.c)'", files[1])
    return sources


def version():
    """The version of the library, as Python writes versions: 0.2.0~dev is 0.2.0.dev0."""
    if in_repository():
        text = (REPOSITORY / "meson.build").read_text()
        found = re.search(r"^ +version: '([^']+)'", text, re.MULTILINE)[1]
        text = re.sub(r"[~-]?dev$", ".dev0", found) + "\n"
        if not (HERE / "VERSION").exists() or (HERE / "VERSION").read_text() != text:
            (HERE / "VERSION").write_text(text)
    return (HERE / "VERSION").read_text().strip()


def copy(source, target):
    if not target.exists() or target.read_bytes() != source.read_bytes():
        target.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, target)


def find_xxhash():
    """The header of xxHash, of which all is compiled in: the compiler says where it is."""
    compiler = shlex.split(os.environ.get("CC", "cc"))
    run = subprocess.run([*compiler, *shlex.split(os.environ.get("CPPFLAGS", "")), "-E", "-"],
                         input="#include <xxhash.h>\n", capture_output=True, text=True)
    found = re.search(r'^# \d+ "([^"]*xxhash\.h)"', run.stdout, re.MULTILINE)
    if run.returncode != 0 or found is None:
        raise SystemExit("build_native.py: xxhash.h is missing (Debian: libxxhash-dev)")
    return pathlib.Path(found[1])


def bundle():
    """In the repository: makes csrc/ what the library is now."""
    if not in_repository():
        return
    wanted = {"xxhash.h": find_xxhash()}
    for folder in ("base", "wheel", "scheduler", "purgatory"):
        for header in (REPOSITORY / "src" / folder).glob("*.h"):
            wanted[f"src/{folder}/{header.name}"] = header
    for header in (REPOSITORY / "include/htw").glob("*.h"):
        wanted[f"include/htw/{header.name}"] = header
    for source in library_sources():
        wanted[source] = REPOSITORY / source
    for file in [path for path in BUNDLE.rglob("*") if path.is_file()]:
        if str(file.relative_to(BUNDLE)) not in wanted:
            file.unlink()
    for name, source in wanted.items():
        copy(source, BUNDLE / name)
    # The licences of all that is in the extension go into the wheel.
    copy(REPOSITORY / "LICENSE", HERE / "LICENSE")
    terms = re.match(r"\s*/\*.*?\*/", (BUNDLE / "xxhash.h").read_text(), re.DOTALL)
    (HERE / "LICENSE.xxhash").write_text(terms[0] + "\n")


def pkg_config(option):
    return shlex.split(subprocess.run(["pkg-config", option, "htw"], check=True,
                                      stdout=subprocess.PIPE, text=True).stdout)


def extension():
    """The arguments of setuptools.Extension."""
    if SYSTEM:
        return {"extra_compile_args": ["-std=c11", "-D_GNU_SOURCE", *pkg_config("--cflags")],
                "extra_link_args": pkg_config("--libs")}
    sources = sorted(str(path.relative_to(HERE)) for path in BUNDLE.rglob("*.c"))
    return {
        "sources": sources,
        "include_dirs": ["csrc/include", "csrc"],
        "extra_compile_args": ["-std=c11", "-D_GNU_SOURCE", "-DHTW_ANNOTATE=1", "-fexceptions",
                               "-pthread", "-fvisibility=hidden"],
        # Its own functions are called, also where the process has another libhtw.
        "extra_link_args": ["-pthread", "-Wl,-Bsymbolic"],
    }


ffi = cffi.FFI()
ffi.cdef((HERE / "native/interface.h").read_text())
ffi.set_source("htw._native", (HERE / "native/shim.c").read_text(), **extension())
