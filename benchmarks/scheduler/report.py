# SPDX-License-Identifier: MIT
"""The figures of the scheduler."""

TITLE = "Scheduler"
LABELS = {"peer": "htw", "producers": 1}
PAIRS = [("pairs_per_s", "M pairs/s", 1e6), ("cpu_ns_per_pair", "CPU ns/pair", 1),
         ("pending_max", "pending, most", 1)]
COLUMNS = {
    "threads": PAIRS,
    "pair": [("ns_per_pair_p50", "ns/pair, median", 1)],
    "foreign": PAIRS,
    "scope": [("ns_tighter_p50", "ns/scope, tighter", 1), ("ns_not_tighter_p50", "ns/scope, not tighter", 1),
              ("bytes", "bytes", 1)],
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
             ("cpu_ms_timer_thread", "CPU ms of these", 1)],
    "memory": [("bytes_per_timer", "bytes/timer", 1), ("fixed_bytes", "fixed, KiB", 1024),
               ("memory_left_percent", "left after firing, %", 1),
               ("memory_left_cancelled_percent", "left after cancelling, %", 1)],
}
