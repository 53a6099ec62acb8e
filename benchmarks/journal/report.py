# SPDX-License-Identifier: MIT
"""The figures of the journal, and what is to be reached."""

from common.report import ratio

TITLE = "Journal"
LABELS = {"peer": "htw", "place": "disk", "case": "", "threads": 1}
NOW = "1000 jobs, due at once"
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


def targets(figures):
    for place in ("disk", "tmpfs"):
        for peer in ("htw", "htw-normal"):
            rate = figures.get("cycle", "jobs_per_s", peer=peer, place=place, case=NOW)
            yield "cycle", f"k jobs/s, 1000 in flight, {peer}, {place}", ">=", 150, ratio(rate, 1e3)
    one = figures.get("put", "puts_per_s", threads=1)
    many = figures.get("put", "puts_per_s", threads=256)
    yield "put", "256 threads over one", ">=", 20, ratio(many, one)
    put = figures.get("latency", "put_p50_us")
    for metric, what in (("append_p50_us", "append"), ("overwrite_p50_us", "overwrite")):
        yield ("latency", f"p50 over that of {what} and fdatasync", "<=", 1.5,
               ratio(put, figures.get("latency", metric)))
    for jobs in ("1000000 jobs", "10000000 jobs", "1000000 jobs, log of 256 MiB"):
        for metric, what in (("clean_cold_ms", "stopped, cold"), ("killed_cold_ms", "killed, cold")):
            yield ("restart", f"ms until open, {jobs}, {what}", "<=", 1000,
                   figures.get("restart", metric, case=jobs))
