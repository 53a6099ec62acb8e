# SPDX-License-Identifier: MIT
"""Runs measuring programs, which print an object with one metric a line; and tells the machine."""

import json
import pathlib
import platform
import subprocess
import sys


def available_mib():
    for line in pathlib.Path("/proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) // 1024
    sys.exit("no MemAvailable in /proc/meminfo")


def machine(with_java):
    found = {"cpu": "unknown"}
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            found["cpu"] = line.split(":", 1)[1].strip()
            break
    usable = subprocess.run(["nproc"], capture_output=True, text=True, check=True).stdout
    found["CPUs"] = int(usable)
    found["memory free, MiB"] = available_mib()
    found["kernel"] = platform.release()
    if with_java:
        version = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
        found["JVM"] = version.stderr.splitlines()[0].replace('"', "")
    return found


class Measurer:
    """Runs commands, one at a time or several, and counts those that go wrong."""

    def __init__(self, timeout_s):
        self.timeout_s = timeout_s
        self.failures = 0

    def lines(self, name, command):
        """What a command has printed; nothing, and a failure, where it went wrong."""
        print(name, file=sys.stderr, flush=True)
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False,
                                  timeout=self.timeout_s)
        except subprocess.TimeoutExpired:
            return self.failed(name, f"not done after {self.timeout_s} s")
        if done.returncode != 0:
            return self.failed(name, f"{done.stderr.strip()} (exit status {done.returncode})")
        try:
            return [json.loads(line) for line in done.stdout.splitlines()]
        except json.JSONDecodeError as wrong:
            return self.failed(name, f"this is no JSON: {wrong}")

    def failed(self, name, why):
        print(f"run.py: {name}: {why}", file=sys.stderr, flush=True)
        self.failures += 1
        return []
