#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Prints the results of run.py as tables in Markdown, and compares them with the targets.

usage: report.py RESULTS.json

Figures are medians over the rounds. A ratio is the median of the ratios of the rounds, in each of which
both servers run one after the other.
"""

import json
import pathlib
import statistics
import sys

WORKLOADS = ["requests", "wake", "timeouts", "memory"]
ABOUT = {
    "requests": "redis-benchmark with 50 connections; P requests at a time on each",
    "wake": "from the write of an LPUSH until the blocked client has read its item",
    "timeouts": "BLPOP with 1 to 3 s: how late the client has read the nil",
    "memory": "growth of the server for each client",
}
# Of each workload: metric, head of its column, divisor of its values, whether to print the ratio.
COLUMNS = {
    "requests": [("requests_per_s", "requests/s", 1, True),
                 ("cpu_us_per_request", "CPU us/request", 1, True),
                 ("busy_percent", "its core busy, %", 1, False)],
    "wake": [("wake_p50_us", "p50, us", 1, True), ("wake_p99_us", "p99, us", 1, True),
             ("wake_p99.9_us", "p99.9, us", 1, False), ("wake_max_us", "max, us", 1, False)],
    "timeouts": [("late_p50_us", "p50, ms", 1e3, True), ("late_p99_us", "p99, ms", 1e3, True),
                 ("late_max_us", "max, ms", 1e3, False), ("early", "early", 1, False)],
    "memory": [("bytes_per_connected_client", "connected, bytes", 1, False),
               ("bytes_per_blocked_client", "just blocked, bytes", 1, True),
               ("bytes_per_idle_client", "blocked for a while, bytes", 1, True),
               ("idle_bytes", "without clients, KiB", 1024, False)],
}
SERVERS = ["redis", "broker"]
NAMES = {"redis": "redis-server", "broker": "broker"}


def number(value):
    if value is None:
        return ""
    if value == 0:
        return "0"
    return f"{value:.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def table(head, rows):
    lines = ["| " + " | ".join(head) + " |", "|---" * len(head) + "|"]
    return "\n".join(lines + ["| " + " | ".join(row) + " |" for row in rows])


class Figures:
    def __init__(self, results):
        self.values = {}
        for line in results:
            key = line["workload"], line["case"], line["metric"], line["server"]
            self.values.setdefault(key, []).append(line["value"])

    def cases(self, workload):
        """In the order in which they were measured."""
        return list(dict.fromkeys(key[1] for key in self.values if key[0] == workload))

    def median(self, workload, case, metric, server):
        values = self.values.get((workload, case, metric, server))
        return statistics.median(values) if values else None

    def ratio(self, workload, case, metric):
        """The broker's figure divided by redis-server's."""
        redis, broker = (self.values.get((workload, case, metric, server), [])
                         for server in SERVERS)
        if not redis or len(redis) != len(broker) or not all(redis):
            return None
        return statistics.median(ours / theirs for ours, theirs in zip(broker, redis))


def workload_table(figures, workload):
    head = [""]
    for _, name, _, has_ratio in COLUMNS[workload]:
        head += [f"{name}: {NAMES['redis']}", "broker"] + ["ratio"] * has_ratio
    rows = []
    for case in figures.cases(workload):
        row = [case]
        for metric, _, unit, has_ratio in COLUMNS[workload]:
            for server in SERVERS:
                value = figures.median(workload, case, metric, server)
                row.append(number(None if value is None else value / unit))
            if has_ratio:
                row.append(number(figures.ratio(workload, case, metric)))
        rows.append(row)
    return table(head, rows)


def targets(figures):
    """Yields workload, figure, relation, target, result."""
    for case in figures.cases("requests"):
        yield ("requests", f"{case}, requests/s over redis-server's", ">=", 0.7,
               figures.ratio("requests", case, "requests_per_s"))
    for case in figures.cases("wake"):
        for name in ("p50", "p99"):
            yield ("wake", f"{case}, {name} over redis-server's", "<=", 1,
                   figures.ratio("wake", case, f"wake_{name}_us"))
    for case in figures.cases("timeouts"):
        yield "timeouts", "early", "<=", 0, figures.median("timeouts", case, "early", "broker")
        late = figures.median("timeouts", case, "late_max_us", "broker")
        yield "timeouts", "the latest, ms", "<=", 10, None if late is None else late / 1e3


def target_table(figures):
    rows = []
    for workload, what, relation, target, reached in targets(figures):
        if reached is None:
            verdict = "not measured"
        elif reached >= target if relation == ">=" else reached <= target:
            verdict = "yes"
        else:
            verdict = "**no**"
        rows.append([workload, what, f"{relation} {target:.3g}", number(reached), verdict])
    return table(["workload", "figure", "target", "here", "reached"], rows)


def print_all(document):
    figures = Figures(document["results"])
    print("# The broker beside redis-server\n")
    print(", ".join(f"{name}: {value}" for name, value in document["machine"].items()))
    for note in document["notes"]:
        print(f"\n**{note}**")
    for workload in WORKLOADS:
        if figures.cases(workload):
            print(f"\n## {workload}: {ABOUT[workload]}\n\n{workload_table(figures, workload)}")
    print(f"\n## Targets\n\n{target_table(figures)}")


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    print_all(json.loads(pathlib.Path(sys.argv[1]).read_text()))


if __name__ == "__main__":
    main()
