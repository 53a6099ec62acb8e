# SPDX-License-Identifier: MIT
"""End-to-end tests of htw-bench: test_bench.py PROGRAM PLUGIN

PLUGIN is built from faulty.c: it is wrong in the way that the variable FAULT names.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

PROGRAM, PLUGIN = sys.argv[1:]


def bench(*arguments, fault=None):
    environment = {name: value for name, value in os.environ.items() if name != "FAULT"}
    if fault:
        environment["FAULT"] = fault
    return subprocess.run([PROGRAM, *arguments], env=environment, capture_output=True, text=True)


def measure_faulty(fault=None, workload="expire", *more):
    return bench("--plugin", PLUGIN, "--impl", "faulty", "--workload", workload, "--n", "1000",
                 "--reps", "1", "--quick", *more, fault=fault)


def bench_small_run_writes_figures():
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "results.json"
        run = bench("--workload", "churn,expire,sparse", "--impl", "null,htw,htw-strict",
                    "--n", "1000", "--reps", "1", "--json", str(path))
        assert run.returncode == 0, run.stderr
        assert run.stderr == "", run.stderr
        machine, *results = [json.loads(line) for line in path.read_text().splitlines()]
    assert machine["cores"] >= 1, machine
    figures = {(r["workload"], r["impl"], r["phase"]): r for r in results if "phase" in r}
    assert set(figures) == {("churn", "null", "pair"), ("expire", "null", "add")} | {
        (workload, impl, phase) for impl in ("htw", "htw-strict")
        for workload, phase in (("churn", "pair"), ("expire", "add"), ("expire", "expire"),
                                ("sparse", "all"))}, sorted(figures)
    assert all(r["ns_min"] <= r["ns"] <= r["ns_max"] for r in figures.values()), results
    assert figures["sparse", "htw", "all"]["advances"] >= 1, results
    left_out = {(r["workload"], r["impl"]) for r in results if r.get("state") == "left out"}
    assert left_out == {("sparse", "null")}, left_out


def bench_every_workload_accepts_htw():
    run = bench("--impl", "htw,htw-strict,htw-kafka,relink", "--n", "1000", "--reps", "1",
                "--quick")
    assert run.returncode == 0, run.stderr


def bench_plugin_without_fault_is_measured():
    run = measure_faulty()
    assert run.returncode == 0, run.stderr
    assert "faulty" in run.stdout, run.stdout


def bench_each_fault_is_noticed():
    said = {"lose": "fired, not", "double": "twice", "early": "early", "late": "late",
            "miscount": "are armed", "crash": "crashed"}
    for fault, words in said.items():
        for workload in ("expire", "keep-alive"):
            run = measure_faulty(fault, workload)
            assert run.returncode == 1, (fault, workload, run.stdout, run.stderr)
            for word in ("faulty", workload, words):
                assert word in run.stderr, (fault, word, run.stderr)


def bench_hang_is_too_slow_and_no_failure():
    run = measure_faulty("hang", "expire", "--limit", "1")
    assert run.returncode == 0, run.stderr
    assert "too slow" in run.stdout, run.stdout


def bench_failure_leaves_other_results():
    run = bench("--plugin", PLUGIN, "--impl", "htw,faulty", "--workload", "expire", "--n", "1000",
                "--reps", "2", "--quick", fault="crash")
    assert run.returncode == 1, run.stderr
    assert "expire, add" in run.stdout and "\nhtw " in run.stdout, run.stdout


def bench_wrong_options_are_refused():
    for arguments in (["--workload", "churn,nosuch"], ["--impl", ""], ["--n", "0"], ["--n", "1e3"],
                      ["--reps", "-1"], ["--limit", "x"], ["--plugin", "/nosuch.so"], ["extra"],
                      ["--json", "/nosuch/results.json"], ["--nosuch"]):
        run = bench(*arguments)
        assert run.returncode == 2, (arguments, run.returncode, run.stderr)
        assert "htw-bench: " in run.stderr and run.stdout == "", (arguments, run.stderr)


def main():
    failed = 0
    for name, function in list(globals().items()):
        if not name.startswith("bench_"):
            continue
        try:
            function()
            print("ok", name, flush=True)
        except AssertionError as failure:
            failed += 1
            print(f"FAIL {name}: {failure}", flush=True)
    return 1 if failed else 0


sys.exit(main())
