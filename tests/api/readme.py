#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The program that the README shows is examples/timeouts.c, which is built and run.

usage: readme.py ROOT
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
shown = re.findall(r"```c\n(.*?)```", (root / "README.md").read_text(), re.DOTALL)
program = (root / "examples/timeouts.c").read_text()
if len(shown) != 1 or shown[0] not in program:
    sys.exit("README.md must show one C program, and it must stand in examples/timeouts.c")
print("the README shows examples/timeouts.c")
