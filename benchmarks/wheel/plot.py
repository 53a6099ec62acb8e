#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Draws results of the wheel with gnuplot: the time of each peer, as a multiple of htw's, against the number of timers.
Readable at the width of a phone, on light and on dark pages; the descriptions have the nanoseconds.

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
    ("churn", "pair_ns", "Time to cancel and arm again, htw = 1"),
    ("expire", "expire_ns", "Time to expire, htw = 1"),
]

# 360 pixels of a phone leave three quarters of this size. What takes MOST times as long as htw is above the picture.
MOST = 4
SETTINGS = """
set terminal svg size 460,400 font "sans-serif,17" background "white"
set title "{title}"
set xlabel "timers" offset 0,0.6
set logscale x
set xtics ({ticks})
set yrange [0:{most}]
set ytics 1
set grid
set autoscale xfix
set key below horizontal maxcols 2 reverse Left samplen 1.2 width -4
set style data linespoints
set tics scale 0.5
plot {lines}
"""

HTW = "htw"
# Only the tables have these: what marks the least there is to pay, and the slowest; and htw's other forms.
OMITTED = {"null", "relink", "libev"}
COLOURS = ["#d62728", "#ff7f0e", "#1f77b4", "#2ca02c", "#9467bd", "#8c564b", "#17becf", "#e377c2", "#bcbd22"]


def is_drawn(peer):
    return peer not in OMITTED and not peer.startswith(("htw-", "htw,"))


def read_lines(results, workload, metric):
    """The points (number of timers, median) of htw, and of each peer that takes, somewhere, not more than MOST times
    as long."""
    values = {}
    for line in results:
        if (line["workload"], line["metric"]) == (workload, metric) and is_drawn(line["peer"]):
            points = values.setdefault(line["peer"], {})
            points.setdefault(line["timers"], []).append(line["value"])
    medians = {peer: {n: statistics.median(found) for n, found in points.items()} for peer, points in values.items()}
    htw = medians.get(HTW, {})
    return {peer: sorted(points.items()) for peer, points in medians.items()
            if any(n in htw and ns <= MOST * htw[n] for n, ns in points.items())}


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
    return " ".join(f"{name}: " + ", ".join(f"{ns:g} ns with {n} timers" for n, ns in points) + "."
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
    htw = dict(lines[HTW])
    plots = ", ".join(
        f"'-' title \"{name}\" noenhanced linecolor rgb \"{colours[name]}\" "
        f"{'linewidth 4 with lines' if name == HTW else 'linewidth 2 pointtype 7 pointsize 0.7'}" for name in lines)
    ticks = ", ".join(f'"{f"{n:.0e}".replace("e+0", "e")}" {n}' for n in htw)
    script = SETTINGS.format(title=title, lines=plots, ticks=ticks, most=MOST)
    for points in lines.values():
        script += "".join(f"{n} {ns / htw[n]}\n" for n, ns in points if n in htw) + "e\n"
    drawn = subprocess.run(["gnuplot"], input=script, text=True, check=True, stdout=subprocess.PIPE)
    output.write_text(adapt(drawn.stdout, title, describe(lines)))
    print(output)


def draw_all(results, folder):
    names = dict.fromkeys(line["peer"] for line in results if line["peer"] != HTW and is_drawn(line["peer"]))
    colours = {HTW: "#000000", **dict(zip(names, itertools.cycle(COLOURS)))}
    for workload, metric, title in PICTURES:
        lines = read_lines(results, workload, metric)
        if lines:  # a run may have left out the workload, or htw
            draw(lines, colours, title, folder / f"{workload}.svg")


def main():
    path, folder = map(pathlib.Path, sys.argv[1:])
    draw_all(json.loads(path.read_text())["results"], folder)


if __name__ == "__main__":
    main()
