# SPDX-License-Identifier: MIT
"""The figures of the scheduler, and what is to be reached."""

from common.report import difference, ratio

TITLE = "Scheduler"
LABELS = {"peer": "htw", "producers": 1}
PAIRS = [("pairs_per_s", "M pairs/s", 1e6), ("cpu_ns_per_pair", "CPU ns/pair", 1),
         ("pending_max", "pending, most", 1), ("memory_bytes_max", "its memory, KiB", 1024)]
COLUMNS = {
    "threads": PAIRS,
    "pair": [("ns_per_pair_p50", "ns/pair, median", 1), ("ns_per_pair_p10", "tenth percentile", 1)],
    "foreign": PAIRS,
    "headline": [("scheduled_per_s", "scheduled, M/s", 1e6), ("fired_per_s", "fired, M/s", 1e6),
                 ("backlog_at_end", "left at the end, M", 1e6), ("drain_s", "drained in s", 1),
                 ("unfired", "unfired after 60 s, M", 1e6), ("cpu_ns_per_timer", "CPU ns/timer", 1),
                 ("lateness_p50_us", "late: p50, ms", 1e3), ("lateness_p99_us", "p99, ms", 1e3),
                 ("early", "early", 1)],
    "lateness": [("lateness_p50_us", "p50, us", 1), ("lateness_p99_us", "p99, us", 1),
                 ("lateness_p99.9_us", "p99.9, us", 1), ("lateness_max_us", "most, us", 1),
                 ("early", "early", 1), ("cpu_ns_per_timer", "CPU ns/timer", 1),
                 ("unfired", "unfired after 60 s", 1)],
    "stall": [("schedule_p50_us", "schedule p50, us", 1), ("schedule_p99_us", "p99, us", 1),
              ("schedule_p99.9_us", "p99.9, us", 1), ("schedule_max_us", "most, us", 1),
              ("last_fired_late_ms", "last one late, ms", 1), ("unfired", "unfired after 60 s", 1)],
    "idle": [("wakeups_timer_thread", "wake-ups of the timer's threads", 1),
             ("wakeups_process", "of the process", 1),
             ("cpu_ms_timer_thread", "CPU ms of the timer's threads", 1),
             ("cpu_ms_process", "of the process", 1)],
    "memory": [("bytes_per_timer", "bytes/timer", 1), ("fixed_bytes", "fixed, KiB", 1024),
               ("memory_left_percent", "left after firing, %", 1),
               ("memory_left_cancelled_percent", "left after cancelling, %", 1)],
}


def thread_targets(figures):
    def pairs(peer, producers):
        return figures.get("threads", "pairs_per_s", peer=peer, producers=producers)

    def cpu(peer, workload="threads"):
        return figures.get(workload, "cpu_ns_per_pair", peer=peer)

    def memory(workload, peer):
        return figures.get(workload, "memory_bytes_max", peer=peer)

    one = pairs("htw", 1)
    yield "threads", "P=1, over Netty 1 ms", ">=", 1.5, ratio(one, pairs("netty-1ms", 1))
    yield "threads", "P=1, over Kafka's 6.8 M/s elsewhere", ">=", 3, ratio(one, 6.8e6)
    yield "threads", "P=1, over Kafka's here", ">=", 3, ratio(one, pairs("kafka", 1))
    yield "threads", "CPU ns/pair, clock read", "<=", 50, cpu("htw")
    yield "threads", "CPU ns/pair, absolute", "<=", 27, cpu("htw-absolute")
    for peer in ("htw", "htw-absolute"):
        yield "threads", f"P=2 over P=1, {peer}", ">=", 1.9, ratio(pairs(peer, 2), pairs(peer, 1))
        yield "threads", f"P=4 over P=2, {peer}", ">=", 1, ratio(pairs(peer, 4), pairs(peer, 2))
    for peer in ("htw", "htw-absolute"):
        yield ("foreign", f"CPU a pair, over own thread's, {peer}", "<=", 2,
               ratio(cpu(peer, "foreign"), cpu(peer)))
    yield ("foreign", "memory, KiB more than with as many pending, cancelled by the owner", "<=", 0,
           ratio(difference(memory("foreign", "htw"), memory("threads", "htw-lag6600")), 1024))


def headline_targets(figures):
    for peer in ("htw", "htw-w0"):
        for metric, name, relation, target, unit in (
                ("scheduled_per_s", "scheduled, M/s", ">=", 6, 1e6),
                ("fired_per_s", "fired, M/s", ">=", 6, 1e6),
                ("drain_s", "work left at the end, s", "<=", 1.2, 1),
                ("early", "early", "<=", 0, 1)):
            yield ("headline", f"{name}, {peer}", relation, target,
                   ratio(figures.get("headline", metric, peer=peer), unit))


def lateness_targets(figures):
    netty = figures.get("lateness", "cpu_ns_per_timer", peer="netty-1ms")
    for peer, p50, p99 in (("htw", 650, 1250), ("htw-w0", 650, 1250), ("htw-100us", 130, 400),
                           ("htw-100us-w0", 130, 400)):
        for metric, name, target in (("early", "early", 0), ("lateness_p50_us", "p50, us", p50),
                                     ("lateness_p99_us", "p99, us", p99)):
            yield ("lateness", f"{name}, {peer}", "<=", target,
                   figures.get("lateness", metric, peer=peer))
        if "100us" not in peer:
            yield ("lateness", f"CPU a timer, over Netty 1 ms, {peer}", "<=", 1 / 3,
                   ratio(figures.get("lateness", "cpu_ns_per_timer", peer=peer), netty))


    for metric, name in (("lateness_p50_us", "p50"), ("lateness_p99_us", "p99"),
                         ("cpu_ns_per_timer", "CPU a timer")):
        yield ("lateness", f"{name}, over the JDK's, htw-fine", "<=", 1,
               ratio(figures.get("lateness", metric, peer="htw-fine"),
                     figures.get("lateness", metric, peer="jdk")))


def other_targets(figures):
    stall = figures.get("stall", "schedule_p99.9_us")
    yield "stall", "schedule p99.9, us", "<=", 100, stall
    yield ("stall", "schedule p99.9, over Netty 1 ms", "<=", 1,
           ratio(stall, figures.get("stall", "schedule_p99.9_us", peer="netty-1ms")))
    for metric in ("wakeups_timer_thread", "cpu_ms_timer_thread"):
        yield "idle", metric, "<=", 0, figures.get("idle", metric)
    yield ("memory", "bytes/timer", "<=", 64 * 1.03,
           figures.get("memory", "bytes_per_timer"))
    for metric in ("memory_left_percent", "memory_left_cancelled_percent"):
        yield "memory", metric, "<=", 2, figures.get("memory", metric)


def targets(figures):
    for some in (thread_targets, headline_targets, lateness_targets, other_targets):
        yield from some(figures)
