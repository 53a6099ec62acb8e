#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""The scripts of examples/trace answer what they say, of traced.c.

usage: trace.py FOLDER PROGRAM
"""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys

SITE, PLAIN = r"\[idle, run, \d+, close_idle\]: ", r"\[, , 0, retry\]: "
# What each prints. On a busy machine an expirer may find a timer due before it has slept.
WOKEN = r"([1-9]|10)\n"
EXPECTED = {
    "who-wakes-me": ["@woken_by" + SITE + WOKEN, "@woken_by" + PLAIN + WOKEN, r"@wakeups: \d+\n"],
    "lateness-by-site": ["@late_us" + SITE + r"\n\[", "@late_us" + PLAIN + r"\n\["],
    "longest-callbacks": ["@longest_us" + SITE + r"\d+\n", "@longest_us" + PLAIN + r"\d+\n"],
    # The first call starts the threads, by another function.
    "arms-by-stack": [rf"@arms\[\n +arm_{which}\+\d+\n[^]]*\]: (9|10)\n" for which in ("unusual", "usual")],
}
LIMIT_S = 60


def skip(reason):
    print(f"SKIP: {reason}")
    sys.exit(77)


def find_reason_to_skip():
    if shutil.which("bpftrace") is None:
        return "bpftrace is not installed"
    if os.geteuid() != 0:
        return "only root may trace"
    probe = subprocess.run(["bpftrace", "-e", "BEGIN { exit(); }"], capture_output=True, text=True, check=False)
    return None if probe.returncode == 0 else f"the kernel does not allow it: {probe.stderr.strip()}"


def wait_for(stream, text):
    lines = ""
    for line in stream:
        lines += line
        if text in line:
            return lines
    sys.exit(f"it ended before it said {text!r}:\n{lines}")


def trace(script, program):
    """What bpftrace prints of a run of the program."""
    with subprocess.Popen([program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as traced:
        wait_for(traced.stdout, "ready")
        with subprocess.Popen(["bpftrace", "-p", str(traced.pid), script], stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True) as tracer:
            signal.alarm(LIMIT_S)
            out = wait_for(tracer.stdout, "tracing")
            traced.stdin.write("\n")
            traced.stdin.flush()
            wait_for(traced.stdout, "done")
            tracer.send_signal(signal.SIGINT)
            out += tracer.stdout.read()
        traced.stdin.close()
    signal.alarm(0)
    return out


def main():
    folder, program = pathlib.Path(sys.argv[1]), sys.argv[2]
    reason = find_reason_to_skip()
    if reason is not None:
        skip(reason)
    scripts = {path.stem: path for path in folder.glob("*.bt")}
    if scripts.keys() != EXPECTED.keys():
        sys.exit(f"scripts {sorted(scripts)}, known {sorted(EXPECTED)}")
    for name, path in sorted(scripts.items()):
        out = trace(path, program)
        for pattern in EXPECTED[name]:
            if re.search(pattern, out) is None:
                sys.exit(f"{name}: no {pattern!r} in\n{out}")
        print(f"{name}: ok")


if __name__ == "__main__":
    main()
