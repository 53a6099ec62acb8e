# SPDX-License-Identifier: MIT
"""Describes the extensions to cffi: htw._native, which is native/shim.c and the library,
htw._calendar_native, native/calendar.c and the library's calendar, and the same for the journal.

The library is compiled into the extension, so that the package needs nothing else at run time. In
the repository its sources come from ../../, and are copied to csrc/; a source distribution has
csrc/. With HTW_PYTHON_SYSTEM=1 in the environment the extension is linked with the installed
library that pkg-config finds: for distributions, which package the library themselves.

The calendar needs cctz (or, when linked, libhtw-calendar), and is left out where that is missing;
HTW_PYTHON_CALENDAR=1 in the environment demands it, HTW_PYTHON_CALENDAR=0 leaves it out. So it is with
the journal, SQLite, libhtw-journal and HTW_PYTHON_JOURNAL.
"""
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys

import cffi

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
BUNDLE = HERE / "csrc"
SYSTEM = os.environ.get("HTW_PYTHON_SYSTEM", "") not in ("", "0")


def in_repository():
    """Whether this is the repository, and not a source distribution."""
    return (REPOSITORY / "include/htw/htw.h").exists() and (REPOSITORY / "meson.build").exists()


def library_sources():
    lines = (REPOSITORY / "src/sources.txt").read_text().splitlines()
    return [f"src/{name}" for name in lines if not name.startswith("#")]


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


def bundle():
    """In the repository: makes csrc/ what the library is now."""
    if not in_repository():
        return
    sys.path.insert(0, str(REPOSITORY / "tools"))
    from amalgamate import find_xxhash
    wanted = {"xxhash.h": find_xxhash()}
    patterns = {source.split("/")[1]: "*.h" for source in library_sources()} | dict.fromkeys(OPTIONAL, "*.[ch]*")
    for folder, pattern in patterns.items():
        for file in (REPOSITORY / "src" / folder).rglob(pattern):
            wanted[str(file.relative_to(REPOSITORY))] = file
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


def pkg_config(option, package):
    return shlex.split(subprocess.run(["pkg-config", option, package], check=True,
                                      stdout=subprocess.PIPE, text=True).stdout)


def linked(package):
    """The arguments of setuptools.Extension, for one that is linked with an installed library."""
    return {"include_dirs": ["native"],
            "extra_compile_args": ["-D_GNU_SOURCE", *pkg_config("--cflags", package)],
            "extra_link_args": pkg_config("--libs", package)}


def compiled(sources, *options):
    """The same for one into which sources of csrc/ are compiled."""
    return {
        "sources": sorted(str(path.relative_to(HERE)) for path in sources),
        "include_dirs": ["native", "csrc/include", "csrc"],
        "extra_compile_args": ["-D_GNU_SOURCE", "-DHTW_ANNOTATE=1", "-DPY_BUNDLED", "-fexceptions",
                               "-pthread", "-fvisibility=hidden"],
        # Its own functions are called, also where the process has another libhtw.
        "extra_link_args": ["-pthread", "-Wl,-Bsymbolic", *options],
    }


# What each optional part needs: a program that shows whether it is there, and how that is compiled.
OPTIONAL = {
    "calendar": ("#include <cctz/time_zone.h>\nint main() { cctz::utc_time_zone(); }\n",
                 "c++", ["-lcctz", "-lstdc++"]),
    "journal": ("#include <sqlite3.h>\n#if SQLITE_VERSION_NUMBER < 3031000\n#error too old\n#endif\n"
                "int main(void) { return sqlite3_libversion_number() == 0; }\n", "c", ["-lsqlite3"]),
}


def has(part):
    """Whether what the calendar or the journal needs is there."""
    wanted = os.environ.get(f"HTW_PYTHON_{part.upper()}", "")
    if wanted == "0":
        return False
    program, language, libraries = OPTIONAL[part]
    if SYSTEM:
        test = ["pkg-config", "--exists", f"htw-{part}"]
    else:
        test = [*shlex.split(os.environ.get("CC", "cc")), "-x", language, "-o", os.devnull, "-",
                *libraries]
    found = subprocess.run(test, input=program, capture_output=True, text=True)
    if found.returncode != 0 and wanted:
        raise SystemExit(f"build_native.py: the {part} cannot be built:\n{found.stderr}")
    return found.returncode == 0


def preprocessed(header, flags):
    """What the preprocessor makes of a public header, with all macros, as pairs of a file and a line."""
    command = [*shlex.split(os.environ.get("CC", "cc")), "-E", "-dD", "-DHTW_API=HTW_API", *flags, "-"]
    text = subprocess.run(command, input=f"#include <htw/{header}>\n", check=True, capture_output=True, text=True).stdout
    file = ""
    for line in text.splitlines():
        marker = re.match(r'# \d+ "(.*)"', line)
        if marker:
            file = marker[1]
        else:
            yield file, line


def declarations(headers, flags):
    """What cffi reads of public headers: their types and functions, and the macros that are integers."""
    lines = []
    for header in headers:
        lines += [line for file, line in preprocessed(header, flags) if file.endswith(f"/htw/{header}")]
    numbers = [re.match(r"#define (HTW_[A-Z]\w*) ([\w() +*<|-]+)$", line) for line in lines]
    macros = [f"#define {number[1]} ...\n" for number in numbers if number and "__" not in number[2]]
    text = "\n".join(line for line in lines if not line.startswith("#"))
    text = re.sub(r"\bHTW_API\b|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", "", text)
    text = re.sub(r"\bstatic inline ([^{;]*) \{\n.*?\n\}", r"\1;", text, flags=re.DOTALL)
    return "".join(macros) + text


def functions_of(shim):
    """The same of a file of native/: its functions that Python calls, and those of Python that it declares."""
    found = re.findall(r"^static ([^=;{}#]*?\bpy_\w+\([^;{}]*\))( \{|;)", shim, re.MULTILINE)
    return "".join(('' if end == " {" else 'extern "Python" ') + function + ";\n" for function, end in found)


def describe(name, headers, shim, arguments, base=None):
    """An extension: the interface of public headers and of a file of native/, over that of another extension."""
    text = (HERE / "native" / shim).read_text()
    flags = [f"-I{HERE / folder}" for folder in arguments["include_dirs"]] + arguments["extra_compile_args"]
    ffi = cffi.FFI()
    if base is not None:
        ffi.include(base)
    ffi.cdef(declarations(headers, flags) + functions_of(text))
    files = [*(HERE / "native").glob("*.h"), *BUNDLE.rglob("*.h")]
    ffi.set_source(name, text, depends=sorted(str(path.relative_to(HERE)) for path in files), **arguments)
    return ffi


# The headers of libhtw that Python uses, each after those that it includes.
LIBRARY = [f"{name}.h" for name in ("base", "backoff", "scheduler_options", "scheduler", "timer", "group", "loop", "observe", "scope")]


def describe_native():
    others = {path for part in OPTIONAL for path in BUNDLE.rglob(f"{part}/**/*")}
    return describe("htw._native", LIBRARY, "shim.c",
                    linked("htw") if SYSTEM else compiled(set(BUNDLE.rglob("*.c")) - others))


def describe_calendar():
    return describe("htw._calendar_native", ("calendar.h",), "calendar.c",
                    linked("htw-calendar") if SYSTEM else
                    compiled(BUNDLE.rglob("calendar/*.c*"), *OPTIONAL["calendar"][2]), describe_native())


# What the sources of the journal use of libhtw, as its shared library. Their state of the process is the log function, which
# nothing here sets.
JOURNAL_USES = ("base/alloc", "base/annotate", "base/backoff", "base/base", "base/clock", "base/fork",
                "base/heap", "base/key_table", "base/lock", "base/log", "base/random", "base/user_code",
                "observe/distribution", "observe/metrics", "port/alloc_system", "port/posix", "port/system_linux")


def describe_journal():
    used = {BUNDLE / f"src/{name}.c" for name in JOURNAL_USES}
    return describe("htw._journal_native", ("journal.h", "journal_inspect.h", "journal_guest.h"), "journal.c",
                    linked("htw-journal") if SYSTEM else
                    compiled(used.union(BUNDLE.rglob("journal/**/*.c")), *OPTIONAL["journal"][2]), describe_native())
