# SPDX-License-Identifier: MIT
"""The figures of the purgatory."""

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
               ("purgatory_bytes", "the purgatory", 1),
               ("resident_bytes_per_request", "resident", 1),
               ("retained_requests", "retained: requests", 1),
               ("retained_watches", "watches", 1),
               ("retained_keys", "keys", 1),
               ("retained_purgatory_bytes", "bytes", 1)],
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
