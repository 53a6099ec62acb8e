# SPDX-License-Identifier: MIT
"""Runs measuring programs, which print one metric a line; and describes the machine."""

import collections
import concurrent.futures
import json
import os
import pathlib
import platform
import shutil
import signal
import subprocess
import sys

# One run of a program. `labels`: the members of its lines; if they are given, a run without figures
# leaves a line that says why, and is not tried again. `is_alone`: it has one thread, and is tied to
# one CPU.
Run = collections.namedtuple("Run", "command labels is_alone", defaults=(None, False))


def name(run):
    """Without the path of the program, and what is the same for all runs of a JVM."""
    words = run.command[run.command.index("--workload") + 1:]
    return ("JVM: " if run.command[0] == "java" else "") + " ".join(words)


class Runner:
    """Collects the lines of runs, and counts those that went wrong."""

    def __init__(self, limit_s, slow_is_wrong):
        self.limit_s = limit_s
        self.slow_is_wrong = slow_is_wrong
        self.results = []
        self.failures = 0
        self.given_up = set()
        self.is_terminal = sys.stderr.isatty()
        # The last of the CPUs: the first ones tend to have more to do besides.
        has_taskset = shutil.which("taskset") is not None
        self.tie = ["taskset", "-c", str(max(os.sched_getaffinity(0)))] if has_taskset else []

    def run(self, run):
        """Returns the lines of a run."""
        if self.key(run) in self.given_up:
            return []
        self.show(run)
        try:
            done = subprocess.run([*(self.tie if run.is_alone else []), *run.command],
                                  capture_output=True, text=True, check=False,
                                  timeout=self.limit_s)
        except subprocess.TimeoutExpired:
            return self.fail(run, "too slow", f"it takes longer than {self.limit_s} s",
                             self.slow_is_wrong)
        if done.returncode < 0:
            return self.fail(run, "failed", f"crashed: {signal.strsignal(-done.returncode)}")
        if done.returncode > 0:
            return self.fail(run, "failed",
                             f"{done.stderr.strip()} (exit status {done.returncode})")
        try:
            return [json.loads(line) for line in done.stdout.splitlines()]
        except json.JSONDecodeError as wrong:
            return self.fail(run, "failed", f"this is no JSON: {wrong}")

    def run_all(self, runs, save):
        """One after the other. A list in place of a run: all of it at the same time. Calls `save` after
        each."""
        for entry in runs:
            group = entry if isinstance(entry, list) else [entry]
            with concurrent.futures.ThreadPoolExecutor(len(group)) as pool:
                for lines in pool.map(self.run, group):
                    self.results += lines
            save()
        if self.is_terminal:
            print("\r\033[K", end="", file=sys.stderr)

    @staticmethod
    def key(run):
        return tuple(run.labels.items()) if run.labels else None

    def show(self, run):
        if self.is_terminal:
            print(f"\r\033[K{name(run)}", end="", file=sys.stderr, flush=True)
        else:
            print(name(run), file=sys.stderr, flush=True)

    def fail(self, run, state, why, is_wrong=True):
        if is_wrong:
            self.failures += 1
            start = "\r\033[K" if self.is_terminal else ""
            print(f"{start}run.py: {name(run)}: {why}", file=sys.stderr, flush=True)
        if not run.labels:
            return []
        self.given_up.add(self.key(run))
        return [{**run.labels, "metric": "state", "value": f"{state}: {why}"}]


def names(program, section, plugins=()):
    """The names in a section of a program's --help, with what is said of each; none if it has no such section."""
    more = [word for path in plugins for word in ("--plugin", path)]
    done = subprocess.run([program, *more, "--help"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.stderr.write(done.stderr)
        sys.exit(2)
    _, _, found = done.stdout.partition(f"\n{section}:\n")
    lines = found.split("\n\n")[0].splitlines()
    return {line.split()[0]: line.split(None, 1)[1] for line in lines}


def first_after(path, start):
    try:
        for line in pathlib.Path(path).read_text().splitlines():
            if line.startswith(start):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return "unknown"


def available_mib():
    return int(first_after("/proc/meminfo", "MemAvailable").split()[0]) // 1024


def huge_pages():
    path = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return path.read_text().split("[")[1].split("]")[0] if path.exists() else "unknown"


def machine(program, versions):
    """What a reader must know to judge the figures. `versions`: of peers, by name."""
    found = {"cpu": first_after("/proc/cpuinfo", "model name"),
             "CPUs": len(os.sched_getaffinity(0)), "memory free, MiB": available_mib(),
             "kernel": platform.release(), "huge pages": huge_pages()}
    build = subprocess.run([program, "--build"], capture_output=True, text=True, check=True)
    found["build"] = build.stdout.strip()
    return {**found, **versions}
