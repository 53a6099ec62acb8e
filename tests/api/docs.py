#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the documents say of the tree is so: the program that the README shows is
examples/timeouts.c (which is built and run), links lead somewhere, and each test that
docs/guarantees.md names exists.

usage: docs.py ROOT
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
errors = []

shown = re.findall(r"```c\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
if len(shown) != 1 or shown[0] not in (root / "examples/timeouts.c").read_text():
    errors.append("README.md must show one C program, and it must stand in examples/timeouts.c")

documents = [root / "README.md", root / "CHANGELOG.md", *(root / "docs").glob("*.md")]
for document in documents:
    for target in re.findall(r"\]\(([^):#]+)\)", document.read_text()):
        if not (document.parent / target).exists():
            errors.append(f"{document}: no such file: {target}")

tests = "".join(path.read_text() for path in (root / "tests/unit").glob("*.c"))
named = re.findall(r"`(wheel_\w+|test_\w+)`", (root / "docs/guarantees.md").read_text())
for name in named:
    if f"cmocka_unit_test({name})" not in tests:
        errors.append(f"docs/guarantees.md: no such test: {name}")
if not named:
    errors.append("docs/guarantees.md names no tests")

print("\n".join(errors) or f"{len(documents)} documents, {len(named)} tests named: all there")
sys.exit(1 if errors else 0)
