# SPDX-License-Identifier: MIT
"""What is run: htw's purgatory, and Kafka's, which Maven fetches."""

from common import measure, peers

ABOUT = "Measures htw's purgatory and Kafka's."
ROUNDS = "1; pair 3"
LIMIT_S = 120

PEERS = {"htw": "<htw/purgatory.h>", "kafka": "DelayedOperationPurgatory"}
HEAP_MIB = 4096
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


def prepare(options, _):
    """Builds the driver of Kafka's purgatory, where --build says. options.kafka: its class path."""
    options.kafka = None
    if options.build:
        peers.build({"kafka": lambda: build_kafka(options)}, options.versions)


def build_kafka(options):
    options.kafka = peers.build_java(options, "purgatory", kafka="kafka-server-common")


def htw(options, workload, *arguments):
    is_alone = workload == "memory" or workload == "pair" and "--threads" not in arguments
    return measure.Run([options.program, "--workload", workload, *arguments,
                        *["--quick"] * options.quick], None, is_alone)


def kafka(options, workload, *arguments):
    heap = min(HEAP_MIB, measure.available_mib() * 3 // 4)
    return measure.Run([*peers.java(options.kafka, heap), "--workload", workload, *arguments,
                        *["--quick", "--warmup", "0.7"] * options.quick])


def both(options, workload, *arguments):
    if workload in options.workloads:
        yield htw(options, workload, *arguments)
        if options.kafka:
            yield kafka(options, workload, *arguments)


def plan(options):
    for _ in range(options.rounds or (1 if options.quick else 3)):
        for pair in QUICK_PAIRS if options.quick else PAIRS:
            yield from both(options, "pair", *pair)
    for _ in range(options.rounds or 1):
        for requests in ("100000",) if options.quick else ("100000", "1000000"):
            yield from both(options, "memory", "--requests", requests)
            yield from both(options, "memory", "--requests", requests, "--distinct")
        for threads in ("1", "2"):
            yield from both(options, "arrivals", "--threads", threads)
        if "wake" in options.workloads:
            yield htw(options, "wake")
            yield htw(options, "wake", "--workers", "1")
        yield from both(options, "expire")
        if "expire" in options.workloads:
            yield htw(options, "expire", "--workers", "1")
