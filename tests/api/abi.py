#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Compares the binary interface of the libraries with the one in tests/api/abi/, as docs/abi.md says.

libhtw.abi and the like are what abidw says of the exported functions and the types that they reach;
constants.txt has the values of enumerators and macros, which programs hold, too.

usage: abi.py ROOT BUILD FOLDER              what differs; FOLDER receives the descriptions
       abi.py ROOT BUILD FOLDER --accept     takes the interface as it is
"""

import os
import pathlib
import re
import shutil
import subprocess
import sys

# Neither lines nor paths of this machine, nor what the headers do not show.
ABIDW = ["abidw", "--drop-private-types", "--exported-interfaces-only", "--no-show-locs",
         "--no-corpus-path", "--no-comp-dir-path", "--no-elf-needed", "--no-write-default-sizes",
         "--type-id-style", "hash"]
# Where each library is in the folder of the build, and what its interface holds in any case.
LIBRARIES = {
    "libhtw": ("libhtw.so", ["htw_scheduler_create", "htw_spec"]),
    "libhtw-calendar": ("libhtw-calendar.so", ["htw_calendar_next", "htw_calendar_spec"]),
    "libhtw-journal": ("libhtw-journal.so", ["htw_journal_open", "htw_journal_options"]),
    "libhtw-monitor": ("libhtw-monitor.so", ["htw_monitor_open", "htw_monitor_options"]),
}
INCLUDES = "".join(f"#include <htw/{name}.h>\n" for name in ["calendar", "htw", "journal", "monitor"])
NO_CONSTANT = re.compile(r"HTW_VERSION.*|HTW_\w+_(H|HPP|INIT)|HTW_API|HTW_WARN_UNUSED")


def describe(root, library, known, file):
    subprocess.run([*ABIDW, "--headers-dir", root / "include/htw", "--out-file", file, library], check=True)
    text = file.read_text()
    # Which source file has a function is no part of the interface, but the folder of the build is
    # no part of anything.
    text = re.sub(r"(<abi-instr [^>]*path=')(?:\.\./)*", r"\1", text)
    if not all(f"name='{name}'" in text for name in known):
        sys.exit(f"{library}: abidw finds no interface; is it built with -g?")
    file.write_text(text)


def constants(root, folder, file):
    """All enumerators, and all macros with a number, of the C headers."""
    compiler = [os.environ.get("CC", "gcc"), "-std=c11", f"-I{root / 'include'}"]
    source = folder / "constants.c"
    source.write_text(INCLUDES)

    def preprocess(option):
        return subprocess.run([*compiler, "-E", option, source], check=True, text=True,
                              stdout=subprocess.PIPE).stdout

    # After the preprocessor only enumerators have such names.
    names = set(re.findall(r"\bHTW_\w+\b", preprocess("-P")))
    names |= set(re.findall(r"^#define (HTW_\w+) \S", preprocess("-dM"), re.MULTILINE))
    names = sorted(name for name in names if not NO_CONSTANT.fullmatch(name))
    prints = "".join(f'    printf("%s %lld\\n", "{name}", (long long)({name}));\n' for name in names)
    source.write_text(f"{INCLUDES}#include <stdio.h>\n\nint main(void) {{\n{prints}}}\n")
    program = folder / "constants"
    subprocess.run([*compiler, "-w", source, "-o", program], check=True)
    with file.open("w") as out:
        subprocess.run([program], check=True, stdout=out)


def main():
    root, build, folder = (pathlib.Path(name).resolve() for name in sys.argv[1:4])
    accept = sys.argv[4:] == ["--accept"]
    if sys.argv[4:] and not accept:
        sys.exit(f"abi: not understood: {' '.join(sys.argv[4:])}")
    accepted = root / "tests/api/abi"
    compared = []
    for name, (file, known) in LIBRARIES.items():
        describe(root, build / file, known, folder / f"{name}.abi")
        compared.append((f"{name}.abi", ["abidiff"]))
    constants(root, folder, folder / "constants.txt")
    compared.append(("constants.txt", ["diff", "-U0"]))
    # All are always compared.
    differs = [name for name, command in compared
               if subprocess.run([*command, accepted / name, folder / name], check=False).returncode != 0]
    if not accept:
        print("The binary interface has changed. If that is meant, and docs/abi.md allows it: "
              "./dev abi --accept" if differs else "the interface is as accepted")
        return 1 if differs else 0
    version = re.search(r'#define HTW_VERSION "(.*)"', (root / "include/htw/base.h").read_text())[1]
    if differs and not version.endswith(".0~dev"):
        sys.exit(f"abi: {version} has the interface of the release before it. Begin another minor "
                 "version first: ./dev version NEW")
    for name, _ in compared: # what abidiff passes over, such as private names, too
        shutil.copy(folder / name, accepted / name)
    print(f"accepted: {', '.join(differs) or 'nothing that a program sees has changed'}")
    return 0


sys.exit(main())
