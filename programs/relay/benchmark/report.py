# SPDX-License-Identifier: MIT
"""The figures of the relay."""

TITLE = "Relay"
LABELS = {"peer": "htw", "mode": "exactly once", "case": ""}
LATE = [("late_p50_ms", "late p50, ms", 1), ("late_p99_ms", "p99, ms", 1), ("late_p99.9_ms", "p99.9, ms", 1),
        ("late_max_ms", "most, ms", 1)]
CPU = [("relay_cpu_s_per_million", "CPU relay", 1), ("broker_cpu_s_per_million", "broker", 1),
       ("producer_cpu_s_per_million", "producer", 1), ("consumer_cpu_s_per_million", "consumer", 1),
       ("cpu_percent", "CPU, %", 1)]
COLUMNS = {
    "steady": [("records_per_s", "k records/s", 1e3), *LATE, ("window_p99_ms", "p99 in 10 s", 1),
               ("last_p99_ms", "at last", 1), ("marker_percent", "markers, %", 1), *CPU,
               ("resident_mib", "relay, MiB", 1), ("seconds", "s", 1)],
    "late": [*LATE, ("marker_percent", "markers, %", 1), *CPU],
    "waiting": [("resident_mib", "MiB", 1), ("most_mib", "most, MiB", 1), ("filed_per_s", "k filed/s", 1e3)],
    "takeover": [("latest_s", "latest, s", 1)],
    "written": [("writes", "writes", 1), ("input_bytes", "input, bytes", 1), ("waiting_bytes", "waiting, bytes", 1),
                ("output_bytes", "output, bytes", 1), ("group_bytes", "positions, transactions", 1)],
}
