# SPDX-License-Identifier: MIT
"""End-to-end tests of `./dev bench purgatory`: test_purgatory.py PROGRAM

PROGRAM is htw-bench-purgatory. Each workload in its quickest form. Nothing depends on speed. The program
checks that each request ends once, and that no request waits at the end.
"""
import json
import re
import sys

import harness
from purgatory import report

PROGRAM = sys.argv[1]
SHORT = ["--seconds", "0.1", "--warmup", "0.05"]
PAIR = {"operations_per_s", "cpu_ns_per_operation"}
MEMORY = {"request_bytes", "purgatory_bytes", "scheduler_bytes", "bytes_per_request",
          "allocated_bytes_per_request", "resident_bytes_per_request", "retained_requests",
          "retained_watches", "retained_keys", "retained_purgatory_bytes",
          "retained_scheduler_bytes", "retained_blocks"}
ARRIVALS = {"served_per_s", "cpu_ns_per_operation", "sustained", "expired_percent"}
WAKE = {"wake_p50_us", "wake_p99_us", "wake_p99.9_us", "wake_max_us"}
EXPIRE = {"late_p50_us", "late_p99_us", "late_p99.9_us", "late_max_us", "early",
          "cpu_ns_per_operation"}
FEW = ["--keys", "100", "--requests", "100"]
# Workload, case, peer, threads, arguments, and the metrics that must be printed.
RUNS = [
    ("pair", "k2-1000-of-1000", "htw", 1, SHORT, PAIR),
    ("pair", "k1-100-of-100", "htw", 1, [*SHORT, *FEW, "--per-request", "1"], PAIR),
    ("pair", "k3-100-of-100", "htw", 2, [*SHORT, *FEW, "--per-request", "3", "--threads", "2"],
     PAIR),
    ("pair", "k2-100-of-100-each", "htw", 4, [*SHORT, *FEW, "--own-keys", "--threads", "4"], PAIR),
    ("memory", "k2-5000-of-1000", "htw", 1, ["--requests", "5000"], MEMORY),
    ("memory", "k2-5000-of-distinct-10000", "htw", 1, ["--requests", "5000", "--distinct"],
     MEMORY),
    ("arrivals", "", "htw", 1, [*SHORT, "--rate", "2000"], ARRIVALS),
    ("arrivals", "", "htw-w1", 2, [*SHORT, "--rate", "2000", "--threads", "2", "--workers", "1"],
     ARRIVALS),
    ("wake", "", "htw", 1, SHORT, WAKE),
    ("wake", "", "htw-w1", 1, [*SHORT, "--workers", "1"], WAKE),
    ("expire", "", "htw", 1, SHORT, EXPIRE),
    ("expire", "", "htw-w1", 1, [*SHORT, "--workers", "1"], EXPIRE),
]
RESULTS = []


def bench(*arguments):
    return harness.call(PROGRAM, *arguments)


def check_figures(figures, metrics, where):
    assert metrics <= set(figures), where
    for metric in PAIR & set(figures):
        assert figures[metric] > 0, where
    for metric in ("retained_requests", "retained_watches", "retained_keys",
                   "retained_purgatory_bytes", "early"):
        assert figures.get(metric, 0) == 0, where
    if "bytes_per_request" in figures:
        parts = ("request_bytes", "purgatory_bytes", "scheduler_bytes")
        difference = figures["bytes_per_request"] - sum(figures[part] for part in parts)
        assert abs(difference) < 0.1, where


def bench_every_workload_prints_its_figures():
    for workload, case, peer, threads, arguments, metrics in RUNS:
        run = bench("--workload", workload, *arguments)
        for _ in range(5):  # a loaded machine may run nothing at all in so short a time
            if "the run was too short" not in run.stderr:
                break
            run = bench("--workload", workload, *arguments)
        where = (workload, arguments, run.stdout, run.stderr)
        assert run.returncode == 0 and run.stderr == "", where
        lines = [json.loads(line) for line in run.stdout.splitlines()]
        for line in lines:
            assert set(line) == {"workload", "case", "peer", "threads", "metric", "value"}, where
            assert (line["workload"], line["case"]) == (workload, case), where
            assert (line["peer"], line["threads"]) == (peer, threads), where
            assert isinstance(line["value"], (int, float)), where
        figures = {line["metric"]: line["value"] for line in lines}
        assert len(figures) == len(lines), where
        check_figures(figures, metrics, where)
        RESULTS.extend(lines)


def bench_rate_is_looked_for():
    run = bench("--workload", "arrivals", *SHORT)
    assert run.returncode == 0, run.stderr
    metrics = {json.loads(line)["metric"] for line in run.stdout.splitlines()}
    assert {"cpu_ns_per_operation_at_200k", "served_per_s_at_most"} <= metrics, metrics
    assert {"sustained_per_s", "not_sustained_per_s"} & metrics, metrics


def bench_report_has_every_figure():
    text = harness.report_text(report, RESULTS)
    for workload in report.COLUMNS:
        assert f"\n## {workload}\n" in text, text
    targets = text.split("\n## To reach\n")[1]
    assert "| expire | early | <= 0 | 0 | yes |" in targets, targets
    assert "over Kafka's here | >= 4 | | not measured |" in targets, targets


def bench_runner_prints_what_it_was_asked_for():
    run, _ = harness.quick_run("purgatory", PROGRAM, "--workload", "wake,memory")
    assert re.findall(r"^## (.*)", run.stdout, re.MULTILINE) == ["memory", "wake", "To reach"]
    for row in ("k2-100000-of-1000", "k2-100000-of-distinct-200000", "htw", "htw-w1"):
        assert f"\n| {row} " in run.stdout, run.stdout


def bench_wrong_options_are_refused():
    harness.refuses(bench, "htw-bench-purgatory: ", "", "--workload nosuch", "--workload wake --threads 2",
                    "--workload wake --keys 5", "--workload pair --distinct", "--workload memory --own-keys",
                    "--workload memory --seconds 1", "--workload memory --distinct --keys 7",
                    "--workload arrivals --requests 7", "--workload pair --rate 7", "--workload pair --per-request 9",
                    "--workload pair --requests 2 --threads 3", "--workload pair --seconds 0",
                    "--workload pair extra", "--nosuch")


harness.run(globals())
