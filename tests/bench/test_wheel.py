# SPDX-License-Identifier: MIT
"""End-to-end tests of `./dev bench` without a part: test_wheel.py PROGRAM PLUGIN

PROGRAM is htw-bench-wheel, which run.py runs. PLUGIN is built from faulty.c: it is wrong in the way
that the variable FAULT names.
"""
import json
import os
import pathlib
import re
import sys
import tempfile

import harness

PROGRAM, PLUGIN = sys.argv[1:]
FOLDER = tempfile.TemporaryDirectory()
RESULTS = pathlib.Path(FOLDER.name) / "results.json"


def run_in(fault, command):
    environment = {name: value for name, value in os.environ.items() if name != "FAULT"}
    if fault:
        environment["FAULT"] = fault
    return harness.call(*command, env=environment)


def bench(*arguments, fault=None):
    return run_in(fault, [sys.executable, harness.RUNNER, "wheel", "--program", PROGRAM, "--json", RESULTS,
                          *arguments])


def program(*arguments):
    return run_in(None, [PROGRAM, *arguments])


def measure_faulty(fault=None, workload="expire", *more):
    return bench("--plugin", PLUGIN, "--impl", "faulty", "--workload", workload, "--n", "1000",
                 "--reps", "1", "--quick", *more, fault=fault)


def bench_small_run_writes_figures():
    run = bench("--workload", "churn,expire,sparse", "--impl", "null,htw,htw-strict",
                "--n", "1000", "--reps", "1")
    assert run.returncode == 0, run.stderr
    document = json.loads(RESULTS.read_text())
    machine = document["machine"]
    assert machine["CPUs"] >= 1 and re.match("gcc|clang", machine["build"]), machine
    figures = {(line["workload"], line["peer"], line["metric"]): line["value"]
               for line in document["results"]}
    peers = ("htw", "htw-strict")
    assert set(figures) == {("churn", "null", "pair_ns"), ("expire", "null", "add_ns"),
                            ("sparse", "null", "state")} | {
        (workload, peer, metric) for peer in peers
        for workload, metric in (("churn", "pair_ns"), ("expire", "add_ns"),
                                 ("expire", "expire_ns"), ("expire", "expire_wakeups"),
                                 ("sparse", "timer_ns"), ("sparse", "timer_advances"))}, figures
    assert figures["sparse", "htw", "timer_advances"] >= 1, figures
    assert figures.pop(("sparse", "null", "state")) == "left out: its timers do not fire", figures
    assert all(value > 0 for value in figures.values()), figures
    again = bench("--tables")
    assert again.returncode == 0 and again.stdout == run.stdout, again.stdout


def bench_report_takes_the_harness_off():
    lines = [{"workload": "churn", "peer": peer, "timers": 1000, "metric": "pair_ns",
              "value": value}
             for peer, values in (("null", (4, 4, 4)), ("htw", (9, 8, 100)), ("heap", (24, 20, 2)))
             for value in values]
    RESULTS.write_text(json.dumps({"machine": {"CPUs": 1}, "results": lines}))
    text = re.sub(" +", " ", bench("--tables").stdout)
    gross, net = text.split("| ns a pair, net of null | 1000 |")
    assert "| null | 4 |" in gross and "| htw | 9 |" in gross, text
    assert "| htw / best peer | 0.45 |" in gross, text
    assert "null" not in net and "| htw | 5 |" in net, text
    assert "| htw / best peer | 0.312 |" in net, text


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
    run = measure_faulty("hang", "expire", "--limit", "1", "--reps", "3")
    assert run.returncode == 0, run.stderr
    assert "too slow" in run.stdout, run.stdout
    assert run.stderr.count("expire") == 1, run.stderr  # it is not tried again


def bench_failure_leaves_other_results():
    run = bench("--plugin", PLUGIN, "--impl", "htw,faulty", "--workload", "expire", "--n", "1000",
                "--reps", "2", "--quick", fault="crash")
    assert run.returncode == 1, run.stderr
    assert "## expire" in run.stdout and "\n| htw " in run.stdout, run.stdout
    assert "failed: crashed: Aborted: faulty with 1000 timers" in run.stdout, run.stdout


def bench_wrong_options_are_refused():
    harness.refuses(bench, "", "--workload churn,nosuch", "--impl nosuch", "--n 0", "--n 1e3", "--reps -1",
                    "--limit x", "--plugin /nosuch.so", "extra", "--json /dev/null/results.json", "--nosuch")


def bench_wrong_options_of_the_program_are_refused():
    harness.refuses(program, "htw-bench-wheel: ", "", "--workload nosuch --peer htw", "--workload churn",
                    "--workload churn --peer nosuch", "--workload sparse --peer htw --n 5",
                    "--workload churn --peer htw --n 0", "--workload churn --peer htw extra", "--nosuch")


harness.run(globals())
