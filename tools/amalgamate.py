#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes the wheel as two files, htw_wheel.h and htw_wheel.c, to be copied into any project.

usage: amalgamate.py ROOT FOLDER [DEPFILE]

The header is include/htw/wheel.h and wheel_inspect.h with the public headers that they include. The source is every file of the wheel in
src/sources.txt, with the private headers that it includes and the sources beside these. What is private becomes static.
DEPFILE receives the names of all files that were used, for make or ninja.
"""

import pathlib
import re
import sys

PUBLIC = ["wheel.h", "wheel_inspect.h"]
# This file defines the default allocator, in place of the one that the library has.
ALLOCATOR = "src/port/alloc_malloc.c"

INCLUDE = re.compile(r'^ *#include (?:"([^"]+)"|<([^>]+)>)\n', re.MULTILINE)
# What other files use: functions and constants that are neither static nor public.
SHARED = re.compile(r"^(?:HTW__SHARED )?(?:extern )?(?!static\b|typedef\b)((?:HTW__(?:NOINLINE|NO_CANARY) )*[a-z][\w *]*\bhtw__\w+(?:\(| =|;))", re.MULTILINE)
HEADERS_OF_C_IN_HEADER = {"stddef.h", "stdint.h", "stdbool.h"}

USAGE = """\
 * Copy htw_wheel.h and htw_wheel.c into your project, and compile htw_wheel.c with it (C99 or later).
 * #include "htw_wheel.h" where you use it, from C or C++. All functions are described there.
"""

CONFIGURATION = """\
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

C_LIBRARY = """\
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


def part(tree, path, dropped_headers):
    """A file, without the first line, which is about its licence, and what the result has elsewhere."""

    def keep(match):
        quoted, angled = match.groups()
        return "" if quoted or angled.startswith("htw/") or angled in dropped_headers else match.group(0)

    licence, _, text = tree.text(path).partition("\n")
    if "SPDX-License-Identifier: MIT" not in licence:
        fail(f"{path} does not begin with its licence")
    name = str(path.relative_to(tree.root))
    text = re.sub(r"\n{3,}", "\n\n", INCLUDE.sub(keep, text)).strip()
    return f"/* {'=' * max(4, 90 - len(name))} {name} */\n\n{text}\n"


def head(name, what, tree, version):
    licence = "".join(f" * {line}".rstrip() + "\n" for line in tree.text(tree.root / "LICENSE").splitlines())
    return (f"/* SPDX-License-Identifier: MIT */\n/*\n * {name} - {what}; htw {version}.\n *\n{USAGE} *\n"
            f" * Generated from the sources of htw: change those, not this file.\n *\n{licence} */\n")


def amalgamate(root):
    tree = Tree(root)
    public = []
    for header in (root / "include/htw" / name for name in PUBLIC):
        tree.add_headers(header, public)
        public.append(header)
    # The wheel, what the other public headers declare, and beside each private header what it declares.
    names = {header.stem for header in public}
    sources = sorted(source for source in tree.sources if source.parent.name == "wheel" or source.stem in names)
    private = []
    for source in sources: # grows while it is walked
        headers = []
        tree.add_headers(source, headers)
        for header in headers:
            if header in public or header in private:
                continue
            if root / "include" in header.parents:
                fail(f"{source} needs {header}, which {PUBLIC} do not include")
            private.append(header)
            beside = header.with_suffix(".c")
            if beside in tree.sources and beside not in sources:
                sources.append(beside)
    sources.append(root / ALLOCATOR)
    sources.sort(key=lambda path: (path.parent, path.name != "wheel.c", path.name))

    version = re.search(r'^#define HTW_VERSION "(.+)"', "".join(map(tree.text, public)), re.MULTILINE)
    if version is None:
        fail("no header defines HTW_VERSION")
    header = "\n".join(
        [head("htw_wheel.h", "a hierarchical timing wheel", tree, version.group(1)), CONFIGURATION] +
        [part(tree, path, set()) for path in public])
    body = "\n".join(part(tree, path, HEADERS_OF_C_IN_HEADER | HEADERS_OF_C_IN_SOURCE)
                     for path in private + sources)
    source = "\n".join(
        [head("htw_wheel.c", "the functions of htw_wheel.h", tree, version.group(1)),
         '#include "htw_wheel.h"\n', C_LIBRARY, SHARED.sub(r"static \1", body)])
    return {"htw_wheel.h": header, "htw_wheel.c": source}, sorted(tree.texts)


def main():
    if len(sys.argv) not in (3, 4):
        sys.exit("usage: amalgamate.py ROOT FOLDER [DEPFILE]")
    files, used = amalgamate(pathlib.Path(sys.argv[1]).resolve())
    folder = pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text() != text: # else nothing is built again
            path.write_text(text)
    if len(sys.argv) == 4:
        names = " ".join(str(path).replace(" ", "\\ ") for path in used)
        pathlib.Path(sys.argv[3]).write_text(f"{' '.join(files)}: {names}\n")


if __name__ == "__main__":
    main()
