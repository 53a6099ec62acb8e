# SPDX-License-Identifier: MIT
"""What is run: each workload with each implementation and number of timers."""

from common import peers
from common.measure import Run, names

ABOUT = "Measures htw's wheel and its peers on one core, in virtual time."
ROUNDS = "5; 3 with --quick; memory always 1"
LIMIT_S = 60
SLOW_IS_WRONG = False

QUICK_TIMERS_MAX = 1000000
# The numbers of timers of each workload.
SIZES = {"churn": [1000, 100000, 1000000, 10000000], "fifo-time": [100000], "sparse": [87600]}
SIZES["fifo"] = SIZES["expire"] = SIZES["churn"]
USUAL_SIZES = [1000000]
FIXED = {"sparse"}  # no other number makes sense
EXACT = {"memory"}  # all rounds are the same
AGRONA = "agrona"
PEERS = {AGRONA: "Agrona's DeadlineTimerWheel, 65 536 spokes; on the JVM"}
AGRONA_WORKLOADS = {"churn", "fifo", "expire"}
HEAP_MIB = 4096


def add_options(parser):
    parser.add_argument("--impl", default="", metavar="NAME,...",
                        help="only these implementations; --list names them")
    parser.add_argument("--n", default="", metavar="N,...", help=(
        "these numbers of timers instead of each workload's own; sparse has a fixed one"))
    parser.add_argument("--plugin", action="append", default=[], metavar="FILE", help=(
        "a shared object that defines bench_plugins; may be repeated (benchmarks/wheel/bench.h)"))


def prepare(options, parser):
    known = [*names(options.program, "peers", options.plugin), *PEERS]
    options.peers = options.impl.split(",") if options.impl else known
    if not set(options.peers) <= set(known):
        parser.error(f"--impl: no such name in: {options.impl}")
    options.peers = sorted(options.peers, key=known.index)
    options.sizes = []
    for text in options.n.split(",") if options.n else []:
        if not text.isdecimal() or not 1 <= int(text) <= 1000000000:
            parser.error(f"--n: not a number of timers: {text}")
        options.sizes.append(int(text))
    options.agrona = None
    if options.build and AGRONA in options.peers:
        peers.build({AGRONA: lambda: build_agrona(options)}, options.versions)


def build_agrona(options):
    options.agrona = peers.build_java(options, "wheel", agrona=AGRONA)


def start(options, workload, peer):
    """The start of the command of a run; None if the peer does not have the workload."""
    if peer != AGRONA:
        return [options.program, *(word for path in options.plugin for word in ("--plugin", path))]
    if options.agrona is None or workload not in AGRONA_WORKLOADS:
        return None
    return peers.java(options.agrona, HEAP_MIB)


def sizes(options, workload):
    chosen = SIZES.get(workload, USUAL_SIZES)
    if options.sizes and workload not in FIXED:
        chosen = options.sizes
    return [n for n in chosen if not options.quick or n <= QUICK_TIMERS_MAX]


def plan(options):
    """Of a workload and number of timers, each implementation is measured once before any is
    measured again. All get the same random numbers. The first round checks how they end."""
    for workload in options.workloads:
        rounds = 1 if workload in EXACT else options.rounds or (3 if options.quick else 5)
        for n in sizes(options, workload):
            for turn in range(rounds):
                for peer in options.peers:
                    command = start(options, workload, peer)
                    if command is None:
                        continue
                    command += ["--workload", workload, "--peer", peer, "--seed", str(turn + 1)]
                    command += ["--n", str(n)] * (workload not in FIXED)
                    command += ["--check-end"] * (turn == 0) + ["--quick"] * options.quick
                    yield Run(command, {"workload": workload, "peer": peer, "timers": n}, True)
