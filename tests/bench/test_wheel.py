# SPDX-License-Identifier: MIT
"""test_wheel.py - `./dev bench` without a part: its figures and its report, and a plugin that is wrong on purpose (faulty.c)."""
import json
import os
import re
import sys

import pytest
from bench import RUNNER, call, program, refuses
from programs import BUILD

PLUGIN = BUILD / "benchmarks/wheel/faulty.so"


@pytest.fixture
def results(directory):
    return directory / "results.json"


def bench(results, *arguments, **environment):
    return call(sys.executable, RUNNER, "wheel", "--program", program("wheel"), "--json", results, *arguments,
                env={**os.environ, **environment})


def measure_faulty(results, *words, fault="", workload="expire"):
    return bench(results, "--plugin", PLUGIN, "--impl", "htw,faulty", "--workload", workload, "--n", "1000", "--reps", "1", "--quick", *words,
                 FAULT=fault)


def test_bench_small_run_writes_figures(results):
    run = bench(results, "--workload", "churn,expire,sparse", "--impl", "null,htw,htw-strict", "--n", "1000", "--reps", "1")
    assert run.returncode == 0, run.stderr
    document = json.loads(results.read_text())
    assert document["machine"]["CPUs"] >= 1 and re.match("gcc|clang", document["machine"]["build"]), document["machine"]
    figures = {(line["workload"], line["peer"], line["metric"]): line["value"] for line in document["results"]}
    assert figures.pop(("sparse", "null", "state")) == "left out: its timers do not fire", figures
    assert set(figures) == {("churn", "null", "pair_ns"), ("expire", "null", "add_ns")} | {
        (workload, peer, metric) for peer in ("htw", "htw-strict")
        for workload, metric in (("churn", "pair_ns"), ("expire", "add_ns"), ("expire", "expire_ns"), ("expire", "expire_wakeups"),
                                 ("sparse", "timer_ns"), ("sparse", "timer_advances"))}, figures
    assert figures["sparse", "htw", "timer_advances"] >= 1 and all(value > 0 for value in figures.values()), figures
    assert bench(results, "--tables").stdout == run.stdout


def test_bench_report_takes_the_harness_off(results):
    lines = [{"workload": "churn", "peer": peer, "timers": 1000, "metric": "pair_ns", "value": value}
             for peer, values in (("null", (4, 4, 4)), ("htw", (9, 8, 100)), ("heap", (24, 20, 2))) for value in values]
    results.write_text(json.dumps({"machine": {"CPUs": 1}, "results": lines}))
    text = re.sub(" +", " ", bench(results, "--tables").stdout)
    gross, net = text.split("| ns a pair, net of null | 1000 |")
    assert all(row in gross for row in ("| null | 4 |", "| htw | 9 |", "| htw / best peer | 0.45 |")), text
    assert "null" not in net and "| htw | 5 |" in net and "| htw / best peer | 0.312 |" in net, text


def test_bench_every_workload_accepts_htw(results):
    run = bench(results, "--impl", "htw,htw-strict,htw-kafka,relink", "--n", "1000", "--reps", "1", "--quick")
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("fault, words", [("lose", "fired, not"), ("double", "twice"), ("early", "early"), ("late", "late"),
                                          ("miscount", "are armed"), ("crash", "crashed")])
def test_bench_each_fault_is_noticed_and_leaves_other_results(results, fault, words):
    for workload in ("expire", "keep-alive"):
        run = measure_faulty(results, fault=fault, workload=workload)
        assert run.returncode == 1 and all(word in run.stderr for word in ("faulty", workload, words)), (run.stdout, run.stderr)
        assert f"## {workload}" in run.stdout and "\n| htw " in run.stdout and "failed: " in run.stdout, run.stdout


def test_bench_hang_is_too_slow_and_no_failure(results):
    run = measure_faulty(results)
    assert run.returncode == 0 and "faulty" in run.stdout, run
    run = measure_faulty(results, "--limit", "1", "--reps", "3", fault="hang")
    assert run.returncode == 0 and "too slow" in run.stdout, run
    assert run.stderr.count("faulty") == 1, run.stderr  # it is not tried again


def test_bench_wrong_options_of_the_runner_are_refused(results):
    refuses(lambda *words: bench(results, *words), "", ["--workload churn,nosuch", "--impl nosuch", "--n 0", "--n 1e3", "--reps -1",
                                                        "--limit x", "--plugin /nosuch.so", "extra", "--nosuch"])
