# SPDX-License-Identifier: MIT
"""test_relay.py - the producer and the ladder of `./dev bench relay`, without a Kafka: over brokers in memory. What needs a Kafka
(stage.py and Counter.java) checks by itself that each record arrives, and once.
"""
import contextlib
import json
import subprocess
import time

from bench import program, report_text
import run
from programs import BUILD

MOCK = BUILD / "programs/relay/benchmark/relay_mock"
STEPS = "100,400"


@contextlib.contextmanager
def brokers(*topics):
    with subprocess.Popen([MOCK, "1", *topics], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          text=True) as process:
        yield process.stdout.readline().strip()
        process.stdin.close()


def start(workload, *arguments):
    return subprocess.Popen([program("relay"), "--workload", workload, *map(str, arguments)], text=True,
                            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def figures(process, patience=30):
    printed, errors = process.communicate(timeout=patience)
    assert process.returncode == 0, errors
    return {line["metric"]: line["value"] for line in map(json.loads, printed.splitlines())}


def test_bench_load_keeps_its_rate():
    with brokers("later:2") as address:
        sent = figures(start("load", "--brokers", address, "--topic", "later", "--rate", 2000, "--count", 1000))
        assert sent["sent"] == 1000 and sent["seconds"] >= 0.5, sent


def test_bench_ladder_delivers_all_of_each_step():
    with brokers("later.100:2", "later.400:2", "out:1") as address:
        common = ("--brokers", address, "--topic", "later", "--steps", STEPS)
        ladder = start("ladder", *common, "--to", "out", "--at-least-once")
        load = start("load", *common, "--count", 500)
        assert figures(load)["sent"] == 500
        time.sleep(3)
        assert figures(ladder)["delivered"] == 500


def test_bench_ladder_does_not_deliver_before_the_time():
    with brokers("later.60000:1", "out:1") as address:
        common = ("--brokers", address, "--topic", "later", "--steps", 60000)
        ladder = start("ladder", *common, "--to", "out", "--at-least-once")
        assert figures(start("load", *common, "--count", 100))["sent"] == 100
        time.sleep(2)
        assert figures(ladder)["delivered"] == 0


def test_bench_plan_and_report_name_the_same_things():
    plan, report = run.modules("relay")

    class Options:
        quick, rounds, seconds, warmup, rate, only = False, 0, 0, 0, 0, ""
        workloads = list(report.COLUMNS)
        given = {}
    lines = []
    for one in plan.plan(Options):
        words = json.loads(one.command[-1])
        lines += [{**{name: words[name] for name in ("peer", "mode", "case")}, "workload": words["label"],
                   "metric": column[0], "value": 1} for column in report.COLUMNS[words["label"]]]
    text = report_text(report, lines)
    assert all(f"\n## {workload}\n" in text for workload in report.COLUMNS), text
