#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs Meson's tests three times on one core, beside eight processes that never rest, and fails
unless all pass each time: no test may depend on how fast the machine is.

usage: loaded.py BUILD_FOLDER [ARGUMENT OF meson test]...

A busy process ends by itself when this one has gone, however that happened.
"""
import json
import os
import pathlib
import signal
import subprocess
import sys

ROUNDS = 3
BUSY = 8
BUSY_LOOP = """import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1000000):
        pass
"""


def run_tests(folder, arguments):
    """Returns the names of the tests that failed."""
    done = subprocess.run(["meson", "test", "-C", folder, "--no-rebuild", "--print-errorlogs",
                           "--num-processes", "2", "--timeout-multiplier", "20", *arguments])
    log = pathlib.Path(folder) / "meson-logs/testlog.json"
    results = [json.loads(line) for line in log.read_text().splitlines()]
    failed = [result["name"].split(" / ")[-1] for result in results
              if result["result"] not in ("OK", "SKIP")]
    return failed if failed or done.returncode == 0 else ["meson test"]


def main():
    folder, *arguments = sys.argv[1:]
    core = max(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {core})
    for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(end, lambda number, _: sys.exit(128 + number))
    busy, failed = [], []
    try:
        for _ in range(BUSY):
            busy.append(subprocess.Popen([sys.executable, "-c", BUSY_LOOP]))
        for number in range(1, ROUNDS + 1):
            print(f"== round {number} of {ROUNDS}, on core {core} beside {BUSY} busy processes",
                  flush=True)
            failed += [f"{name} (round {number})" for name in run_tests(folder, arguments)]
    finally:
        for process in busy:
            process.kill()
    print("failed: " + ", ".join(failed) if failed else f"all passed {ROUNDS} times")
    return 1 if failed else 0


sys.exit(main())
