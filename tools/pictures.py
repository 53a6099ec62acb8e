#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of README.md and the manual again, to a folder.

usage: pictures.py HTW FOLDER
"""

import pathlib
import random
import subprocess
import sys


def broker(seconds, random_of):
    """The timers of a server, as lines for `htw draw`: most requests are answered before their time-out."""
    request = 0
    for _ in range(int(seconds * 100)):
        for _ in range(random_of.choice([0, 2, 5, 12])):
            request += 1
            yield f"{random_of.choice([1, 5, 30])}s request {request}"
            if random_of.random() < 0.8:
                yield f"cancel request {request}"
        for _ in range(random_of.choice([0, 1, 2, 5])):
            yield f"{random_of.expovariate(8):.3f} retry"
        yield f"{random_of.uniform(55, 70):.3f} idle connection"
        yield f"{60 * random_of.weibullvariate(60, 1.5):.0f} session"
        yield "wait 10ms"


def draw_wheel(program, folder):
    lines = "\n".join(broker(12, random.Random(18))) + "\n"
    subprocess.run([program, "draw", "--svg", "--at", "12s", "--output", folder / "wheel.svg"],
                   input=lines, text=True, check=True)


def main():
    program, folder = sys.argv[1:]
    draw_wheel(program, pathlib.Path(folder))


if __name__ == "__main__":
    main()
