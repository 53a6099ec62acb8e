# SPDX-License-Identifier: MIT
"""Runs the functions of a test that are named bench_*, in order; the exit status is 1 if one fails."""
import sys


def run(names):
    failed = 0
    for name, function in list(names.items()):
        if not name.startswith("bench_"):
            continue
        try:
            function()
            print("ok", name, flush=True)
        except AssertionError as failure:
            failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
    sys.exit(1 if failed else 0)
