#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
# holds: scheduler-22
"""Fails where the library calls code of the user without its guard, HTW__CALL_USER() of src/base/user_code.h.

A pointer of the user has a type of a function of a public header, or is a member there. What it is called in a folder of
src/, its declarations there say.

usage: user_calls.py ROOT
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
GUARD = "HTW__CALL_USER"
# Not guarded, and why. Nor are allocators: include/htw/base.h says that one which does not return is not noticed.
EXPLAINED = {
    ("src/base/log.c", "function"): "the process ends, however it is left",
    ("src/wheel/inspect.c", "visitor"): "the wheel holds no lock, and a visit changes nothing",
    ("src/calendar/schedule.c", "callback"): "the scheduler guards run_job(), which calls it last",
    ("src/calendar/schedule.c", "release"): "the scheduler guards release_job(), which calls it last",
    ("src/monitor/rows.c", "list_queues"): "a function of libhtw-journal, by its address",
    ("src/monitor/sample.c", "get_stats"): "likewise",
}
NO_CODE = re.compile(r"""/\*.*?\*/|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'""", re.S)


def code_of(path):
    """The text without comments and strings, each as long as before."""
    return NO_CODE.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), path.read_text())


def end_of(text, start):
    """Behind the parenthesis that closes the one at `start`."""
    depth = 0
    for i in range(start, len(text)):
        depth += {"(": 1, ")": -1}.get(text[i], 0)
        if depth == 0:
            return i + 1
    return len(text)


public = "".join(code_of(path) for path in sorted((root / "include/htw").glob("*.h")))
types = re.findall(r"^typedef [^;{}]*?\b(htw_\w+)\(", public, re.M)
members = set(re.findall(r"\(\*(\w+)\)\(", public)) | set(re.findall(rf"\b(?:{'|'.join(types)}) \*(\w+);", public))
DECLARED = re.compile(rf"\b(?:{'|'.join(types)}) \*(\w+)\b")


def calls_in(text, names, own):
    """The calls of pointers: line, name and whether they are guarded."""
    guarded = [(found.start(), end_of(text, found.end())) for found in re.finditer(rf"\b{GUARD}(?=\()", text)]
    for found in re.finditer(r"(?:\b(\w+)\s*(?:->|\.)\s*)?\b(\w+)\(", text):
        owner, name = found.groups()
        is_pointer = name in names | members if owner else name in own
        if is_pointer and not (name in ("allocate", "release") and re.match("allocator$|users$", owner or "")):
            yield (text.count("\n", 0, found.start()) + 1, name,
                   any(start < found.start() < end for start, end in guarded))


errors, guarded, unguarded = [], 0, 0
for folder in sorted(path for path in [*(root / "src").iterdir(), root / "programs/relay/src"] if path.is_dir()):
    texts = {path: code_of(path) for path in sorted(folder.rglob("*.[ch]"))}
    names = {name for text in texts.values() for name in DECLARED.findall(text)}
    for path, text in texts.items():
        name_of_file = str(path.relative_to(root))
        # A function of this file has its name, and not a pointer.
        own = {name for name in DECLARED.findall(text) if not re.search(rf"^[a-z].*\b{name}\([^;]*\{{", text, re.M)}
        for line, name, is_guarded in calls_in(text, names, own):
            guarded += is_guarded
            if not is_guarded and (name_of_file, name) not in EXPLAINED:
                errors.append(f"{name_of_file}:{line} calls {name}() without {GUARD}()")
        # Without its guards each of these calls is found, or this script sees less than there is.
        unguarded += len(re.findall(rf"(?<!define )\b{GUARD}\(", text))
if guarded != unguarded:
    errors.append(f"{unguarded} calls have a guard, and {guarded} of them are seen here")
print("\n".join(errors) or f"user calls: {guarded} are guarded")
sys.exit(1 if errors else 0)
