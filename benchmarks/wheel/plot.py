#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws results of the wheel with gnuplot: nanoseconds against the number of timers, a line an
implementation. The pictures can be read on light and on dark pages; their descriptions have the figures.

usage: plot.py RESULTS.json FOLDER
"""
import html
import itertools
import json
import pathlib
import re
import statistics
import subprocess
import sys

# Of each picture: the workload, the metric, and the title.
PICTURES = [
    ("churn", "pair_ns", "Cancel a random timer and arm it again: ns a pair"),
    ("expire", "expire_ns", "Let all timers expire, tick by tick: ns a timer"),
]

SETTINGS = """
set terminal svg size 830,420 font "sans-serif,13" background "white"
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


def read_lines(results, workload, metric):
    """The points (number of timers, median) of each implementation."""
    values = {}
    for line in results:
        if (line["workload"], line["metric"]) == (workload, metric):
            points = values.setdefault(line["peer"], {})
            points.setdefault(line["timers"], []).append(line["value"])
    return {peer: [(n, statistics.median(found)) for n, found in points.items()]
            for peer, points in values.items()}


STYLE = """<style>
svg { color: #1f2328 }
.ground { fill: #fff }
.gridline { stroke: #8c959f }
@media (prefers-color-scheme: dark) {
svg { color: #f0f6fc }
.ground { fill: #0d1117 }
}
</style>
"""


def describe(lines):
    """The figures, in words."""
    return " ".join(f"{name}: " + ", ".join(f"{ns:g} with {n} timers" for n, ns in sorted(points)) + "."
                    for name, points in lines.items())


def adapt(svg, title, description):
    """What gnuplot draws in black is drawn in the colour of the page's text."""
    svg = re.sub(r"<title>.*?</desc>", lambda _: (
        f"<title>{html.escape(title)}</title>\n<desc>{html.escape(description, quote=False)}</desc>\n{STYLE}"), svg, count=1, flags=re.DOTALL)
    svg = re.sub(r'(<rect x="0" y="0" [^>]*)fill="[^"]*"', r'\1class="ground"', svg, count=1)
    svg = re.sub(r' color="(black|rgb\( *0, *0, *0\))"', "", svg)
    svg = re.sub(r"""(stroke|fill)=(["'])(?:black|rgb\( *0, *0, *0\))\2""", r"\1=\2currentColor\2", svg)
    svg = re.sub(r"(<path )stroke='gray' ", r"\1", svg)
    return "\n".join(line.rstrip() for line in svg.splitlines()) + "\n"


def draw(lines, colours, title, output):
    plots = ", ".join(
        f"'-' title \"{name}\" noenhanced linecolor rgb \"{colours[name]}\" "
        f"linewidth {3 if name == 'htw' else 1.5}" for name in lines)
    script = SETTINGS.format(title=title, lines=plots)
    for points in lines.values():
        script += "".join(f"{n} {ns}\n" for n, ns in sorted(points)) + "e\n"
    drawn = subprocess.run(["gnuplot"], input=script, text=True, check=True, stdout=subprocess.PIPE)
    output.write_text(adapt(drawn.stdout, title, describe(lines)))
    print(output)


def draw_all(results, folder):
    names = dict.fromkeys(line["peer"] for line in results)
    others = [name for name in names if name not in COLOURS]
    colours = {**COLOURS, **dict(zip(others, itertools.cycle(MORE_COLOURS)))}
    for workload, metric, title in PICTURES:
        lines = read_lines(results, workload, metric)
        if lines:  # a run may have left the workload out
            draw(lines, colours, title, folder / f"{workload}.svg")


def main():
    path, folder = map(pathlib.Path, sys.argv[1:])
    draw_all(json.loads(path.read_text())["results"], folder)


if __name__ == "__main__":
    main()
