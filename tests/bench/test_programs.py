# SPDX-License-Identifier: MIT
"""test_programs.py - the programs of ./dev bench scheduler, purgatory, journal and serve: each workload in its quickest form prints
its figures, and the report has them all. Nothing depends on speed; a server that is not installed is left out.
"""
import importlib
import json
import pathlib
import sys
import tempfile

import pytest
from bench import RUNNER, call, program, refuses, report_text
from programs import SERVE

SHORT = "--seconds 0.1 --warmup 0.05"
MEMORY = "/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None  # where nothing waits for a disk


def percentiles(*names):
    return {f"{name}_{percentile}_us" for name in names for percentile in ("p50", "p99", "p99.9", "max")}


def with_peers(runs, *peers):
    """Each workload with each peer."""
    return [(workload, f"--peer {peer} {options}", metrics) for workload, options, metrics in runs for peer in peers]


PAIR = {"operations_per_s", "cpu_ns_per_operation"}
ARRIVALS = {"cpu_ns_per_operation_at_200k", "served_per_s_at_most"}
RATE = {"jobs_per_s", "cpu_us_per_job"}
EMBEDDED = ("htw", "htw-normal", "sqlite", "sqlite-normal")
# Of each program: workload, options, and the metrics that must be printed.
RUNS = {
    "scheduler": [
        *with_peers([
            ("threads", SHORT + " --producers 2", {"pairs_per_s", "cpu_ns_per_pair", "pending_max"}),
            ("foreign", SHORT, {"pairs_per_s", "cpu_ns_per_pair", "pending_max"}),
            ("pair", SHORT, {"ns_per_pair_p50"}),
            ("lateness", SHORT, percentiles("lateness") | {"early", "cpu_ns_per_timer"}),
            ("idle", SHORT, {"wakeups_timer_thread", "cpu_ms_timer_thread"})],
            "htw", "htw-absolute", "htw-100us", "htw-fine", "heap-cond"),
        *with_peers([
            ("headline", SHORT, percentiles("lateness") | {"scheduled_per_s", "fired_per_s", "backlog_at_end", "drain_s"}),
            ("stall", "--timers 2000", percentiles("schedule") | {"last_fired_late_ms", "early"}),
            ("memory", "--timers 20000", {"fixed_bytes", "bytes_per_timer", "bytes_per_timer_at_peak", "pending_at_peak",
                                          "memory_left_percent", "memory_left_cancelled_percent"}),
            ("lateness", SHORT + " --workers 3", percentiles("lateness"))], "htw")],
    "purgatory": [
        ("pair", SHORT, PAIR), ("pair", SHORT + " --keys 100 --requests 100 --per-request 3 --threads 2", PAIR),
        ("pair", SHORT + " --keys 100 --requests 100 --own-keys --threads 4", PAIR),
        *[("memory", "--requests 5000" + more, {
            "request_bytes", "purgatory_bytes", "bytes_per_request", "resident_bytes_per_request", "retained_requests",
            "retained_watches", "retained_keys", "retained_purgatory_bytes"}) for more in ("", " --distinct")],
        ("arrivals", SHORT, ARRIVALS), ("arrivals", SHORT + " --threads 2 --workers 1", ARRIVALS),
        *[(workload, SHORT + more, metrics) for more in ("", " --workers 1")
          for workload, metrics in (("wake", percentiles("wake")), ("expire", percentiles("late") | {"early", "cpu_ns_per_operation"}))]],
    "journal": [
        *with_peers([
            ("cycle", SHORT + " --jobs 20", {"jobs_per_s"}), ("cycle", SHORT + " --jobs 200 --delay 0.05", {"jobs_per_s"}),
            ("put", SHORT + " --threads 3", {"puts_per_s"} | percentiles("put")),
            ("latency", "--seconds 0.1", {"written_bytes"} | percentiles("put", "append", "overwrite")),
            ("lateness", "--seconds 0.3 --warmup 0.05 --jobs 1000", percentiles("lateness")),
            ("space", "--jobs 3000", {"disk_bytes_per_job", "resident_mib", "put_per_s"}),
            ("restart", "--jobs 3000", {"clean_warm_ms", "killed_warm_ms", "resident_mib"})], *EMBEDDED),
        *with_peers([("space", "--jobs 3000 --random --payload 100", {"disk_bytes_per_job"}),
                     ("restart", "--jobs 3000 --log 2", {"log_mib"})], "htw"),
        *with_peers([("cycle", SHORT + " --jobs 20", {"jobs_per_s"}), ("restart", "--jobs 500", {"killed_warm_ms"})],
                    "redis", "redis-everysec")],
    "serve": [(workload, f"--peer {peer}{mode} {options}", metrics) for peer in ("htw", "beanstalkd") for mode in ("", " --durable")
              for workload, options, metrics in (
        ("put", SHORT + " --clients 3", RATE | percentiles("job")), ("cycle", SHORT + " --clients 3", RATE | percentiles("job")),
        ("hand", SHORT + " --clients 4", RATE | percentiles("pass")),
        ("beside", "--count 3000", {"touch_per_s", "put_per_s"} | percentiles("touch", "put")),
        ("lateness", "--seconds 0.2 --rate 300", RATE | percentiles("pass")),
        ("waiting", SHORT + " --clients 50", RATE | {"bytes_per_worker"} | percentiles("pass")),
        ("delayed", "--count 1200", {"put_per_s", "resident_mib"} | ({"start_ms"} if mode else set())))],
}
ZERO = {"early", "retained_requests", "retained_watches", "retained_keys", "retained_purgatory_bytes"}


def run(name, *words, serve=SERVE):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        more = {"journal": ["--folder", folder], "serve": ["--folder", folder, "--serve", serve]}.get(name, [])
        return call(program(name), *more, *words)


def measure(name, workload, options):
    for _ in range(6):  # a loaded machine may run nothing at all in so short a time
        got = run(name, "--workload", workload, *options.split())
        if "the run was too short" not in got.stderr:
            break
    assert got.returncode == 0 and got.stderr == "", (workload, options, got.stderr)
    lines = [json.loads(line) for line in got.stdout.splitlines()]
    assert all(line["workload"] == workload for line in lines)
    return lines


def check(name, metrics, lines):
    figures = {line["metric"]: line["value"] for line in lines}
    if "left out: " in str(figures.get("state", "")) and name in ("journal", "serve"):
        return
    assert len(figures) == len(lines) and metrics <= set(figures), (metrics - set(figures), figures)
    for metric, value in figures.items():
        least = -16 if metric == "resident_mib" else 0  # a server may have given some back meanwhile
        assert isinstance(value, (int, float)) and value >= least, (metric, value)
        assert value == 0 or metric not in ZERO, (metric, value)
    for metric in {"pairs_per_s", "operations_per_s", "jobs_per_s"} & set(figures):
        assert figures[metric] > 0 or name == "journal", figures
    if "bytes_per_request" in figures:
        parts = sum(figures[part] for part in ("request_bytes", "purgatory_bytes"))
        assert abs(figures["bytes_per_request"] - parts) < 0.1, figures


@pytest.mark.parametrize("name", RUNS)
def test_bench_each_workload_prints_its_figures_and_the_report_has_them(name):
    results = []
    for workload, options, metrics in RUNS[name]:
        lines = measure(name, workload, options)
        check(name, metrics, lines)
        results += lines
    report = importlib.import_module(f"{name}.report")
    text = report_text(report, results)
    assert all(f"\n## {workload}\n" in text for workload in {workload for workload, *_ in RUNS[name]}), text


@pytest.mark.parametrize("name, workloads, more, rows", [
    ("scheduler", "idle,pair", "", ["## pair", "## idle", "| htw ", "| heap-cond "]),
    ("purgatory", "wake,memory", "", ["## memory", "## wake", "| k2-100000-of-1000 ", "| htw-w1 "]),
    ("journal", "put", "--tmpfs=", ["## put", "| htw ", "| sqlite "])])
def test_bench_runner_prints_what_it_was_asked_for_and_leaves_no_file(name, workloads, more, rows):
    with tempfile.TemporaryDirectory(dir=MEMORY) as folder:
        got = call(sys.executable, RUNNER, name, "--program", program(name), "--json", f"{folder}/results.json", "--quick",
                   "--workload", workloads, *more.split())
        assert got.returncode == 0, got.stderr
        assert [path.name for path in pathlib.Path(folder).iterdir()] == ["results.json"]
    assert all("\n" + row in "\n" + got.stdout for row in rows), got.stdout


REFUSED = {
    "scheduler": ["", "--workload nosuch --peer htw", "--workload idle", "--workload idle --peer nosuch", "--workload idle --peer htw --producers 2",
                  "--workload idle --peer heap-cond --workers 1", "--workload idle --peer htw --seconds 0",
                  "--workload idle --peer htw --timers 5000", "--workload threads --peer htw --producers 1.5", "--workload idle --peer htw extra"],
    "purgatory": ["", "--workload nosuch", "--workload wake --threads 2", "--workload wake --keys 5", "--workload pair --distinct",
                  "--workload memory --own-keys", "--workload memory --seconds 1", "--workload arrivals --requests 7",
                  "--workload pair --per-request 9", "--workload pair --seconds 0", "--workload pair extra"],
    "journal": ["", "--workload nosuch --peer htw", "--workload put", "--workload put --peer nosuch", "--workload put --peer htw --delay 1",
                "--workload put --peer htw --threads 0", "--workload space --peer htw --payload 31", "--workload restart --peer sqlite --log 1",
                "--workload put --peer htw --folder /nosuch", "--workload put --peer htw extra"],
    "serve": ["", "--workload nosuch --peer htw", "--workload put", "--workload put --peer nosuch", "--workload put --peer htw --count 1",
              "--workload put --peer htw --clients 0", "--workload beside --peer htw --rate 5", "--workload put --peer htw --folder /nosuch"],
    "relay": ["--workload load --topic later", "--workload load --brokers x:1 --topic t --steps 1,x",
              "--workload load --brokers x:1 --topic t --delay-min 2 --delay-max 1"],
    "wheel": ["", "--workload nosuch --peer htw", "--workload churn", "--workload churn --peer nosuch", "--workload sparse --peer htw --n 5",
              "--workload churn --peer htw --n 0", "--workload churn --peer htw extra"],
}


@pytest.mark.parametrize("name", REFUSED)
def test_bench_wrong_options_are_refused(name):
    refuses(lambda *words: run(name, *words), f"htw-bench-{name}: ", [*REFUSED[name], "--nosuch"])


def test_bench_timers_that_fire_too_soon_are_noticed():
    """Those of a peer that runs callbacks at once."""
    figures = {line["metric"]: line["value"] for line in measure("scheduler", "lateness", f"--peer at-once {SHORT}")}
    assert figures["early"] > 0, figures
    got = run("scheduler", "--workload", "pair", "--peer", "at-once", *SHORT.split())
    assert got.returncode == 1 and "cancelled" in got.stderr, got


def test_bench_server_that_does_not_start_is_a_failure():
    got = run("serve", "--workload", "put", "--peer", "htw", serve="/bin/false")
    assert got.returncode == 1 and "htw-serve has ended" in got.stderr and got.stdout == "", got
