#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails where a file includes what its folder must not use, or where files include or call each other in a circle.

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
          "purgatory": {"purgatory"}, "cmd": {"htw", "calendar", "journal", "monitor"}, "monitor": {"monitor", "journal"}, "calendar": {"calendar"}, "journal": {"journal"},
          "relay": {"calendar"}}
# What docs/architecture.md explains: includes that go past the public header, and circles (each by
# one of its files).
INSIDE = {"cmd": "relay"}
PRIVATE = {"src/purgatory/state.h": "src/scheduler/steady.h",
           "src/relay/recurrence.c": "src/cmd/duration.h",
           "src/cmd/journal/file.c": "src/journal/schema.h", "src/cmd/journal/jobs.c": "src/journal/place.h",
           "src/cmd/journal/numbers.c": "src/journal/place.h",
           "src/cmd/listen.h": "src/monitor/place.h"}
EXPLAINED = {"src/scheduler/expirer"}
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

# Calls tie the files of one folder. A header may declare the functions of several files, so calls show circles that
# includes hide. What an inline function of a header calls counts for each file that uses it.
FUNCTION = re.compile(r"^(?![ \t#}]|static\b(?! inline)|typedef\b)[^;={}()]*?\b(htw_\w+)\([^;{}]*\{(.*?)^\}", re.M | re.S)
NO_CODE = re.compile(r"""/\*.*?\*/|//[^\n]*|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'""", re.S)


def led_to(start, graph):
    """All that the graph leads to, with what it starts from."""
    found, new = set(), set(start)
    while new:
        found |= new
        new = set().union(*(graph.get(one, ()) for one in new)) - found
    return found


def names_in(code):
    return set(re.findall(r"\bhtw_\w+", code))


calls = {}
for folder in {path.parent for path in (root / "src").rglob("*.c")}:
    code = {path: NO_CODE.sub(" ", path.read_text()) for path in folder.iterdir() if path.suffix in (".c", ".cc", ".h")}
    sources = code.keys() - {path for path in code if path.suffix == ".h"}
    home = {name: path for path in sources for name, _ in FUNCTION.findall(code[path])}
    inline = {name: names_in(body) for path in code.keys() - sources for name, body in FUNCTION.findall(code[path])}
    calls |= {path: {home[name] for name in led_to(names_in(code[path]), inline) & home.keys()} - {path} for path in sources}
for what, graph in [("includes", uses), ("calls", calls)]:
    far = {file: led_to(graph[file], graph) for file in graph}
    for circle in {frozenset(one for one in far[file] if file in far.get(one, ())) for file in far if file in far[file]}:
        names = sorted(str(file.relative_to(root).with_suffix("")) for file in circle)
        if not EXPLAINED & set(names):
            errors.append(f"a circle of {what}: " + " ".join(names))

print("\n".join(sorted(errors)) or "layering: every include is allowed, and every circle is explained")
sys.exit(1 if errors else 0)
