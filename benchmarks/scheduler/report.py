#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what run.py has measured as tables in Markdown, and holds it against the targets.

usage: report.py RESULTS.json

Where a run was done more than once, the median counts; with an even number, the mean of the
two in the middle.
"""

import json
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from tables import number, ratio, table, target_table  # noqa: E402

# Of each workload: metric, head of its column, what its values are divided by.
COLUMNS = {
    "threads": [("pairs_per_s", "M pairs/s", 1e6), ("cpu_ns_per_pair", "CPU ns/pair", 1),
                ("pending_max", "pending, most", 1), ("memory_bytes_max", "its memory, KiB", 1024)],
    "pair": [("ns_per_pair_p50", "ns/pair, median", 1), ("ns_per_pair_p10", "tenth percentile", 1)],
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
COLUMNS["foreign"] = COLUMNS["threads"]
ORDER = ["threads", "pair", "foreign", "headline", "lateness", "stall", "idle", "memory"]


class Figures:
    """The medians, by workload, peer, producers and metric."""

    def __init__(self, results):
        values = {}
        for line in results:
            key = line["workload"], line["peer"], line["producers"], line["metric"]
            values.setdefault(key, []).append(line["value"])
        self.medians = {key: statistics.median(found) for key, found in values.items()}

    def get(self, workload, peer, metric, producers=1):
        return self.medians.get((workload, peer, producers, metric))

    def rows(self, workload):
        """Peers and numbers of producers, in the order in which they were measured first."""
        rows = {}
        for name, peer, producers, _ in self.medians:
            if name == workload:
                rows[peer, producers] = None
        return sorted(rows, key=lambda row: row[1])


def workload_table(figures, workload):
    columns = [column for column in COLUMNS[workload]
               if any(figures.get(workload, peer, column[0], producers) is not None
                      for peer, producers in figures.rows(workload))]
    many = any(producers != 1 for _, producers in figures.rows(workload))
    head = ["peer"] + ["producers"] * many + [column[1] for column in columns]
    rows = []
    for peer, producers in figures.rows(workload):
        row = [peer] + [str(producers)] * many
        for metric, _, unit in columns:
            value = figures.get(workload, peer, metric, producers)
            row.append(number(None if value is None else value / unit))
        if figures.get(workload, peer, "out_of_memory", producers):
            row[-len(columns)] = "out of memory"
        rows.append(row)
    return table(head, rows)


def difference(value, base):
    return None if value is None or base is None else value - base


def thread_targets(figures):
    def pairs(peer, producers):
        return figures.get("threads", peer, "pairs_per_s", producers)

    def cpu(peer, workload="threads"):
        return figures.get(workload, peer, "cpu_ns_per_pair")

    def memory(workload, peer):
        return figures.get(workload, peer, "memory_bytes_max")

    one = pairs("htw", 1)
    yield "threads", "P=1, over Netty 1 ms", ">=", 1.5, ratio(one, pairs("netty-1ms", 1))
    yield "threads", "P=1, over Kafka's 6.8 M/s", ">=", 3, ratio(one, 6.8e6)
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
                   ratio(figures.get("headline", peer, metric), unit))


def lateness_targets(figures):
    netty = figures.get("lateness", "netty-1ms", "cpu_ns_per_timer")
    for peer, p50, p99 in (("htw", 650, 1250), ("htw-w0", 650, 1250), ("htw-100us", 130, 400),
                           ("htw-100us-w0", 130, 400)):
        for metric, name, target in (("early", "early", 0), ("lateness_p50_us", "p50, us", p50),
                                     ("lateness_p99_us", "p99, us", p99)):
            yield ("lateness", f"{name}, {peer}", "<=", target,
                   figures.get("lateness", peer, metric))
        if "100us" not in peer:
            yield ("lateness", f"CPU a timer, over Netty 1 ms, {peer}", "<=", 1 / 3,
                   ratio(figures.get("lateness", peer, "cpu_ns_per_timer"), netty))


def other_targets(figures):
    stall = figures.get("stall", "htw", "schedule_p99.9_us")
    yield "stall", "schedule p99.9, us", "<=", 100, stall
    yield ("stall", "schedule p99.9, over Netty 1 ms", "<=", 1,
           ratio(stall, figures.get("stall", "netty-1ms", "schedule_p99.9_us")))
    for metric in ("wakeups_timer_thread", "cpu_ms_timer_thread"):
        yield "idle", metric, "<=", 0, figures.get("idle", "htw", metric)
    yield ("memory", "bytes/timer", "<=", 64 * 1.03,
           figures.get("memory", "htw", "bytes_per_timer"))
    for metric in ("memory_left_percent", "memory_left_cancelled_percent"):
        yield "memory", metric, "<=", 2, figures.get("memory", "htw", metric)


def all_targets(figures):
    for targets in (thread_targets, headline_targets, lateness_targets, other_targets):
        yield from targets(figures)


def print_all(document):
    figures = Figures(document["results"])
    print("# Scheduler\n")
    print(", ".join(f"{name}: {value}" for name, value in document["machine"].items()))
    for workload in ORDER:
        if figures.rows(workload):
            print(f"\n## {workload}\n\n{workload_table(figures, workload)}")
    print(f"\n## To reach\n\n{target_table(all_targets(figures))}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print_all(json.loads(pathlib.Path(sys.argv[1]).read_text()))


if __name__ == "__main__":
    main()
