# SPDX-License-Identifier: MIT
"""The figures of the server."""

TITLE = "Server"
LABELS = {"mode": "memory", "clients": 1, "peer": "htw"}
RATES = [("jobs_per_s", "k jobs/s", 1e3), ("jobs_per_s:spread", "least-most", 1e3), ("job_p50_us", "p50, us", 1),
         ("job_p99_us", "p99, us", 1), ("cpu_us_per_job", "CPU us/job", 1)]
TIMES = [("jobs_per_s", "k jobs/s", 1e3), ("pass_p50_us", "p50, us", 1), ("pass_p50_us:spread", "least-most", 1),
         ("pass_p99_us", "p99, us", 1), ("cpu_us_per_job", "CPU us/job", 1)]
COLUMNS = {
    "put": RATES,
    "cycle": RATES,
    "hand": TIMES,
    "beside": [("touch_per_s", "k touches/s", 1e3), ("touch_p50_us", "beside: p50, us", 1), ("touch_p99_us", "p99, us", 1),
               ("put_per_s", "k puts/s", 1e3), ("put_p50_us", "beside: p50, us", 1), ("put_p99_us", "p99, us", 1)],
    "lateness": TIMES,
    "waiting": [("bytes_per_worker", "bytes/worker", 1), *TIMES[1:]],
    "delayed": [("put_per_s", "k puts/s", 1e3), ("resident_mib", "memory, MiB", 1), ("start_ms", "start, ms", 1),
                ("started_mib", "memory after it, MiB", 1)],
}
