# SPDX-License-Identifier: MIT
"""End-to-end tests of `./dev bench serve`: test_serve.py PROGRAM SERVE

PROGRAM is htw-bench-serve, SERVE htw-serve. Each workload in its quickest form, with beanstalkd if that is installed;
nothing depends on speed.
"""
import json
import pathlib
import sys
import tempfile

import harness
from serve import report

PROGRAM, SERVE = sys.argv[1:]
SHORT = ["--seconds", "0.2", "--warmup", "0.05"]


def percentiles(what):
    return {f"{what}_{name}" for name in ("p50_us", "p99_us", "p99.9_us", "max_us")}


RATE = {"jobs_per_s", "cpu_us_per_job"}
# Of each workload: what makes it short, and the metrics that it must print.
WORKLOADS = {
    "put": ([*SHORT, "--clients", "3"], RATE | percentiles("job")),
    "cycle": ([*SHORT, "--clients", "3"], RATE | percentiles("job")),
    "hand": ([*SHORT, "--clients", "4"], RATE | percentiles("pass")),
    "beside": (["--count", "3000"], {"touch_per_s", "put_per_s"} | percentiles("touch") | percentiles("put")),
    "lateness": (["--seconds", "0.2", "--rate", "300"], RATE | percentiles("pass")),
    "waiting": ([*SHORT, "--clients", "50"], RATE | {"bytes_per_worker"} | percentiles("pass")),
    "delayed": (["--count", "1200"], {"put_per_s", "resident_mib"}),
}
RESULTS = []


def bench(*arguments, serve=SERVE):
    with tempfile.TemporaryDirectory() as folder:
        run = harness.call(PROGRAM, "--folder", folder, "--serve", serve, *arguments)
        logs = [log.read_text() for log in pathlib.Path(folder).glob("*.log")]
    return run, logs


def measure(workload, peer, *more):
    run, logs = bench("--workload", workload, "--peer", peer, *WORKLOADS[workload][0], *more)
    assert run.returncode == 0, (workload, peer, more, run.stderr, logs)
    assert run.stderr == "", (workload, peer, run.stderr)
    lines = [json.loads(line) for line in run.stdout.splitlines()]
    for line in lines:
        assert set(line) == {"workload", "peer", "mode", "clients", "metric", "value"}
        assert (line["workload"], line["peer"]) == (workload, peer), line
    RESULTS.extend(lines)
    return {line["metric"]: line["value"] for line in lines}


def bench_every_workload_measures_both_servers():
    for peer in ("htw", "beanstalkd"):
        for mode in ([], ["--durable"]):
            for workload, (_, metrics) in WORKLOADS.items():
                figures = measure(workload, peer, *mode)
                if peer == "beanstalkd" and str(figures.get("state", "")).startswith("left out: "):
                    continue
                assert metrics <= set(figures), (workload, peer, figures)
                grown = figures.pop("resident_mib", 0)  # a server may have given some back meanwhile
                assert grown > -16 and all(value >= 0 for value in figures.values()), (workload, peer, grown, figures)
                assert ("start_ms" in figures) == (workload == "delayed" and mode != []), figures


def bench_report_has_every_figure():
    text = harness.report_text(report, RESULTS + RESULTS)
    for workload in WORKLOADS:
        assert f"\n## {workload}\n" in text, text
    assert "\n| put | 16 clients over beanstalkd, durable | >= 6 |" in text, text


def bench_a_server_that_does_not_start_is_a_failure():
    run, _ = bench("--workload", "put", "--peer", "htw", serve="/bin/false")
    assert run.returncode == 1 and "htw-serve has ended" in run.stderr and run.stdout == "", run


def bench_wrong_options_are_refused():
    harness.refuses(lambda *words: bench(*words)[0], "htw-bench-serve: ", "", "--workload nosuch --peer htw",
                    "--workload put", "--workload put --peer nosuch", "--workload put --peer htw --count 1",
                    "--workload put --peer htw --clients 0", "--workload beside --peer htw --rate 5",
                    "--workload put --peer htw --folder /nosuch", "--workload put --peer htw extra", "--nosuch")


harness.run(globals())
