# SPDX-License-Identifier: MIT
"""What is run: htw's purgatory, and Kafka's if its class path is given."""

import pathlib
import subprocess
import sys

from common import measure

ABOUT = "Measures htw's purgatory, and Kafka's if its class path is given."
ROUNDS = "1; pair 3"
LIMIT_S = 120
SLOW_IS_WRONG = True

HEAP_MIB = 4096
BENCHMARKS = pathlib.Path(__file__).resolve().parents[1]
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


def add_options(parser):
    parser.add_argument("--kafka", default="", metavar="CLASSPATH", help=(
        "measure Kafka's purgatory, too: kafka-server-common, and what that needs; see "
        "benchmarks/purgatory/README.md"))
    parser.add_argument("--no-jvm", action="store_true", help="without Kafka, even if given")


def listed(options, section):
    if section == "peers":
        return {"htw": "<htw/purgatory.h>", "kafka": "Kafka's purgatory, with --kafka"}
    return measure.listed(options.program, section)


def prepare(options, _):
    if uses_java(options):
        options.classes = pathlib.Path(options.json).parent / "classes"
        compile_driver(options.kafka, options.classes)


def uses_java(options):
    return bool(options.kafka) and not options.no_jvm


def compile_driver(kafka, classes):
    classes.mkdir(parents=True, exist_ok=True)
    sources = [*(BENCHMARKS / "common/jvm").glob("*.java"),
               *(BENCHMARKS / "purgatory/jvm").glob("*.java")]
    done = subprocess.run(["javac", "-nowarn", "-cp", kafka, "-d", classes, *sources], check=False)
    if done.returncode != 0:
        sys.exit("run.py: --kafka: the driver does not compile with this class path")


def htw(options, workload, *arguments):
    is_alone = workload == "memory" or workload == "pair" and "--threads" not in arguments
    return measure.Run([options.program, "--workload", workload, *arguments,
                        *["--quick"] * options.quick], None, is_alone)


def kafka(options, workload, *arguments):
    heap = min(HEAP_MIB, measure.available_mib() * 3 // 4)
    return measure.Run(["java", f"-Xms{heap}m", f"-Xmx{heap}m", "-XX:+UseG1GC", "-cp",
                        f"{options.classes}:{options.kafka}", "PurgatoryBench",
                        "--workload", workload, *arguments,
                        *["--quick", "--warmup", "0.7"] * options.quick])


def both(options, workload, *arguments):
    if workload in options.workloads:
        yield htw(options, workload, *arguments)
        if uses_java(options):
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
