#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What header and documents say of the size of things is so.

usage: sizes.py ROOT PROGRAM
"""

import pathlib
import re
import subprocess
import sys

# Where it is said, how, and of what.
CLAIMS = [
    ("include/htw/purgatory.h", r"or touched\. (\d+) bytes with 64-bit pointers", "request"),
    ("docs/purgatory.md", r"six keys takes (\d+) bytes in your struct", "request"),
    ("docs/architecture.md", r"request of the purgatory is (\d+) bytes", "request"),
    ("include/htw/purgatory.h", r"0 means 4096\. Each takes (\d+) bytes", "shard"),
    ("docs/decisions.md", r"Hence 4096 shards of (\d+) bytes", "shard"),
    ("include/htw/purgatory.h", r"Memory: (\d+) bytes\. Requests that wait need none", "threshold"),
    ("docs/purgatory.md", r"A threshold takes (\d+) bytes", "threshold"),
]


def main():
    root = pathlib.Path(sys.argv[1])
    printed = subprocess.run(sys.argv[2], check=True, stdout=subprocess.PIPE, text=True).stdout
    sizes = dict(line.split() for line in printed.splitlines())
    errors = []
    for name, pattern, what in CLAIMS:
        text = re.sub(r"\s+(\* )?", " ", (root / name).read_text())
        said = re.search(pattern, text)
        if said is None:
            errors.append(f"{name} does not say how large a {what} is: {pattern}")
        elif said.group(1) != sizes[what]:
            errors.append(f"{name}: a {what} is {said.group(1)} bytes; it is {sizes[what]}")
    print("\n".join(errors) or f"{len(CLAIMS)} sizes are right")
    return 1 if errors else 0


sys.exit(main())
