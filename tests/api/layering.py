#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Reads the #include lines of the tree and fails where a file includes what it may not.

usage: layering.py ROOT
"""

import pathlib
import re
import sys

# What the files of a layer may include of the project, by the layer's name.
LEAVES = {
    "check": {"check"},
    "alloc": {"alloc", "base"},
    "backoff": {"backoff"},
    "alloc_system": {"alloc"},
    "alloc_jemalloc": {"alloc_jemalloc", "alloc"},
    "annotate": set(),
    "list": {"list", "base"},
    "heap": {"heap", "alloc", "check"},
    "bitmap": {"bitmap"},
    "clock": {"clock"},
    "alarm": {"alarm"},
    "divisor": set(),
    "fork": {"fork"},
    "lock": {"lock", "annotate"},
    "slab": {"slab", "alloc", "annotate", "check"},
    "counter": {"counter"},
    "histogram": {"histogram", "counter", "check"},
    "key_table": {"key_table", "alloc", "check"},
    "cells": {"cells", "alloc", "check", "list"},
    "version": {"base"},
}
BUCKET = {"bucket", "list", "base"}
DELAY_QUEUE = {"delay_queue", "heap", "bitmap", "alloc", "check"}
WHEEL = {"wheel", "wheel_state", "wheel_lists", "alloc", "base"} | BUCKET | DELAY_QUEUE
LAYERS = {
    **LEAVES,
    "bucket": BUCKET,
    "delay_queue": DELAY_QUEUE,
    "wheel": WHEEL,
    "wheel_state": WHEEL,
    "wheel_lists": WHEEL,
    "wheel_poll": WHEEL,
    "wheel_inspect": WHEEL,
    "wheel_dump": WHEEL,
}
# A file of the scheduler may include the others, the leaves, and public headers.
SCHEDULER = {"alarm", "alloc", "annotate", "check", "clock", "counter", "divisor",
             "fork", "histogram", "key_table", "list", "lock", "slab"}
# So may one of the purgatory; of the scheduler it sees the public header, and one more.
PURGATORY = {"alloc", "annotate", "cells", "check", "fork", "heap", "key_table", "list", "lock"}
COMMAND = {"clock", "histogram", "check"}
PUBLIC = {"base": set(), "backoff": {"base"}, "wheel": {"base"},
          "scheduler": {"wheel"}, "purgatory": {"scheduler"},
          "htw": {"base", "backoff", "purgatory", "scheduler", "wheel"}}
# Benchmarks on real threads and real time: what each may include that is not its own.
REAL_TIME_BENCHMARKS = {
    "broker": {"../random.h"},
    "scheduler": {"../random.h"},
    "purgatory": {"../random.h", *(f"../scheduler/{name}.h" for name in
                                   ("clock", "histogram", "machine", "report", "thread"))},
}

INCLUDE = re.compile(r'^\s*#\s*include\s*(?:"([^"]+)"|<(htw/[^>]+)>)')


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            name = match.group(1) or match.group(2)
            yield number, name, pathlib.PurePath(name).stem


def breaches(root):
    for path in sorted((root / "include/htw").glob("*.h")):
        for number, name, stem in includes(path):
            if stem not in PUBLIC.get(path.stem, ()):
                yield f"{path}:{number}: a public header may not include {name}"
    for path in sorted((root / "src").glob("*.[ch]")):
        if path.stem not in LAYERS:
            yield f"{path}:1: not assigned to a layer in tests/api/layering.py"
            continue
        for number, name, stem in includes(path):
            if stem not in LAYERS[path.stem]:
                yield f"{path}:{number}: {path.stem} may not include {name}"
    for layer, leaves, others in (("scheduler", SCHEDULER, ()),
                                  ("purgatory", PURGATORY, ("../scheduler/steady.h",))):
        own = {path.stem for path in (root / "src" / layer).glob("*.h")}
        for path in sorted((root / "src" / layer).glob("*.[ch]")):
            for number, name, stem in includes(path):
                if not (name.startswith("htw/") or name.startswith("../") and stem in leaves
                        or stem in own or name in others):
                    yield f"{path}:{number}: the {layer} may not include {name}"
    own = {path.stem for path in (root / "src/cmd").glob("*.h")}
    for path in sorted((root / "src/cmd").glob("*.[ch]")):
        for number, name, stem in includes(path):
            if not (name.startswith("htw/") or stem in own or stem in COMMAND):
                yield f"{path}:{number}: the command may not include {name}"
    for path in sorted((root / "benchmarks").glob("*.[ch]*")):
        for number, name, _ in includes(path):
            if not (name.startswith("htw/") or (root / "benchmarks" / name).exists()):
                yield f"{path}:{number}: a benchmark may not include {name}"
    for part, others in REAL_TIME_BENCHMARKS.items():
        folder = root / "benchmarks" / part
        for path in sorted(folder.glob("*.[ch]")):
            for number, name, _ in includes(path):
                if not (name.startswith("htw/") or name in others
                        or "/" not in name and (folder / name).exists()):
                    yield f"{path}:{number}: a benchmark may not include {name}"


def main():
    found = list(breaches(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "layering: every include is allowed")
    return 1 if found else 0


sys.exit(main())
