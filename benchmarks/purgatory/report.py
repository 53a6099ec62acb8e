# SPDX-License-Identifier: MIT
"""The figures of the purgatory, and what is to be reached."""

from common.report import ratio

TITLE = "Purgatory"
LABELS = {"case": "", "threads": 1, "peer": "htw"}
LATENESS = [("p50_us", "p50, us"), ("p99_us", "p99, us"), ("p99.9_us", "p99.9, us"),
            ("max_us", "most, us")]
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
KAFKA_RATE = 580e3  # a second, measured elsewhere with its own driver


def pair_targets(figures):
    def pair(metric, case, threads=1, peer="htw"):
        return figures.get("pair", metric, case=case, threads=threads, peer=peer)

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
                       figures.get("memory", metric, case=case))
            for metric in ("retained_requests", "retained_watches", "retained_keys"):
                yield ("memory", f"{metric}, {case}", "<=", 0,
                       figures.get("memory", metric, case=case))

    def best(peer):
        found = [figures.get("arrivals", "sustained_per_s", threads=threads, peer=peer)
                 for threads in (1, 2)]
        return max(filter(None, found), default=None)

    yield ("arrivals", "sustained, over Kafka's 580 000/s elsewhere", ">=", 4,
           ratio(best("htw"), KAFKA_RATE))
    yield ("arrivals", "sustained, over Kafka's here", ">=", 4, ratio(best("htw"), best("kafka")))
    yield "expire", "early", "<=", 0, figures.get("expire", "early")


def targets(figures):
    yield from pair_targets(figures)
    yield from other_targets(figures)
