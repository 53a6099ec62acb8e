# SPDX-License-Identifier: MIT
"""What is run: htw and its peers in C, and the timers of the JVM, of Go and of tokio."""

from common import measure, peers

ABOUT = "Measures htw's scheduler and the timers of C programs, of the JVM, of Go and of tokio."
ROUNDS = "1; threads, foreign and pair 2"
LIMIT_S = 300

JVM_PEERS = {
    "jdk": "ScheduledThreadPoolExecutor",
    "netty-1ms": "HashedWheelTimer, tick 1 ms",
    "netty-100ms": "HashedWheelTimer, tick 100 ms",
    "kafka": "SystemTimer",
}
PEERS = {
    **JVM_PEERS,
    "go": "time.AfterFunc()",
    "tokio": "a task that sleeps",
    "tokio-sleep": "a sleep without a task",
}
GO = "scheduler/go"
TOKIO = "scheduler/tokio"
HEAP_MIB_MAX = 31000  # above, pointers are no longer compressed


def prepare(options, _):
    """Builds the peers that are not C, where --build says. options.outside: the start of the command of
    each, or the class path of those of the JVM."""
    options.peers = list(measure.names(options.program, "peers"))
    if options.quick:
        options.peers = [peer for peer in options.peers if not peer.startswith("lib")]
    options.outside, options.jvm_peers = {}, []
    if options.build:
        peers.build({"JVM": lambda: build_java(options), "go": lambda: build_go(options),
                     "tokio": lambda: build_tokio(options)}, options.versions)


def build_java(options):
    path = peers.build_java(options, "scheduler", netty="netty-common", kafka="kafka-server-common")
    options.jvm_peers = [peer for peer in JVM_PEERS if not options.quick or peer != "netty-100ms"]
    options.outside.update(dict.fromkeys(options.jvm_peers, path))


def build_go(options):
    program, version = peers.build_go(options.build, GO)
    options.outside["go"] = [program]
    options.versions["Go"] = version


def build_tokio(options):
    plugin, version = peers.build_rust(options.build, TOKIO)
    options.outside.update(dict.fromkeys(("tokio", "tokio-sleep"), [options.program, "--plugin", plugin]))
    options.versions["tokio"] = f"{peers.locked_version(TOKIO, 'tokio')} ({version})"


def run(options, workload, peer, *arguments):
    what = ["--workload", workload, "--peer", peer, *arguments, *["--quick"] * options.quick]
    if peer not in options.jvm_peers:
        return measure.Run([*options.outside.get(peer, [options.program]), *what])
    heap = min(measure.available_mib() * 3 // 4, HEAP_MIB_MAX)
    return measure.Run([*peers.java(options.outside[peer], heap), *what])


def native(options):
    """The peers of Go and Rust."""
    return [peer for peer in options.outside if peer not in options.jvm_peers]


def firing(options):
    """The peers outside of C whose timers fire."""
    return options.jvm_peers + [peer for peer in native(options) if peer != "tokio-sleep"]


def plan_pairs(options, in_c):
    """Of threads, foreign and pair."""
    length = [] if options.quick else ["--seconds", "3"]
    warm = [*length, "--warmup", "0.5"]
    for producers in ("1", "2") if options.quick else ("1", "2", "4"):
        many = ["--producers", producers]
        for peer in in_c + native(options):
            yield run(options, "threads", peer, *many, *warm)
        for peer in options.jvm_peers:
            yield run(options, "threads", peer, *many, *length)
    for peer in in_c + native(options):
        yield run(options, "foreign", peer, *warm)
    for peer in options.jvm_peers:
        yield run(options, "foreign", peer, *length)
    for peer in in_c:
        yield run(options, "pair", peer, "--seconds", "2", "--warmup", "0.5")


def plan_fired(options, others):
    """Of headline, lateness and stall."""
    for workload, own, harness in (("headline", ["htw"], []),
                                   ("lateness", ["htw", "htw-100us", "htw-fine"], ["at-once"]),
                                   ("stall", ["htw"], [])):
        for peer in own:
            yield run(options, workload, peer)
            yield run(options, workload, peer, "--workers", "0")
        for peer in [*harness, *others, *firing(options)]:
            yield run(options, workload, peer)


def plan_rest(options, others):
    """Of idle, where all wait at the same time, in C and Rust alone: a virtual machine has threads of its own. And memory."""
    yield [run(options, "idle", peer) for peer in ["htw", *others, *(["tokio"] if "tokio" in options.outside else [])]]
    for peer in ["htw", *(["go"] if "go" in options.outside else [])]:
        yield run(options, "scope", peer)
    yield run(options, "memory", "htw")
    # Two million in C and Rust are enough: libevent takes a minute for ten.
    few = [*others, "tokio"]
    for peer in others + firing(options):
        yield run(options, "memory", peer, *["--timers", "200000"] * (peer in few))


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
