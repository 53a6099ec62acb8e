#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes htw as two files, to be copied into any project: htw.h and htw.c, which are libhtw; and htw_wheel.h and htw_wheel.c, which
are the wheel alone.

usage: amalgamate.py ROOT FOLDER [DEPFILE]

A header is the public headers of its form with those that they include. A source is the files of src/sources.txt that are
needed, with the private headers that they include, and xxhash.h, which the compiler (CC) finds. What is private becomes static. A name by which several files call
something of their own gets the names of its folder and file in front.
DEPFILE receives the names of all files that were used, for make or ninja.
"""

import collections
import os
import pathlib
import re
import shlex
import subprocess
import sys

# The wheel has an allocator of its own by default.
WHEEL_ALLOCATOR = "src/port/alloc_malloc.c"

INCLUDE = re.compile(r'^ *#include (?:"([^"]+)"|<([^>]+)>)(?: */\*.*\*/)?\n', re.MULTILINE)
# What other files use: functions and constants that are neither static nor public.
SHARED = re.compile(r"^(?:HTW__SHARED )?(?:extern )?(?!static\b|typedef\b|struct \w+;)"
                    r"((?:(?:HTW__NOINLINE|HTW__NO_CANARY|_Noreturn|_Atomic|_Thread_local|__attribute__\(\(\w+\)\)) )*"
                    r"[a-z][\w *]*\n?\bhtw__\w+(?:\(|\[| =|;|\s+__attribute__))", re.MULTILINE)
NOT_STATIC = re.compile(r'\s+__attribute__\(\(visibility\("hidden"\)\)\)|^HTW__SHARED extern .*\[\];\n', re.MULTILINE) # what may not be
# What a file has as its own: functions and variables, macros, enumerators, tags and types.
OWN = re.compile(r"""^(?:static\b[^;={(]*?\b(\w+)\s*[(\[=;] | \#define\ (\w+) | \ {4}((?!HTW)[A-Z]\w+)(?:,|\ =) | (?:struct|enum|union)\ (\w+)\ {
                      | typedef\ [^;]*?(\w+)(?:\)\([^;]*)?; | enum\ {\ (\w+))""", re.MULTILINE | re.VERBOSE)
HEADERS_OF_C_IN_HEADER = {"stddef.h", "stdint.h", "stdbool.h"}

USAGE = """\
 * Copy {0}.h and {0}.c into your project, and compile {0}.c with it ({1}).
 * #include "{0}.h" where you use it, from C or C++. All functions are described there.
"""

XXHASH_USAGE = """\
 * It contains xxHash, which is under the BSD-2-Clause licence at its head.
"""

XXHASH_INCLUDE = "#include <xxhash.h>\n"

LIBRARY_CONFIGURATION = """\
/*
 * Nothing needs to be defined. HTW_API stands before each function, as in htw_wheel.h; HTW_CHECK_LEVEL 1 or 2, for htw.c alone,
 * checks what the library and its caller do. Compile htw.c with -fexceptions if callbacks may throw or end their thread.
 */
#ifndef HTW_API
#define HTW_API
#endif
"""

SYSTEM = """\
#if defined(__linux__) && !defined(HTW_PORTABLE)
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#else
#undef HTW_PORTABLE
#define HTW_PORTABLE 1
#if defined(__linux__) && !defined(_POSIX_C_SOURCE)
#define _POSIX_C_SOURCE 200809L
#endif
#endif
#if !defined(_TIME_BITS) && !defined(_FILE_OFFSET_BITS) /* where times would have 32 bits */
#define _TIME_BITS 64
#define _FILE_OFFSET_BITS 64
#endif
#ifndef HTW_ANNOTATE
#define HTW_ANNOTATE 1
#endif
#ifdef __GNUC__ /* some private functions are there for libraries above this one */
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
"""

WHEEL_CONFIGURATION = """\
/*
 * Nothing needs to be defined. What may be, alike for all files that include this header:
 *
 *   HTW_FREESTANDING  Of the C library only memcpy(), memmove() and memset() are needed: there is no
 *                     htw_wheel_dump(), and no default allocator. `-ffreestanding` implies it.
 *   HTW_API           Stands before each function. For one source file that includes htw_wheel.c
 *                     itself: `#define HTW_API static`. Otherwise nothing, so that the compiler's
 *                     -fvisibility decides what a shared library of yours exports.
 *
 * And for htw_wheel.c alone:
 *
 *   HTW_MALLOC(size), HTW_FREE(memory)
 *                     are used in place of malloc() and free(); any alignment will do. An allocator
 *                     in the options of a wheel goes before them.
 *   HTW_CHECK_LEVEL   1: assertions that cost a comparison; they find timers that were freed,
 *                     overwritten or initialised while pending, and wheels used after their end.
 *                     2: checks the whole wheel after each step.
 *   HTW_NO_BUILTINS   Plain C in place of what gcc and clang have built in; other compilers get it
 *                     anyway.
 */
#if defined(__STDC_HOSTED__) && __STDC_HOSTED__ == 0 && !defined(HTW_FREESTANDING)
#define HTW_FREESTANDING
#endif
#ifndef HTW_API
#define HTW_API
#endif
"""

WHEEL_C_LIBRARY = """\
/* A freestanding compiler may have neither of these headers. */
#if !defined(HTW_FREESTANDING)
#include <errno.h>
#include <string.h>
#else
#if defined(__has_include)
#if __has_include(<errno.h>)
#include <errno.h>
#endif
#endif
#ifndef EINVAL
#define EINVAL 22
#endif
#ifndef ENOMEM
#define ENOMEM 12
#endif
#ifndef EIO
#define EIO 5
#endif
void *memcpy(void *to, const void *from, size_t size);
#endif
"""
HEADERS_OF_C_IN_SOURCE = {"errno.h", "string.h"}


def fail(message):
    sys.exit(f"amalgamate: {message}")


def find_xxhash():
    """The header of xxHash, of which all is compiled in: the compiler says where it is."""
    command = [*shlex.split(os.environ.get("CC", "cc")), *shlex.split(os.environ.get("CPPFLAGS", "")), "-E", "-"]
    run = subprocess.run(command, input=XXHASH_INCLUDE, capture_output=True, text=True)
    found = re.search(r'^# \d+ "([^"]*xxhash\.h)"', run.stdout, re.MULTILINE)
    if run.returncode != 0 or found is None:
        fail("xxhash.h is missing (Debian: libxxhash-dev)")
    return pathlib.Path(found[1])


class Tree:
    """The files of the project, and what they include."""

    def __init__(self, root):
        self.root = root
        self.texts = {}
        lines = (root / "src/sources.txt").read_text().splitlines()
        self.sources = [root / "src" / line for line in lines if not line.startswith("#")]

    def text(self, path):
        if path not in self.texts:
            self.texts[path] = path.read_text()
        return self.texts[path]

    def project_includes(self, path):
        for quoted, angled in INCLUDE.findall(self.text(path)):
            if quoted:
                yield (path.parent / quoted).resolve()
            elif angled.startswith("htw/"):
                yield self.root / "include" / angled

    def add_headers(self, path, headers):
        """Adds the headers that a file includes to `headers`, each after those that it includes."""
        for header in self.project_includes(path):
            if header not in headers:
                self.add_headers(header, headers)
                headers.append(header)


def own_names(text):
    text = re.sub(r"/\*.*?\*/|__attribute__\(\((?:[^()]|\([^()]*\))*\)\)", "", text, flags=re.DOTALL)
    return {name for groups in OWN.findall(text) for name in groups if name}


def part(tree, path, dropped_headers, shared_names=()):
    """A file, without the first line, which is about its licence, and what the result has elsewhere."""

    def keep(match):
        quoted, angled = match.groups()
        return "" if quoted or angled.startswith("htw/") or angled in dropped_headers else match.group(0)

    licence, _, text = tree.text(path).partition("\n")
    if "SPDX-License-Identifier: MIT" not in licence:
        fail(f"{path} does not begin with its licence")
    name = str(path.relative_to(tree.root))
    text = re.sub(r"\n{3,}", "\n\n", INCLUDE.sub(keep, text)).strip()
    for shared in own_names(text) & set(shared_names):
        text = re.sub(rf"(?<![\w.>]){shared}\b", f"{path.parent.name}_{path.stem}_{shared}", text)
    return f"/* {'=' * max(4, 90 - len(name))} {name} */\n\n{text}\n"


def head(name, what, usage, tree, version, terms="MIT"):
    licence = "".join(f" * {line}".rstrip() + "\n" for line in tree.text(tree.root / "LICENSE").splitlines())
    return (f"/* SPDX-License-Identifier: {terms} */\n/*\n * {name} - {what}; htw {version}.\n *\n{usage} *\n"
            f" * Generated from the sources of htw: change those, not this file.\n *\n{licence} */\n")


def public_headers(tree, names):
    public = []
    for header in (tree.root / "include/htw" / name for name in names):
        tree.add_headers(header, public)
        public.append(header)
    return public


def wheel_sources(tree, public):
    """The wheel, what the other public headers declare, and beside each private header what it declares."""
    names = {header.stem for header in public}
    sources = sorted(source for source in tree.sources if source.parent.name == "wheel" or source.stem in names)
    for source in sources: # grows while it is walked
        headers = []
        tree.add_headers(source, headers)
        for beside in (header.with_suffix(".c") for header in headers):
            if beside in tree.sources and beside not in sources:
                sources.append(beside)
    sources.append(tree.root / WHEEL_ALLOCATOR)
    return sorted(sources, key=lambda path: (path.parent, path.name != "wheel.c", path.name))


def amalgamate(tree, name, standard, public, sources, configuration, before, after):
    private = []
    for source in sources:
        headers = []
        tree.add_headers(source, headers)
        private += [header for header in headers if header not in public and header not in private]
    for header in private:
        if tree.root / "include" in header.parents:
            fail(f"{header} is needed, which {name}.h does not include")

    version = re.search(r'^#define HTW_VERSION "(.+)"', "".join(map(tree.text, public)), re.MULTILINE)
    if version is None:
        fail("no header defines HTW_VERSION")
    usage = USAGE.format(name, standard)
    header = "\n".join([head(f"{name}.h", "hierarchical timing wheels", usage, tree, version.group(1)), configuration] +
                       [part(tree, path, set()) for path in public])
    count = collections.Counter(own for source in sources for own in own_names(tree.text(source)))
    shared = {own for own, files in count.items() if files > 1}
    body = "\n".join(part(tree, path, HEADERS_OF_C_IN_HEADER | HEADERS_OF_C_IN_SOURCE, shared if path in sources else ())
                     for path in private + sources)
    terms = "MIT"
    body = SHARED.sub(r"static \1", NOT_STATIC.sub("", body))
    if XXHASH_INCLUDE in body:
        terms = "MIT AND BSD-2-Clause"
        usage += XXHASH_USAGE
        body = body.replace(XXHASH_INCLUDE, tree.text(find_xxhash()))
    source = "\n".join([head(f"{name}.c", f"the functions of {name}.h", usage, tree, version.group(1), terms), before,
                        f'#include "{name}.h"\n', after, body])
    return {f"{name}.h": header, f"{name}.c": source}


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: amalgamate.py ROOT FOLDER [DEPFILE]")
    tree = Tree(pathlib.Path(sys.argv[1]).resolve())
    public = public_headers(tree, ["wheel.h", "wheel_inspect.h"])
    files = amalgamate(tree, "htw_wheel", "C99 or later", public, wheel_sources(tree, public), WHEEL_CONFIGURATION,
                       "#define HTW__WHEEL_ALONE\n", WHEEL_C_LIBRARY)
    files |= amalgamate(tree, "htw", "C11 or later, with POSIX threads", public_headers(tree, ["htw.h"]), tree.sources,
                        LIBRARY_CONFIGURATION, SYSTEM, "#include <errno.h>\n#include <string.h>\n")
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text() != text: # else nothing is built again
            path.write_text(text)
    if len(sys.argv) == 4:
        names = " ".join(str(path).replace(" ", "\\ ") for path in sorted(tree.texts))
        pathlib.Path(sys.argv[3]).write_text(f"{' '.join(files)}: {names}\n")


if __name__ == "__main__":
    main()
