#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs real programs under mixed load, and fails unless they stay level: memory, descriptors, threads and files do not
grow, lateness is bounded, and nothing goes wrong.

usage: soak.py BUILD [--minutes M] [--only NAME,...] [--seed N] [--threads N] [--memory KIB]
               [--leak memory | descriptor]

BUILD is a folder of Meson with the programs. A program that it lacks is left out, and named. --leak plants a mistake in
the program of program.c, which must be found; --threads says how many threads it starts in a second. --memory is by how
much memory may grow if 1 % of it is less. README.md says how it is judged.
"""
import argparse
import importlib.util
import os
import pathlib
import shutil
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True  # the source tree stays clean
HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
sys.path[1:1] = [str(ROOT / "programs/relay/tests"), str(ROOT / "tests/kit")]

from judge import BUCKETS, add_late, judge, p99_ms  # noqa: E402
from subjects import Delay, Program, RelayOverMock, Serve  # noqa: E402

MEASURES = {  # what is sampled: the share of its level by which it may grow, but at least so much (None: --memory)
    "rss": (0.01, None), "pss": (0.01, None), "disk": (0.05, 1024), "descriptors": (0, 1), "threads": (0, 1)}
LATE_FACTOR = 4  # or lateness may be so many times that of a thread that only sleeps
SLEEP_S = 0.01


class Sleeper:
    """What this machine makes of a sleep."""

    def __init__(self):
        self.late, self.is_over = [0] * BUCKETS, threading.Event()
        self.thread = threading.Thread(target=self.sleep)
        self.thread.start()

    def sleep(self):
        while not self.is_over.is_set():
            begun = time.monotonic()
            time.sleep(SLEEP_S)
            add_late(self.late, time.monotonic() - begun - SLEEP_S)

    def stop(self):
        self.is_over.set()
        self.thread.join()


def memory_kib(pid):
    with open(f"/proc/{pid}/smaps_rollup", encoding="ascii") as stream:
        sizes = {line.split()[0]: int(line.split()[1]) for line in stream if line.endswith("kB\n")}
    return sizes["Rss:"], sizes["Pss:"]


class Watch:
    """The samples of a program."""

    def __init__(self, subject):
        self.subject, self.times, self.samples, self.lateness = subject, [], {name: [] for name in MEASURES}, []

    def sample(self):
        pid = self.subject.process.pid
        if self.subject.process.poll() is not None:
            raise ChildProcessError(f"{self.subject.name} has ended")
        rss, pss = memory_kib(pid)
        found = {"rss": rss, "pss": pss, "disk": self.subject.disk_kib(), "descriptors": len(os.listdir(f"/proc/{pid}/fd")),
                 "threads": len(os.listdir(f"/proc/{pid}/task"))}
        self.times.append(time.monotonic())
        self.lateness.append(self.subject.lateness())
        for name, value in found.items():
            self.samples[name].append(value)

    def late_ms(self):
        """The p99 of the second half."""
        return second_half_p99(self.lateness)

    def judge(self, slept_ms, memory_bound):
        """Rows of the table, and what is wrong."""
        grown = {}
        for name, values in self.samples.items():
            share, least = MEASURES[name]
            grown[name] = judge(list(zip(self.times, values)), share, memory_bound if least is None else least)
        wrong = [f"{name} grows by {growth.growth:.0f} from {growth.level:.0f}, and not below {growth.bound:.0f}"
                 for name, growth in grown.items() if not growth.is_flat]
        late, late_bound = self.late_ms(), max(self.subject.LATE_MS, LATE_FACTOR * slept_ms)
        if late is None or late > late_bound:
            wrong.append(f"lateness: p99 {late} ms, and not up to {late_bound:.0f} ms")
        return grown, late, wrong + self.subject.errors


def second_half_p99(histograms):
    return p99_ms([last - first for first, last in zip(histograms[len(histograms) // 2], histograms[-1])])


def has_kafka_client():
    return importlib.util.find_spec("confluent_kafka") is not None


def start_subjects(started, build, folder, options):
    """Those that are built and asked for; returns the names of the others."""
    wanted = options.only.split(",") if options.only else None
    programs = {name: build / path for name, path in {
        "program": "tests/soak_program", "htw": "htw", "serve": "htw-serve", "relay": "htw-relay",
        "mock": "programs/relay/tests/relay_brokers"}.items()}
    makers = {
        "program": (["program"], lambda place, seed: Program(place, seed, programs["program"], options.threads, options.leak)),
        "delay": (["htw"], lambda place, seed: Delay(place, seed, programs["htw"])),
        "serve": (["serve"], lambda place, seed: Serve(place, seed, programs["serve"])),
        "relay": (["relay", "mock"], lambda place, seed: RelayOverMock(place, seed, programs["relay"], programs["mock"])),
    }
    missing = []
    for name, (needed, make) in makers.items():
        if wanted and name not in wanted:
            continue
        if all(programs[program].exists() for program in needed) and (name != "relay" or has_kafka_client()):
            started.append(make(os.path.join(folder, name), options.seed))
        else:
            missing.append(name)
    return missing


def watch(watches, sleeper, seconds):
    """Samples until the end; returns the p99 of sleeps in the second half."""
    step, end, slept = max(0.2, seconds / 1800), time.monotonic() + seconds, []
    while time.monotonic() < end:
        for one in watches:
            one.sample()
        slept.append(list(sleeper.late))
        time.sleep(step)
    return second_half_p99(slept)


def print_table(judged):
    columns = ["rss", "pss", "disk"]
    print(f"{'program':14}" + "".join(f"{name + ' KiB':>11}{'growth':>8}" for name in columns) +
          f"{'descriptors':>13}{'growth':>8}{'threads':>9}{'growth':>8}{'late p99 ms':>13}{'operations':>12}  judged")
    for name, (grown, late, wrong), operations in judged:
        cells = "".join(f"{grown[column].level:11.0f}{grown[column].growth:8.0f}" for column in columns)
        print(f"{name:14}{cells}{grown['descriptors'].level:13.0f}{grown['descriptors'].growth:8.1f}"
              f"{grown['threads'].level:9.0f}{grown['threads'].growth:8.1f}"
              f"{'-' if late is None else f'{late:.3f}':>13}{operations:12}  {'NOT FLAT' if wrong else 'flat'}")


def soak(build, folder, options):
    sleeper = Sleeper()
    subjects = []
    try:
        missing = start_subjects(subjects, build, folder, options)
        assert subjects, "no program of that name is built"
        watches = [Watch(subject) for subject in subjects]
        slept = watch(watches, sleeper, options.minutes * 60)
        for subject in subjects:
            subject.finish()
    finally:
        sleeper.stop()
        for subject in subjects:
            if not subject.log.closed:
                subject.kill()
    judged = [(one.subject.name, one.judge(slept, options.memory), one.subject.operations) for one in watches]
    print_table(judged)
    print(f"{options.minutes:g} minutes, seed {options.seed}; a thread that only sleeps: p99 {slept:.3f} ms late")
    for name in missing:
        print(f"left out, as it is not built: {name}")
    for name, (_, _, wrong), _ in judged:
        for what in wrong[:10]:
            print(f"{name}: {what}")
    return any(wrong for _, (_, _, wrong), _ in judged)


def main():
    parser = argparse.ArgumentParser(usage=__doc__.replace("%", "%%"))
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--minutes", type=float, default=30)
    parser.add_argument("--only", default="")
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--threads", type=int, default=200)
    parser.add_argument("--memory", type=float, default=256)
    parser.add_argument("--leak", default="", choices=["memory", "descriptor"])
    options = parser.parse_args()
    folder = tempfile.mkdtemp(prefix="htw-soak-")
    try:
        return 1 if soak(options.build.resolve(), folder, options) else 0
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    sys.exit(main())
