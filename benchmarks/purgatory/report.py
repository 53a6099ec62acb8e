#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints what run.py has measured as tables in Markdown, and holds it against the targets.

usage: report.py RESULTS.json

Where a run was done more than once, the median counts.
"""

import json
import pathlib
import statistics
import sys

sys.path.append(str(pathlib.Path(__file__).resolve().parents[1]))
from tables import number, ratio, table, target_table  # noqa: E402

LATENESS = [("p50_us", "p50, us"), ("p99_us", "p99, us"), ("p99.9_us", "p99.9, us"),
            ("max_us", "most, us")]
# Of each workload: metric, head of its column, what its values are divided by.
COLUMNS = {
    "pair": [("ns_per_operation_p50", "ns/operation in a thread, median", 1),
             ("operations_per_s", "M operations/s", 1e6),
             ("cpu_ns_per_operation", "CPU ns/operation", 1)],
    "memory": [("bytes_per_request", "bytes/request", 1),
               ("request_bytes", "of these the request", 1),
               ("purgatory_bytes", "the purgatory", 1), ("scheduler_bytes", "the timer", 1),
               ("allocated_bytes_per_request", "as the allocator counts", 1),
               ("resident_bytes_per_request", "resident", 1),
               ("retained_requests", "retained: requests", 1),
               ("retained_watches", "watches", 1),
               ("retained_keys", "keys", 1),
               ("retained_purgatory_bytes", "bytes of the purgatory", 1),
               ("retained_scheduler_bytes", "of the scheduler", 1),
               ("retained_blocks", "blocks", 1)],
    "arrivals": [("sustained_per_s", "sustained, M/s", 1e6),
                 ("not_sustained_per_s", "not even sustained, M/s", 1e6),
                 ("served_per_s_at_most", "served at most, M/s", 1e6),
                 ("cpu_ns_per_operation", "CPU ns/operation when sustained", 1),
                 ("cpu_ns_per_operation_at_200k", "at 200 000/s", 1),
                 ("completed_late_p50_us", "completed late: p50, us", 1),
                 ("completed_late_p99_us", "p99, us", 1),
                 ("expired_percent", "expired, %", 1)],
    "wake": [(f"wake_{metric}", head, 1) for metric, head in LATENESS],
    "expire": [*((f"late_{metric}", head, 1) for metric, head in LATENESS), ("early", "early", 1),
               ("cpu_ns_per_operation", "CPU ns/operation", 1)],
}
ORDER = ["pair", "memory", "arrivals", "wake", "expire"]
KAFKA_RATE = 580e3  # a second, measured elsewhere with its own driver


class Figures:
    """The medians, by workload, case, peer, threads and metric."""

    def __init__(self, results):
        values = {}
        for line in results:
            key = (line["workload"], line["case"], line["peer"], line["threads"], line["metric"])
            values.setdefault(key, []).append(line["value"])
        self.medians = {key: statistics.median(found) for key, found in values.items()}

    def get(self, workload, metric, case="", threads=1, peer="htw"):
        return self.medians.get((workload, case, peer, threads, metric))

    def rows(self, workload):
        """Cases, numbers of threads and peers, in the order in which they were measured first."""
        rows = {}
        for name, case, peer, threads, _ in self.medians:
            if name == workload:
                rows[case, threads, peer] = None
        return list(rows)


def workload_table(figures, workload):
    rows = figures.rows(workload)

    def value(row, metric):
        case, threads, peer = row
        return figures.get(workload, metric, case, threads, peer)

    columns = [column for column in COLUMNS[workload]
               if any(value(row, column[0]) is not None for row in rows)]
    has_case = any(row[0] for row in rows)
    has_threads = any(row[1] != 1 for row in rows)
    head = ["case"] * has_case + ["threads"] * has_threads + ["peer"]
    lines = []
    for row in rows:
        line = [row[0]] * has_case + [str(row[1])] * has_threads + [row[2]]
        for metric, _, unit in columns:
            found = value(row, metric)
            line.append(number(None if found is None else found / unit))
        if value(row, "out_of_memory"):
            line[-len(columns)] = "out of memory"
        lines.append(line)
    return table(head + [column[1] for column in columns], lines)


def pair_targets(figures):
    def pair(metric, case, threads=1, peer="htw"):
        return figures.get("pair", metric, case, threads, peer)

    few, many = "k2-1000-of-1000", "k2-10000-of-100000"
    for case, target in ((few, 130), (many, 300)):
        ns = pair("ns_per_operation_p50", case)
        yield "pair", f"ns/operation, {case}", "<=", target, ns
        yield ("pair", f"Kafka's, over it, {case}", ">=", 1,
               ratio(pair("ns_per_operation_p50", case, 1, "kafka"), ns))
    for case in (few, f"{few}-each", many):
        alone = "k2-1000-of-1000" if case.startswith(few) else many
        for threads in (2, 4):
            together = pair("operations_per_s", case, threads)
            if together is not None or threads == 2:
                yield ("pair", f"{threads} threads over 1, {case}", ">=", 1.6,
                       ratio(together, pair("operations_per_s", alone)))


def other_targets(figures):
    for requests in (100000, 1000000):
        for case, target in ((f"k2-{requests}-of-1000", 192),
                             (f"k2-{requests}-of-distinct-{2 * requests}", 320)):
            for metric in ("bytes_per_request", "resident_bytes_per_request"):
                yield ("memory", f"{metric}, {case}", "<=", target,
                       figures.get("memory", metric, case))
            for metric in ("retained_requests", "retained_watches", "retained_keys"):
                yield "memory", f"{metric}, {case}", "<=", 0, figures.get("memory", metric, case)

    def best(peer):
        found = [figures.get("arrivals", "sustained_per_s", "", threads, peer)
                 for threads in (1, 2)]
        return max(filter(None, found), default=None)

    yield ("arrivals", "sustained, over Kafka's 580 000/s elsewhere", ">=", 4,
           ratio(best("htw"), KAFKA_RATE))
    yield ("arrivals", "sustained, over Kafka's here", ">=", 4, ratio(best("htw"), best("kafka")))
    yield "expire", "early", "<=", 0, figures.get("expire", "early")


def all_targets(figures):
    yield from pair_targets(figures)
    yield from other_targets(figures)


def print_all(document):
    figures = Figures(document["results"])
    print("# Purgatory\n")
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
