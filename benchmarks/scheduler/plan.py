# SPDX-License-Identifier: MIT
"""What is run: htw and its peers in C, and the timers of the JVM, of Go and of tokio."""

from common import measure, peers

ABOUT = "Measures htw's scheduler and the timers of C programs, of the JVM, of Go and of tokio."
ROUNDS = "1; threads, foreign and pair 2"
LIMIT_S = 300

JVM_PEERS = {"jdk": ["jdk"], "netty": ["netty-1ms", "netty-100ms"], "kafka": ["kafka"]}
ARTIFACTS = {"netty": "netty-common", "kafka": "kafka-server-common"}
PEERS = {
    "jdk": "ScheduledThreadPoolExecutor",
    "jdk-forkjoin": "ForkJoinPool.schedule() of JDK 25",
    "netty-1ms": "HashedWheelTimer, tick 1 ms",
    "netty-100ms": "HashedWheelTimer, tick 100 ms",
    "kafka": "SystemTimer",
    "go": "time.AfterFunc()",
    "tokio": "a task that sleeps",
    "tokio-sleep": "a sleep without a task",
    "tokio-alt": "a task that sleeps, with tokio's alternative timer",
    "tokio-sleep-alt": "a sleep without a task, with tokio's alternative timer",
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
    options.java = {}  # of the peers that need another one than that on the PATH
    recipes = {}
    if options.build:
        recipes.update({name: lambda name=name: build_java(options, name) for name in JVM_PEERS})
        recipes["go"] = lambda: build_go(options)
        recipes["tokio"] = lambda: build_tokio(options, "")
    if options.build and not options.quick:
        recipes["jdk-forkjoin"] = lambda: build_forkjoin(options)
        recipes["tokio-alt"] = lambda: build_tokio(options, "-alt", "--cfg tokio_unstable")
    peers.build(recipes, options.versions)


def add_java(options, name, names, place=None):
    """Compiles the peers of a folder, and adds those of these names."""
    path = peers.compile_java(options.build, f"scheduler-{name}", place, "scheduler/jvm",
                              f"scheduler/jvm/{name}")
    options.versions["JVM"] = peers.java_version()
    options.jvm_peers += names
    options.outside.update(dict.fromkeys(names, path))


def build_java(options, name):
    place = peers.jars(options.build, name) if name in ARTIFACTS else None
    add_java(options, name, JVM_PEERS[name][:1] if options.quick else JVM_PEERS[name], place)
    if place:
        options.versions[name] = peers.version_of(place, ARTIFACTS[name])


def build_forkjoin(options):
    """Of the JDK, too, but it needs a newer one to run."""
    java = peers.newer_java(options.build)
    add_java(options, "jdk", ["jdk-forkjoin"])
    options.java["jdk-forkjoin"] = java
    options.versions["jdk-forkjoin"] = peers.java_version(java)


def build_go(options):
    program, version = peers.build_go(options.build, GO)
    options.outside["go"] = [program]
    options.versions["Go"] = version


def build_tokio(options, suffix, flags=""):
    plugin, version = peers.build_rust(options.build, TOKIO, flags)
    command = [options.program, "--plugin", plugin]
    options.outside.update({f"{peer}{suffix}": command for peer in ("tokio", "tokio-sleep")})
    options.versions["tokio"] = f"{peers.locked_version(TOKIO, 'tokio')} ({version})"


def run(options, workload, peer, *arguments):
    what = ["--workload", workload, "--peer", peer, *arguments, *["--quick"] * options.quick]
    if peer not in options.jvm_peers:
        return measure.Run([*options.outside.get(peer, [options.program]), *what])
    heap = min(measure.available_mib() * 3 // 4, HEAP_MIB_MAX)
    java = options.java.get(peer, "java")
    return measure.Run([*peers.java(options.outside[peer], heap, java), *what])


def native(options):
    """The peers of Go and Rust."""
    return [peer for peer in options.outside if peer not in options.jvm_peers]


def firing(options):
    """The peers outside of C whose timers fire."""
    return options.jvm_peers + [peer for peer in native(options) if not peer.startswith("tokio-sleep")]


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
        if producers == "1":
            yield run(options, "threads", "htw", *warm, "--lag", "6600")
    for peer in in_c + native(options):
        yield run(options, "foreign", peer, *warm)
    for peer in options.jvm_peers:
        yield run(options, "foreign", peer, *length)
    for peer in in_c:
        yield run(options, "pair", peer, "--seconds", "2", "--warmup", "0.5")


def plan_fired(options, others):
    """Of headline, lateness and stall."""
    inline = ["--workers", "0"]
    fired = firing(options)
    yield run(options, "headline", "htw")
    yield run(options, "headline", "htw", *inline)
    for peer in others + fired:
        yield run(options, "headline", peer)
    for peer in ("htw", "htw-100us", "htw-fine"):
        yield run(options, "lateness", peer)
        yield run(options, "lateness", peer, *inline)
    yield run(options, "lateness", "htw", "--workers", "1")
    for peer in others + ["at-once"] + fired:
        yield run(options, "lateness", peer)
    yield run(options, "stall", "htw")
    yield run(options, "stall", "htw", *inline)
    for peer in others + fired:
        yield run(options, "stall", peer)


def plan_rest(options, others):
    """Of idle, where all wait at the same time, in C and Rust alone: a virtual machine has threads of its own. And memory."""
    yield [run(options, "idle", peer) for peer in ["htw", *others, *(["tokio"] if "tokio" in options.outside else [])]]
    yield run(options, "memory", "htw")
    # Two million in C and Rust are enough: libevent takes a minute for ten.
    few = [*others, "tokio", "tokio-alt"]
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
