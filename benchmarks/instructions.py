#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Counts the instructions of htw's main workloads with callgrind, and holds them against the
figures of a file: a rise of more than 10 % fails.

usage: instructions.py PROGRAM FIGURES [--accept]

PROGRAM is htw-instructions. --accept writes FIGURES instead.
"""

import pathlib
import re
import subprocess
import sys
import tempfile

# churn with two numbers of timers: what a pair costs must not grow with them.
# The pairs of the scheduler are one thread's; to read the clock is a system call in the simulator.
RUNS = [("churn", 1000), ("churn", 100000), ("expire", 20000), ("long", 20000),
        ("scheduler-pair", 1000), ("scheduler-pair-observed", 1000),
        ("scheduler-pair-absolute", 1000), ("purgatory-request", 1000)]
RISE_ALLOWED = 1.10


def count(program, workload, timers):
    """Instructions an operation."""
    with tempfile.TemporaryDirectory() as folder:
        out = pathlib.Path(folder) / "callgrind.out"
        run = subprocess.run(
            ["valgrind", "--tool=callgrind", "--quiet", "--toggle-collect=measured*",
             f"--callgrind-out-file={out}", program, workload, str(timers)],
            capture_output=True, text=True, check=False)
        if run.returncode != 0:
            sys.exit(f"instructions: {workload} with {timers} timers: {run.stderr}")
        total = re.search(r"^(?:summary|totals): (\d+)", out.read_text(), re.MULTILINE)
    if int(total.group(1)) == 0:
        sys.exit(f"instructions: {workload}: callgrind did not find the function measured()")
    return int(total.group(1)) / int(run.stdout)


def read(path):
    figures = {}
    for line in path.read_text().splitlines():
        if line and not line.startswith("#"):
            workload, timers, figure = line.split()
            figures[workload, int(timers)] = float(figure)
    return figures


def write(path, counted):
    head = "# Instructions an operation, x86-64, gcc 12 -O3; written by ./dev instructions --accept.\n"
    path.write_text(head + "".join(f"{workload} {timers} {figure:.1f}\n"
                                   for (workload, timers), figure in counted.items()))


def main():
    program, path = sys.argv[1], pathlib.Path(sys.argv[2])
    counted = {run: count(program, *run) for run in RUNS}
    if sys.argv[3:] == ["--accept"]:
        write(path, counted)
    expected = read(path)
    risen = False
    for run, figure in counted.items():
        accepted = expected.get(run)
        if accepted is None:
            sys.exit(f"instructions: {path} has no figure for {run[0]} {run[1]}")
        print(f"{run[0]:23} {run[1]:7} timers: {figure:7.1f} instructions, accepted {accepted:7.1f}")
        risen |= figure > accepted * RISE_ALLOWED
    if risen:
        sys.exit("instructions: more than 10 % above what was accepted. If that is intended, run "
                 "'./dev instructions --accept', commit benchmarks/instructions.txt, and say in "
                 "the message why it is worth it.")


if __name__ == "__main__":
    main()
