#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws the pictures of README.md and the manual again, to a folder.

usage: pictures.py HTW FOLDER [wheel]

wheel: only that of the wheel. The others need gnuplot.
"""

import pathlib
import random
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
sys.dont_write_bytecode = True
sys.path.append(str(ROOT / "benchmarks/wheel"))
import plot  # noqa: E402


def requests(seconds, random_of):
    """The timers of a server, as lines for `htw draw`: most requests are answered before their time-out."""
    for _ in range(int(seconds * 100)):
        for _ in range(random_of.choice([0, 2, 5, 12])):
            timeout = random_of.choice([1, 5, 30])
            if random_of.random() >= 0.8:
                yield f"{timeout}s request"
        for _ in range(random_of.choice([0, 1, 2, 5])):
            yield f"{random_of.expovariate(8):.3f} retry"
        yield f"{random_of.uniform(55, 70):.3f} idle connection"
        yield f"{60 * random_of.weibullvariate(60, 1.5):.0f} session"
        yield "wait 10ms"


def draw_wheel(program, folder):
    lines = "\n".join(requests(12, random.Random(18))) + "\n"
    with open(folder / "wheel.svg", "wb") as picture:
        subprocess.run([program, "draw", "--svg", "--at", "12s"], input=lines.encode(), stdout=picture, check=True)


def recorded():
    """The results that benchmarks/wheel/README.md records, of the workloads that are plotted."""
    metrics = {workload: metric for workload, metric, _ in plot.PICTURES}
    text = (ROOT / "benchmarks/wheel/README.md").read_text().partition("## Recorded results")[2]
    text = text.partition("\n### ")[0]  # of one machine
    for table in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE):
        head, _, *rows = [[cell.strip(" *") for cell in row.split("|")[1:-1]] for row in table.splitlines()]
        columns, workload = [], ""
        for cell in head:
            *words, timers = cell.split() or [""]
            workload = words[-1] if words else workload
            columns.append((workload, timers))
        for peer, *cells in ([row[0], *row[1:]] for row in rows):
            peer = re.sub(r" \(.*", "", peer)
            for (workload, timers), cell in zip(columns[1:], cells):
                if workload in metrics and re.fullmatch(r"1e\d", timers) and re.fullmatch(r"[\d .]+", cell):
                    yield {"workload": workload, "metric": metrics[workload], "peer": peer,
                           "timers": int(float(timers)), "value": float(cell.replace(" ", ""))}


def main():
    program, folder, *only = sys.argv[1:]
    draw_wheel(program, pathlib.Path(folder))
    if only != ["wheel"]:
        plot.draw_all(list(recorded()), pathlib.Path(folder))


if __name__ == "__main__":
    main()
