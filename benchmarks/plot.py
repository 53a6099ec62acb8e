#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws results of htw-bench with gnuplot: nanoseconds against the number of timers, a line
an implementation.

usage: plot.py RESULTS.json FOLDER
"""
import itertools
import json
import pathlib
import subprocess
import sys

# A picture each: the workload, its phase, and the title.
PICTURES = [
    ("churn", "pair", "Cancel a random timer and arm it again: ns a pair"),
    ("expire", "expire", "Let all timers expire, tick by tick: ns a timer"),
]

SETTINGS = """
set terminal svg size 800,500 font "sans-serif,13" background "white"
set output "{output}"
set title "{title}"
set xlabel "timers"
set logscale xy
set format x "10^{{%T}}"
set grid
set autoscale xfix
set key outside right
set style data linespoints
plot {lines}
"""


# Grey for what only marks the least there is to pay; the rest in the order of the results.
COLOURS = {"null": "#bbbbbb", "relink": "#777777", "htw": "#000000"}
MORE_COLOURS = ["#d62728", "#ff7f0e", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#17becf",
                "#e377c2", "#bcbd22"]


def read_lines(results, workload, phase):
    """The points (n, ns) of each implementation."""
    lines = {}
    for result in results:
        if (result.get("workload"), result.get("phase")) == (workload, phase):
            lines.setdefault(result["impl"], []).append((result["n"], result["ns"]))
    return lines


def draw(lines, colours, title, output):
    plots = ", ".join(
        f"'-' title \"{name}\" noenhanced linecolor rgb \"{colours[name]}\" "
        f"linewidth {3 if name == 'htw' else 1.5}" for name in lines)
    script = SETTINGS.format(output=output, title=title, lines=plots)
    for points in lines.values():
        script += "".join(f"{n} {ns}\n" for n, ns in sorted(points)) + "e\n"
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
    print(output)


def main():
    path, folder = map(pathlib.Path, sys.argv[1:])
    results = [json.loads(line) for line in path.read_text().splitlines()]
    names = dict.fromkeys(result["impl"] for result in results if "impl" in result)
    others = [name for name in names if name not in COLOURS]
    colours = {**COLOURS, **dict(zip(others, itertools.cycle(MORE_COLOURS)))}
    for workload, phase, title in PICTURES:
        lines = read_lines(results, workload, phase)
        if lines:  # a run may have left the workload out
            draw(lines, colours, title, folder / f"{workload}.svg")


main()
