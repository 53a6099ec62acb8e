#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Fails where a file includes what its folder does not use, where a layer calls one above it, or where files include or call each other
in a circle.

The meson.build of each folder of src/ and programs/ begins with what the folder uses: other folders (of src/, or from the root), or single headers of these. Of
base, and of a folder without a public header, it may include all headers, of others the public one, and that of the folder around it. A line `# circle: FILE` there
names one of the files of a circle that is meant, a line `# up: FUNCTION` a call upwards.

usage: layering.py ROOT
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1]).resolve()
src, programs = root / "src", root / "programs"
errors = []
uses = {}  # by file without its suffix: the files of the project that it includes, likewise
explained = set()  # a file of each circle that may be


def node_of(path):
    """A source file and its header are one; htw.hpp and htw.h are not."""
    return path if path.suffix == ".hpp" else path.with_suffix("")


def says(folder, what):
    """The words of a line of the folder's meson.build."""
    found = re.search(rf"^# {what}: (.*)$", (folder / "meson.build").read_text(), re.MULTILINE)
    return re.split(r",? ", found.group(1)) if found else []


def public(folder):
    return root / f"include/htw/{folder.name}.h" if folder.parent == src else folder / "none"


def folders_of(name):
    """The folders to which a public header belongs: htw.h has those of all that it includes."""
    if (src / name).is_dir():
        return {src / name}
    sources = {path.parent for path in src.glob(f"*/{name}.c")}
    return sources or set().union(*map(folders_of, re.findall(r"#include <htw/(\w+)\.h>", (root / f"include/htw/{name}.h").read_text())))


def check_folder(folder):
    """The includes of its files are those that it says, and what it says is included."""
    said, used = {(root if name.startswith(("programs/", "benchmarks/")) else src) / name for name in says(folder, "uses")} - {src / "nothing"}, set()
    for path in [*folder.glob("*.[ch]*"), public(folder)]:
        text = path.read_text() if path.exists() else ""
        for name in re.findall(r"#include <htw/(\w+)\.h>", text):
            used |= folders_of(name) - {folder, folder.parent}
            if not folders_of(name) <= said | {folder, folder.parent}:
                errors.append(f"{path.relative_to(root)} includes <htw/{name}.h>")
        for target in ((folder / name).resolve() for name in re.findall(r'#include "([^"]+)"', text)):
            where = target if target in said else target.parent
            if where != folder:
                used.add(where)
                if where not in said or (where.name != "base" and where != target and public(where).exists()):
                    errors.append(f"{path.relative_to(root)} includes {target.relative_to(root)}")
    errors.extend(f"{folder.relative_to(root)}/meson.build: nothing of {one.relative_to(root)} is included" for one in said - used)
    explained.update(folder / name for name in says(folder, "circle"))


for folder in {path.parent for top in (src, programs) for path in top.rglob("*.[ch]") if "tests" not in path.relative_to(root).parts}:
    check_folder(folder)
for path in sorted(path for top in ["src", "programs", "include", "bindings/cpp", "benchmarks", "examples"]
                   for ending in ["*.[ch]", "*.cc", "*.[ch]pp"] for path in (root / top).rglob(ending) if "tests" not in path.relative_to(root).parts):
    own = uses.setdefault(node_of(path), set())
    text = path.read_text()
    if {root / "include", root / "bindings/cpp"} & set(path.parents):
        own.update(node_of(root / ("bindings/cpp" if name.endswith("pp") else "include") / name)
                   for name in re.findall(r"#include <(htw/[\w/]+\.h(?:pp)?)>", text))
    if path.suffix in (".c", ".h"):
        errors += [f"{path.relative_to(root)} is C, and includes <{name}>"
                   for name in re.findall(r"#include <(htw/[\w/]+\.hpp)>", text)]
    for name in re.findall(r'#include "([^"]+)"', text):
        target = (path.parent / name).resolve()
        if {src, programs} & set(target.parents) and not {src, programs} & set(path.parents):
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


def called_in(code):
    return set(re.findall(r"(?<!struct )\b(htw_\w+)\(", code))


calls, homes, codes = {}, {}, {}
for folder in {path.parent for top in (src, programs) for path in top.rglob("*.c") if "tests" not in path.relative_to(root).parts}:
    code = {path: NO_CODE.sub(" ", path.read_text()) for path in folder.iterdir() if path.suffix in (".c", ".cc", ".h")}
    sources = code.keys() - {path for path in code if path.suffix == ".h"}
    home = {name: path for path in sorted(sources) for name, _ in FUNCTION.findall(code[path])}
    homes |= home
    codes |= code
    inline = {name: names_in(body) for path in code.keys() - sources for name, body in FUNCTION.findall(code[path])}
    calls |= {path: {home[name] for name in led_to(names_in(code[path]), inline) & home.keys()} - {path} for path in sources}
# What another database than SQLite would change is one folder, of whose headers statements.h alone shows it, a program that opens a
# file without a journal, and one that says what SQLite counts in its process.
errors += [f"{path.relative_to(root)} names SQLite" for path in codes if re.search(r"\bsqlite3_|\bSQLITE_|<sqlite3\.h>", codes[path])
           and path.parent != src / "journal/database" and path not in (programs / "journal/change.c", programs / "serve/main.c")]
errors += [f"{path.relative_to(root)} shows SQLite" for path in (src / "journal/database").glob("*.h")
           if path.name != "statements.h" and re.search(r'<sqlite3\.h>|"statements\.h"', path.read_text())]
# What another system would change is src/port: the engine asks nothing else for a system. Probes are an option of their own.
SYSTEM = re.compile(r"#include <(?!sys/sdt\.h)(?:\w+/\w+|pthread|sched|unistd|fcntl|signal|poll|link|dlfcn|windows)\.h>|\b(?:_WIN32|__linux__|__APPLE__|__FreeBSD__|HTW_PORTABLE)\b")
errors += [f"{path.relative_to(root)} names a system: {found.group()}" for path in codes
           if path.parent.name in ("base", "wheel", "scheduler", "purgatory", "threshold", "observe")
           for found in [SYSTEM.search(re.sub(r"#include <(?:htw|valgrind)/.*", "", path.read_text()))] if found]
# A public header may declare what a layer above has, so includes do not show each call upwards. Any layer may call port, which
# has what base declares.
for path in (path for path in codes if path.parent.parent == src):
    said = {name.split("/")[0] for name in says(path.parent, "uses")} | {path.parent.name, "port"}
    errors += [f"{path.relative_to(root)} calls {name}() of {homes[name].parent.name}" for name in called_in(codes[path]) & homes.keys()
               if homes[name].parent.parent == src and homes[name].parent.name not in said and name not in says(path.parent, "up")]
for what, graph in [("includes", uses), ("calls", calls)]:
    far = {file: led_to(graph[file], graph) for file in graph}
    for circle in {frozenset(one for one in far[file] if file in far.get(one, ())) for file in far if file in far[file]}:
        if not explained & {node.with_suffix("") for node in circle}:
            errors.append(f"a circle of {what}: " + " ".join(sorted(str(file.relative_to(root)) for file in circle)))

print("\n".join(sorted(errors)) or "layering: every include is allowed, and every circle is explained")
sys.exit(1 if errors else 0)
