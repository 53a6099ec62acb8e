# SPDX-License-Identifier: MIT
"""What is run: htw and its peers in C, and the timers of the JVM."""

import argparse

from common import measure

ABOUT = "Measures htw's scheduler and the timers of C programs and of the JVM."
ROUNDS = "1; threads, foreign and pair 2"
LIMIT_S = 300
SLOW_IS_WRONG = True

JVM_PEERS = ["jdk", "netty-1ms", "netty-100ms"]
HEAP_MIB_MAX = 31000  # above, pointers are no longer compressed
IDLE_HEAP_MIB = 1024  # all peers are idle at once


def add_options(parser):
    parser.add_argument("--no-jvm", action="store_true", help="the peers in C only")
    parser.add_argument("--java", default="", help=argparse.SUPPRESS)  # where Bench and Netty lie


def listed(options, section):
    return measure.listed(options.program, section)


def prepare(options, _):
    options.peers = list(listed(options, "peers"))
    options.jvm_peers = JVM_PEERS if uses_java(options) else []
    if options.quick:
        options.jvm_peers = options.jvm_peers[:2]
        options.peers = [peer for peer in options.peers if not peer.startswith("lib")]


def uses_java(options):
    return bool(options.java) and not options.no_jvm


def run(options, workload, peer, *arguments):
    what = ["--workload", workload, "--peer", peer, *arguments, *["--quick"] * options.quick]
    if peer not in JVM_PEERS:
        return measure.Run([options.program, *what])
    heap = min(measure.available_mib() * 3 // 4, HEAP_MIB_MAX)
    if workload == "idle":
        heap = IDLE_HEAP_MIB
    return measure.Run(["java", f"-Xms{heap}m", f"-Xmx{heap}m", "-XX:+UseG1GC",
                        "-cp", options.java, "Bench", *what])


def plan_pairs(options, peers):
    """Of threads, foreign and pair."""
    length = [] if options.quick else ["--seconds", "3"]
    warm = [*length, "--warmup", "0.5"]
    for producers in ("1", "2") if options.quick else ("1", "2", "4"):
        many = ["--producers", producers]
        for peer in peers:
            yield run(options, "threads", peer, *many, *warm)
        for peer in options.jvm_peers:
            yield run(options, "threads", peer, *many, *length)
        if producers == "1":
            yield run(options, "threads", "htw", *warm, "--lag", "6600")
    for peer in peers:
        yield run(options, "foreign", peer, *warm)
    for peer in options.jvm_peers:
        yield run(options, "foreign", peer, *length)
    for peer in peers:
        yield run(options, "pair", peer, "--seconds", "2", "--warmup", "0.5")


def plan_fired(options, others):
    """Of headline, lateness and stall."""
    inline = ["--workers", "0"]
    yield run(options, "headline", "htw")
    yield run(options, "headline", "htw", *inline)
    for peer in others + options.jvm_peers:
        yield run(options, "headline", peer)
    for peer in ("htw", "htw-100us"):
        yield run(options, "lateness", peer)
        yield run(options, "lateness", peer, *inline)
    yield run(options, "lateness", "htw", "--workers", "1")
    for peer in others + ["at-once"] + options.jvm_peers:
        yield run(options, "lateness", peer)
    yield run(options, "stall", "htw")
    yield run(options, "stall", "htw", *inline)
    for peer in others + options.jvm_peers:
        yield run(options, "stall", peer)


def plan_rest(options, others):
    """Of idle, where all wait at the same time, and memory."""
    yield [run(options, "idle", peer) for peer in ["htw", *others, *options.jvm_peers]]
    yield run(options, "memory", "htw")
    for peer in others:  # two million are enough: libevent takes a minute for ten
        yield run(options, "memory", peer, "--timers", "200000")
    for peer in options.jvm_peers:
        yield run(options, "memory", peer)


def all_runs(options):
    others = [peer for peer in options.peers if peer != "at-once" and not peer.startswith("htw")]
    for _ in range(options.rounds or (1 if options.quick else 2)):
        yield from plan_pairs(options, ["htw", "htw-absolute", *others])
    for _ in range(options.rounds or 1):
        yield from plan_fired(options, others)
        yield from plan_rest(options, others)


def plan(options):
    for entry in all_runs(options):
        first = entry[0] if isinstance(entry, list) else entry
        if first.command[first.command.index("--workload") + 1] in options.workloads:
            yield entry
