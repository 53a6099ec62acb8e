# SPDX-License-Identifier: MIT
"""The figures of the server, and what is to be reached."""

from common.report import ratio

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
# Durable puts of htw over those of beanstalkd with -f0, by clients.
DURABLE = {1: 1, 16: 6, 256: 15}


def over(figures, mode, clients):
    htw, other = (figures.get("put", "jobs_per_s", peer=peer, mode=mode, clients=clients)
                  for peer in ("htw", "beanstalkd"))
    return ratio(htw, other)


def targets(figures):
    for clients, wanted in DURABLE.items():
        yield "put", f"{clients} clients over beanstalkd, in memory", ">=", 1, over(figures, "memory", clients)
        yield "put", f"{clients} clients over beanstalkd, durable", ">=", wanted, over(figures, "durable", clients)
    for what, metric in (("that change nothing", "touch_p99_us"), ("that put", "put_p99_us")):
        yield ("beside", f"p99 beside a million commands {what}, us", "<=", 1500,
               figures.get("beside", metric, peer="htw", mode="memory"))
