#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the purgatory benchmark: htw, and Kafka's purgatory where it is given; a process a run.

usage: run.py PROGRAM RESULTS.json [--quick] [--no-jvm] [--rounds N] [--workload NAME,...]
              [--kafka CLASSPATH]

PROGRAM is htw-bench-purgatory. Both take turns within a workload, so that a machine that slows
down slows both. --rounds says how often pair is run (3; 1 with --quick), and the rest (1).
"""

import argparse
import json
import os
import pathlib
import shutil
import subprocess
import sys

import report

BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
sys.path.append(str(BENCHMARKS))
import measure  # noqa: E402

HEAP_MIB = 4096
TIMEOUT_S = 120
# What the driver for Kafka shares with the benchmark of the JVM's timers.
SHARED_SOURCES = ["Clock", "Exhaustion", "Histogram", "Machine", "Report"]


class Run:
    """A run of one workload with htw or with Kafka's purgatory."""

    def __init__(self, workload, arguments, peer="htw"):
        self.workload = workload
        self.arguments = list(arguments)
        self.peer = peer

    def __str__(self):
        return " ".join([self.workload, self.peer, *self.arguments])

    def is_alone(self):
        """One thread, and nothing for others to do: such a run is tied to one CPU."""
        return self.peer == "htw" and (
            self.workload == "memory"
            or self.workload == "pair" and "--threads" not in self.arguments)


FEW = ["--keys", "1000", "--requests", "1000"]
MANY = ["--keys", "100000", "--requests", "10000"]
PAIRS = [
    ["--per-request", "2", *FEW],
    ["--per-request", "2", *MANY],
    ["--per-request", "1", *FEW],
    ["--per-request", "3", *FEW],
    ["--per-request", "2", *FEW, "--threads", "2"],
    ["--per-request", "2", *FEW, "--threads", "2", "--own-keys"],
    ["--per-request", "2", *MANY, "--threads", "2"],
    ["--per-request", "2", *FEW, "--threads", "4"],
    ["--per-request", "2", *FEW, "--threads", "4", "--own-keys"],
]
QUICK_PAIRS = [pair for pair in PAIRS if "4" not in pair and pair[1] == "2"]


def both(runs, with_kafka):
    for run in runs:
        yield run
        if with_kafka:
            yield Run(run.workload, run.arguments, "kafka")


def plan(quick, rounds, with_kafka):
    for _ in range(rounds or (1 if quick else 3)):
        yield from both((Run("pair", pair) for pair in (QUICK_PAIRS if quick else PAIRS)),
                        with_kafka)
    for _ in range(rounds or 1):
        for requests in ("100000",) if quick else ("100000", "1000000"):
            yield from both((Run("memory", ["--requests", requests, *distinct])
                             for distinct in ([], ["--distinct"])), with_kafka)
        yield from both((Run("arrivals", ["--threads", threads]) for threads in ("1", "2")),
                        with_kafka)
        yield Run("wake", [])
        yield Run("wake", ["--workers", "1"])
        yield from both([Run("expire", [])], with_kafka)
        yield Run("expire", ["--workers", "1"])


class Runner(measure.Measurer):
    def __init__(self, options):
        super().__init__(TIMEOUT_S)
        self.options = options
        self.last_cpu = max(os.sched_getaffinity(0))
        self.has_taskset = shutil.which("taskset") is not None

    def command(self, run):
        what = ["--workload", run.workload, *run.arguments, *["--quick"] * self.options.quick]
        if run.peer == "kafka":
            if self.options.quick:
                what += ["--warmup", "0.7"]
            heap = min(HEAP_MIB, measure.available_mib() * 3 // 4)
            return ["java", f"-Xms{heap}m", f"-Xmx{heap}m", "-XX:+UseG1GC",
                    "-cp", f"{self.options.classes}:{self.options.kafka}", "PurgatoryBench", *what]
        tie = ["taskset", "-c", str(self.last_cpu)] if run.is_alone() and self.has_taskset else []
        return [*tie, self.options.program, *what]

    def run_lines(self, run):
        return self.lines(run, self.command(run))


def compile_driver(options):
    folder = pathlib.Path(options.classes)
    folder.mkdir(parents=True, exist_ok=True)
    sources = [BENCHMARKS / "jvm" / f"{name}.java" for name in SHARED_SOURCES]
    sources += sorted((BENCHMARKS / "jvm/purgatory").glob("*.java"))
    done = subprocess.run(["javac", "-nowarn", "-cp", options.kafka, "-d", folder, *sources],
                          check=False)
    if done.returncode != 0:
        sys.exit("run.py: --kafka: the driver does not compile with this class path")


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench purgatory", description=(
        "Measures htw's purgatory, and Kafka's beside it where that is given."))
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("results", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true", help="shorter and fewer runs")
    parser.add_argument("--kafka", default="", metavar="CLASSPATH", help=(
        "where Kafka's purgatory lies: kafka-server-common, and what that needs; see "
        "benchmarks/purgatory/README.md"))
    parser.add_argument("--no-jvm", action="store_true", help="without Kafka, even if given")
    parser.add_argument("--rounds", type=int, default=0, metavar="N",
                        help="how often each run is done (1; pair 3)")
    parser.add_argument("--workload", default="", metavar="NAME,...",
                        help=f"only these: {', '.join(report.ORDER)}")
    options = parser.parse_args(arguments)
    if set(filter(None, options.workload.split(","))) - set(report.ORDER):
        parser.error(f"no such workload in: {options.workload}")
    if options.rounds < 0:
        parser.error("--rounds: not a number above 0")
    if options.no_jvm:
        options.kafka = ""
    options.classes = str(pathlib.Path(options.results).parent / "classes")
    return options


def main():
    options = parse(sys.argv[1:])
    if options.kafka:
        compile_driver(options)
    only = options.workload.split(",") if options.workload else report.ORDER
    runner = Runner(options)
    results = []
    for run in plan(options.quick, options.rounds, bool(options.kafka)):
        if run.workload in only:
            results += runner.run_lines(run)
    document = {"machine": measure.machine(bool(options.kafka)), "results": results}
    path = pathlib.Path(options.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=0) + "\n")
    report.print_all(document)
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
