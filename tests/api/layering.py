#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails where a file includes what its folder must not use, or where files include each other in a circle.

usage: layering.py ROOT
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
# Each folder of src/ may include itself and base, and the public headers of those before it.
ORDER = ["base", "wheel", "scheduler", "purgatory", "cmd"]
# Libraries of their own, each above one of these, which no other folder includes.
OWN = {"calendar": "scheduler", "journal": "scheduler", "monitor": "purgatory", "relay": "wheel"}
PUBLIC = {"base": {"base", "backoff"}, "wheel": {"wheel"}, "scheduler": {"scheduler"},
          "purgatory": {"purgatory"}, "cmd": {"htw", "calendar", "journal", "monitor"}, "monitor": {"monitor"}, "calendar": {"calendar"}, "journal": {"journal"},
          "relay": {"calendar"}}
# What docs/architecture.md explains: includes that go past the public header, and circles (each by
# one of its files).
INSIDE = {"cmd": "relay"}
PRIVATE = {"src/purgatory/state.h": "src/scheduler/steady.h", "src/cmd/draw/picture.c": "src/wheel/lists.h",
           "src/relay/recurrence.c": "src/cmd/duration.h",
           "src/cmd/journal/file.c": "src/journal/schema.h",
           "src/cmd/relay/listen.c": "src/monitor/place.h",
           "src/cmd/replay/record.c": "src/wheel/state.h"}
EXPLAINED = {"src/purgatory/check", "examples/broker/src/client"}
errors = []
uses = {}  # by file without its suffix: the files of the project that it includes, likewise


def node_of(path):
    """A source file and its header are one; htw.hpp and htw.h are not."""
    return path if path.suffix == ".hpp" else path.with_suffix("")


def folder_of(path):
    return path.relative_to(root / "src").parts[0]


for path in sorted(path for top in ["src", "include", "benchmarks", "examples"]
                   for ending in ["*.[ch]", "*.cc", "*.[ch]pp"] for path in (root / top).rglob(ending)):
    own = uses.setdefault(node_of(path), set())
    text = path.read_text()
    inside = root / "src" in path.parents
    folder = folder_of(path) if inside else None
    allowed = ([*ORDER, *OWN] if not inside else
               [*ORDER[:ORDER.index(OWN.get(folder, folder)) + 1], folder])
    headers = set().union(*(PUBLIC[folder] for folder in allowed))
    for name in re.findall(r"#include <htw/(\w+)\.h>", text):
        if inside and name not in headers:
            errors.append(f"{path.relative_to(root)} includes <htw/{name}.h>")
    if root / "include" in path.parents:
        own.update(node_of(root / "include" / name)
                   for name in re.findall(r"#include <(htw/[\w/]+\.h(?:pp)?)>", text))
    if path.suffix in (".c", ".h"):
        errors += [f"{path.relative_to(root)} is C, and includes <{name}>"
                   for name in re.findall(r"#include <(htw/[\w/]+\.hpp)>", text)]
    for name in re.findall(r'#include "([^"]+)"', text):
        target = (path.parent / name).resolve()
        if root / "src" in target.parents and not (
                inside and folder_of(target) in ("base", folder_of(path), INSIDE.get(folder)) or
                PRIVATE.get(str(path.relative_to(root))) == str(target.relative_to(root))):
            errors.append(f"{path.relative_to(root)} includes {target.relative_to(root)}")
        if target.with_suffix("") != path.with_suffix(""):
            own.add(target.with_suffix(""))

reach = {file: set(used) for file, used in uses.items()}
while any(not reach[far] <= reach[file] for file in reach for far in reach[file] & reach.keys()):
    for file in reach:
        reach[file] |= set().union(*(reach[far] for far in reach[file] & reach.keys()))
circle_of = {file: frozenset(far for far in reach[file] if file in reach.get(far, ()))
             for file in reach if file in reach[file]}
for circle in sorted(set(circle_of.values()), key=sorted):
    names = sorted(str(file.relative_to(root)) for file in circle)
    if not EXPLAINED & set(names):
        errors.append("a circle: " + " ".join(names))

print("\n".join(errors) or "layering: every include is allowed, and every circle is explained")
sys.exit(1 if errors else 0)
