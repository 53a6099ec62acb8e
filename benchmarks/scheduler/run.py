#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Runs the scheduler benchmark: htw and its peers in C, and the JVM's, one process a run.

usage: run.py PROGRAM RESULTS.json [--quick] [--no-jvm] [--rounds N] [--workload NAME,...]
              [--java CLASSPATH]

PROGRAM is htw-bench-scheduler; CLASSPATH is where Bench and Netty lie. Peers take turns within
a workload, so that a machine that slows down slows all of them. --rounds says how often threads
and foreign are run (2; 1 with --quick) and the rest (1).
"""

import argparse
import concurrent.futures
import json
import pathlib
import subprocess
import sys

import report

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
import measure  # noqa: E402

JVM_PEERS = ["jdk", "netty-1ms", "netty-100ms"]
HEAP_MIB_MAX = 31000  # above, pointers are no longer compressed
IDLE_HEAP_MIB = 1024  # all peers are idle at once
TIMEOUT_S = 300


class Run:
    """A run of one workload with one peer."""

    def __init__(self, workload, peer, producers=1, arguments=()):
        self.workload = workload
        self.peer = peer
        self.producers = producers
        self.arguments = list(arguments)
        self.is_jvm = peer in JVM_PEERS

    def __str__(self):
        return " ".join([self.workload, self.peer, f"P={self.producers}", *self.arguments])


def plan_threads(quick, c_peers, jvm_peers):
    length = [] if quick else ["--seconds", "3"]
    warmup = ["--warmup", "0.5"]
    for producers in (1, 2) if quick else (1, 2, 4):
        for peer in c_peers:
            yield Run("threads", peer, producers, length + warmup)
        for peer in jvm_peers:
            yield Run("threads", peer, producers, length)
    yield Run("threads", "htw", 1, length + warmup + ["--lag", "6600"])


def plan_foreign(quick, c_peers, jvm_peers):
    length = [] if quick else ["--seconds", "3"]
    for peer in c_peers:
        yield Run("foreign", peer, 1, length + ["--warmup", "0.5"])
    for peer in jvm_peers:
        yield Run("foreign", peer, 1, length)


def plan_pair(c_peers):
    for peer in c_peers:
        yield Run("pair", peer, 1, ["--seconds", "2", "--warmup", "0.5"])


def plan(quick, rounds, c_peers, jvm_peers):
    """Lists of runs; those of idle, that take nothing, are done at once."""
    plain = [peer for peer in c_peers if peer not in ("htw-absolute", "htw-100us", "at-once")]
    sharing = ["htw", "htw-absolute", *plain[1:]]
    inline = ["--workers", "0"]
    many_rounds = rounds or (1 if quick else 2)
    for _ in range(many_rounds):
        yield [*plan_threads(quick, sharing, jvm_peers), *plan_foreign(quick, sharing, jvm_peers),
               *plan_pair(sharing)]
    for _ in range(rounds or 1):
        yield [Run("headline", "htw"), Run("headline", "htw", 1, inline),
               *(Run("headline", peer) for peer in plain[1:] + jvm_peers)]
        yield [*(Run("lateness", peer, 1, arguments) for peer in ("htw", "htw-100us")
                 for arguments in ([], inline)),
               Run("lateness", "htw", 1, ["--workers", "1"]),
               *(Run("lateness", peer) for peer in plain[1:] + ["at-once"] + jvm_peers)]
        yield [Run("stall", "htw"), Run("stall", "htw", 1, inline),
               *(Run("stall", peer) for peer in plain[1:] + jvm_peers)]
        yield [Run("idle", peer) for peer in plain + jvm_peers]
        # Of the others' ten million the first two tell enough: libevent takes a minute for all.
        yield [Run("memory", "htw"),
               *(Run("memory", peer, 1, ["--timers", "200000"]) for peer in plain[1:]),
               *(Run("memory", peer) for peer in jvm_peers)]


class Runner(measure.Measurer):
    def __init__(self, options):
        super().__init__(TIMEOUT_S)
        self.options = options

    def command(self, run):
        quick = ["--quick"] * self.options.quick
        what = ["--workload", run.workload, "--peer", run.peer]
        if run.producers != 1:
            what += ["--producers", str(run.producers)]
        what += run.arguments + quick
        if not run.is_jvm:
            return [self.options.program, *what]
        heap = min(measure.available_mib() * 3 // 4, HEAP_MIB_MAX)
        if run.workload == "idle":
            heap = IDLE_HEAP_MIB
        return ["java", f"-Xms{heap}m", f"-Xmx{heap}m", "-XX:+UseG1GC",
                "-cp", self.options.java, "Bench", *what]

    def run_lines(self, run):
        return self.lines(run, self.command(run))

    def all_lines(self, runs):
        together = len(runs) if runs and runs[0].workload == "idle" else 1
        with concurrent.futures.ThreadPoolExecutor(max(1, together)) as pool:
            for lines in pool.map(self.run_lines, runs):
                yield from lines


def c_peers(program):
    """The peers that were built in."""
    text = subprocess.run([program, "--help"], capture_output=True, text=True, check=True).stdout
    return [line.split()[0] for line in text.split("\npeers:\n")[1].splitlines()]


def parse(arguments):
    parser = argparse.ArgumentParser(prog="./dev bench scheduler", description=(
        "Measures htw's scheduler beside the timers of C programs and of the JVM."))
    parser.add_argument("program", help=argparse.SUPPRESS)
    parser.add_argument("results", help=argparse.SUPPRESS)
    parser.add_argument("--quick", action="store_true",
                        help="shorter and fewer runs: two or three minutes")
    parser.add_argument("--no-jvm", action="store_true", help="the peers in C only")
    parser.add_argument("--rounds", type=int, default=0, metavar="N",
                        help="how often each run is done (1; threads, foreign and pair 2)")
    parser.add_argument("--workload", default="", metavar="NAME,...",
                        help=f"only these: {', '.join(report.ORDER)}")
    parser.add_argument("--java", default="", help=argparse.SUPPRESS)
    options = parser.parse_args(arguments)
    if set(filter(None, options.workload.split(","))) - set(report.ORDER):
        parser.error(f"no such workload in: {options.workload}")
    if options.rounds < 0:
        parser.error("--rounds: not a number above 0")
    return options


def main():
    options = parse(sys.argv[1:])
    with_jvm = bool(options.java) and not options.no_jvm
    jvm_peers = JVM_PEERS if with_jvm else []
    built = c_peers(options.program)
    if options.quick:
        jvm_peers = jvm_peers[:2]
        built = [peer for peer in built if not peer.startswith("lib")]
    only = options.workload.split(",") if options.workload else report.ORDER
    runner = Runner(options)
    results = []
    for runs in plan(options.quick, options.rounds, built, jvm_peers):
        results += runner.all_lines([run for run in runs if run.workload in only])
    document = {"machine": measure.machine(with_jvm), "results": results}
    path = pathlib.Path(options.results)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=0) + "\n")
    report.print_all(document)
    return 1 if runner.failures else 0


if __name__ == "__main__":
    sys.exit(main())
