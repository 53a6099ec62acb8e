# SPDX-License-Identifier: MIT
"""End-to-end tests of `./dev bench scheduler`: test_scheduler.py PROGRAM

PROGRAM is htw-bench-scheduler. Each workload in its quickest form, with each peer. Nothing depends on
speed: on a busy machine the short times may pass with hardly anything pending.
"""
import concurrent.futures
import json
import re
import sys

import harness
from scheduler import report

PROGRAM = sys.argv[1]
PAIRS = {"pairs_per_s", "cpu_ns_per_pair", "pending_max"}
LATENESS = {"lateness_p50_us", "lateness_p99_us", "lateness_p99.9_us", "lateness_max_us", "early",
            "cpu_ns_per_timer"}
SHORT = ["--seconds", "0.1", "--warmup", "0.05"]
# Of each workload: what makes it short, and the metrics that it must print.
WORKLOADS = {
    "threads": (SHORT + ["--producers", "2"], PAIRS),
    "foreign": (SHORT, PAIRS),
    "pair": (SHORT, {"ns_per_pair_p50", "ns_per_pair_p10"}),
    "headline": (SHORT, LATENESS | {"scheduled_per_s", "fired_per_s", "backlog_at_end",
                                    "drain_s"}),
    "lateness": (SHORT, LATENESS),
    "stall": (["--timers", "2000"],
              {"filled_before_burst_ms", "schedule_p50_us", "schedule_p99_us", "schedule_p99.9_us",
               "schedule_max_us", "fired_in_window", "last_fired_late_ms", "early"}),
    "idle": (SHORT, {"measured_s", "wakeups_timer_thread", "wakeups_process",
                     "cpu_ms_timer_thread", "cpu_ms_process"}),
    "memory": (["--timers", "20000"],
               {"fixed_bytes", "bytes_per_timer", "bytes_per_timer_at_peak", "pending_at_peak",
                "memory_left_percent", "memory_left_cancelled_percent"}),
}


RESULTS = []


def bench(*arguments):
    return harness.call(PROGRAM, *arguments)


def peers():
    """Those that were built in, except the one without timers."""
    text = bench("--help").stdout.split("\npeers:\n")[1]
    return [name for name in (line.split()[0] for line in text.splitlines()) if name != "at-once"]


def measure(workload, peer, *more):
    run = bench("--workload", workload, "--peer", peer, *WORKLOADS[workload][0], *more)
    assert run.returncode == 0, (workload, peer, more, run.stderr)
    assert run.stderr == "", (workload, peer, run.stderr)
    return [json.loads(line) for line in run.stdout.splitlines()]


def check(workload, peer, lines):
    where = (workload, peer, lines)
    figures = {line["metric"]: line["value"] for line in lines}
    assert len(figures) == len(lines), where
    assert WORKLOADS[workload][1] <= set(figures), where
    for line in lines:
        assert set(line) == {"workload", "peer", "producers", "metric", "value"}, where
        assert (line["workload"], line["peer"]) == (workload, peer), where
        assert isinstance(line["value"], (int, float)), where
    assert figures.get("early", 0) == 0, where
    for metric in {"pairs_per_s", "cpu_ns_per_pair"} & set(figures):
        assert figures[metric] > 0, where
    assert figures.get("pending_at_peak", 1) > 0, where


def bench_every_workload_accepts_every_peer():
    runs = [(workload, peer) for workload in WORKLOADS for peer in peers()]
    with concurrent.futures.ThreadPoolExecutor(8) as pool:
        for run, lines in zip(runs, pool.map(lambda run: measure(*run), runs)):
            check(*run, lines)
            RESULTS.extend(lines)


def bench_workers_show_in_name():
    for workers in ("0", "1", "3"):
        check("lateness", f"htw-w{workers}", measure("lateness", "htw", "--workers", workers))


def bench_early_timers_are_counted():
    figures = {line["metric"]: line["value"] for line in measure("lateness", "at-once")}
    assert figures["early"] > 0, figures


def bench_timer_that_fires_too_soon_is_noticed():
    for workload in ("stall", "pair"):  # that of memory waits a minute for timers first
        run = bench("--workload", workload, "--peer", "at-once", *WORKLOADS[workload][0])
        assert run.returncode == 1, (workload, run.stdout)
        assert "cancelled" in run.stderr, (workload, run.stderr)


def bench_report_has_every_figure():
    text = harness.report_text(report, RESULTS)
    for workload in WORKLOADS:
        assert f"\n## {workload}\n" in text, text
    targets = text.split("\n## To reach\n")[1]
    assert "| lateness | early, htw | <= 0 | 0 | yes |" in targets, targets
    assert "over Netty 1 ms | >= 1.5 | | not measured |" in targets, targets


def bench_runner_prints_what_it_was_asked_for():
    run, _ = harness.quick_run("scheduler", PROGRAM, "--workload", "idle,pair")
    assert re.findall(r"^## (.*)", run.stdout, re.MULTILINE) == ["pair", "idle", "To reach"]
    for row in ("htw", "htw-absolute", "heap-cond"):
        assert f"\n| {row} " in run.stdout, run.stdout


def bench_wrong_options_are_refused():
    harness.refuses(bench, "htw-bench-scheduler: ", "", "--workload nosuch --peer htw", "--workload idle",
                    "--workload idle --peer nosuch", "--workload idle --peer htw --producers 2",
                    "--workload idle --peer heap-cond --workers 1", "--workload idle --peer htw --seconds 0",
                    "--workload idle --peer htw --timers 5000", "--workload idle --peer htw --lag 5",
                    "--workload threads --peer htw --producers 1.5", "--workload idle --peer htw extra", "--nosuch")


harness.run(globals())
