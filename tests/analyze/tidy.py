#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Writes a file for ninja that runs clang-tidy on each source file of a build, and again only where
the file, a header of it or the list of checks has changed.

usage: tidy.py BUILD CHECKS > FILE; ninja -C BUILD -f FILE

BUILD is a folder of Meson, whose generated sources are there. Its compiler is gcc, so options that clang does not know are left
out. CHECKS changes those of .clang-tidy; it may be empty.
"""

import json
import pathlib
import re
import shlex
import sys

CONFIGURATIONS = [".clang-tidy", "programs/.clang-tidy"]


def options(command):
    """Those that say what a file means: where headers are, macros, the language."""
    kept = []
    words = iter(shlex.split(command))
    for word in words:
        if re.match(r"-(I|D|std=|isystem.)", word):
            kept.append(word)
        elif word in ("-include", "-isystem"):
            kept += [word, next(words)]
    return kept


def escaped(path):
    return re.sub(r"([ :$])", r"$\1", str(path))


def main():
    build = pathlib.Path(sys.argv[1]).resolve()
    checks = shlex.quote("--checks=" + sys.argv[2]) if sys.argv[2] else ""
    root = pathlib.Path(__file__).resolve().parents[2]
    print(f"builddir = {escaped(build / 'tidy')}\n"
          "rule tidy\n"
          "  command = clang -MM -MF $out.d -MT $out $options $source && clang-tidy --quiet --warnings-as-errors='*' "
          + checks + " $source -- $options 2>$out.log && touch $out || { cat $out.log && false; }\n"
          "  depfile = $out.d\n"
          "  deps = gcc\n"
          "  description = clang-tidy $in")
    for entry in json.loads((build / "compile_commands.json").read_text()):
        mark = build / "tidy" / (entry["output"] + ".tidy")
        print(f"build {escaped(mark)}: tidy |" + "".join(f" {escaped(root / name)}" for name in CONFIGURATIONS))
        print("  source = " + shlex.quote(str((build / entry["file"]).resolve())).replace("$", "$$"))
        print("  options = " + shlex.join(options(entry["command"])).replace("$", "$$"))


if __name__ == "__main__":
    main()
