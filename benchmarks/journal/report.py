# SPDX-License-Identifier: MIT
"""The figures of the journal."""

TITLE = "Journal"
LABELS = {"peer": "htw", "place": "disk", "case": "", "threads": 1}
QUEUE = [("jobs_per_s", "jobs/s", 1), ("jobs_per_s:spread", "least-most", 1),
         ("job_p50_us", "p50, us", 1), ("job_p99_us", "p99, us", 1)]
COLUMNS = {
    "cycle": [("jobs_per_s", "k jobs/s", 1e3), ("jobs_per_s:spread", "least-most", 1e3),
              ("cpu_us_per_job", "CPU us/job", 1)],
    "put": [("puts_per_s", "puts/s", 1), ("puts_per_s:spread", "least-most", 1),
            ("put_p50_us", "p50, us", 1), ("put_p99_us", "p99, us", 1)],
    "queue": QUEUE,
    "queue-durable": QUEUE,
    "latency": [("put_p50_us", "put p50, us", 1), ("put_p50_us:spread", "least-most", 1),
                ("put_p99_us", "p99", 1),
                ("append_p50_us", "append p50, us", 1), ("append_p99_us", "p99", 1),
                ("overwrite_p50_us", "overwrite p50, us", 1), ("overwrite_p99_us", "p99", 1),
                ("written_bytes", "bytes", 1)],
    "lateness": [("lateness_p50_us", "p50, ms", 1e3), ("lateness_p50_us:spread", "least-most", 1e3),
                 ("lateness_p99_us", "p99, ms", 1e3), ("lateness_p99.9_us", "p99.9, ms", 1e3),
                 ("lateness_max_us", "most, ms", 1e3), ("cpu_us_per_job", "CPU us/job", 1)],
    "space": [("disk_bytes_per_job", "disk, bytes/job", 1), ("resident_mib", "memory, MiB", 1),
              ("put_per_s", "put, k/s", 1e3)],
    "restart": [("clean_warm_ms", "stopped, ms", 1), ("clean_cold_ms", "cold cache, ms", 1),
                ("killed_warm_ms", "killed, ms", 1), ("killed_cold_ms", "cold cache, ms", 1),
                ("log_mib", "log, MiB", 1), ("resident_mib", "memory after, MiB", 1)],
}
