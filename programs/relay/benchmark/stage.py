#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One run of the relay's benchmark: starts a Kafka, what delivers, a producer and a counter, and measures.

usage: stage.py --workload NAME OPTIONS, these as a JSON object with members of DEFAULTS. Prints a JSON object a line, as the other
benchmarks do. plan.py lists the runs, README.md says what they mean.
"""
import contextlib
import glob
import json
import os
import pathlib
import signal
import statistics
import subprocess
import sys
import time
import types
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path[1:1] = [str(HERE.parent / "tests"), str(HERE.parent / "tests/kafka"), str(HERE.parents[2] / "tests/kit")]
import client  # noqa: E402
import cluster  # noqa: E402
from relay import Relay, wait_for  # noqa: E402

DEFAULTS = {"label": "", "peer": "htw", "case": "", "mode": "exactly once",
            "program": "",  # htw-bench-relay
            "relay": "",  # htw-relay
            "jars": "", "classes": "",  # of Kafka, and of Counter.java
            "geometry": "",  # options of the relay: --width, --size, --levels
            "rate": 1000, "delays": (0, 0),  # records a second, and after how many ms they are due
            "count": 0,  # records that wait
            "writes": 0,  # of a record, by the levels that it passes
            "event": "kill", "seconds": 10, "warmup": 10}
TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PATIENCE_S, WINDOW_S = 120, 10
INPUT, OUTPUT, PARTITIONS = "later", "out", 2
# Records are deleted soon after they were read: a long run must not fill the disk.
BROKER = {"log_segment_bytes": 64 << 20, "log_retention_bytes": 256 << 20,
          "log_retention_check_interval_ms": 5000, "log_segment_delete_delay_ms": 1000}
LADDER_MS = (1000, 2000, 5000, 10000)
STEPS = ("--steps", ",".join(map(str, LADDER_MS)))


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def resident_mib(pid):
    return int(pathlib.Path(f"/proc/{pid}/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / (1 << 20)


def end(process):
    """Ends a program that runs until its standard input does; what it printed."""
    printed, _ = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == 0, f"{process.args[0]} failed"
    return printed


class Stage:
    """A Kafka with the topics, and what runs on it until the end of the `stack`."""

    def __init__(self, options, stack, **broker):
        self.options, self.stack = options, stack
        self.kafka = stack.enter_context(cluster.Cluster(options.jars, heap="1g", compiler="-XX:+TieredCompilation", **{**BROKER, **broker}))
        self.is_ladder, self.mode = options.peer == "ladder", ["--at-least-once"] if options.mode == "at least once" else []
        with contextlib.closing(client.Client(self.kafka)) as admin:
            for topic in (INPUT, OUTPUT, *(f"{INPUT}.{step}" for step in LADDER_MS if self.is_ladder)):
                admin.topic(topic, PARTITIONS)

    def start(self, *command):
        process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        self.stack.callback(process.kill)
        return process

    def bench(self, workload, *words):
        return self.start(self.options.program, "--workload", workload, "--brokers", self.kafka.bootstrap, "--topic", INPUT, *words)

    def load(self, *words):
        least, most = self.options.delays
        delays = STEPS if self.is_ladder else ("--delay-min", least, "--delay-max", most)
        return self.bench("load", *delays, *words)

    def relay(self, instance=None):
        address = f"127.0.0.1:{cluster.free_ports(1)[0]}"
        words = ["--to", OUTPUT, "--metrics", address, *self.options.geometry.split(), *self.mode, INPUT]
        relay = Relay(self.options.relay, self.kafka, "relay", *words, instance=instance)
        relay.address = address
        self.stack.callback(relay.kill)
        return relay

    def deliverer(self, instance=None):
        """What delivers, when it is ready."""
        if self.is_ladder:
            return types.SimpleNamespace(process=self.bench("ladder", "--to", OUTPUT, *STEPS, *self.mode))
        create = Relay(self.options.relay, self.kafka, "create", *self.options.geometry.split(), "--create-topics", INPUT)
        assert create.process.wait(PATIENCE_S) == 0, create.text()
        relay = self.relay(instance).ready()
        wait_for(lambda: total(relay, "stripes") == PARTITIONS, "a relay with its stripes", PATIENCE_S)
        return relay

    def counter(self):
        """Counter.java, as a function that asks it."""
        process = self.start(*self.kafka.java("256m", "Counter", self.kafka.bootstrap, OUTPUT, classes=self.options.classes))

        def ask(*words):
            process.stdin.write(" ".join(words) + "\n")
            return json.loads(process.stdout.readline())
        ask.pid = process.pid
        ask("figures")  # when it has begun
        return ask

    def file_bytes(self, topic):
        """What the partitions of a topic have written, with what was deleted."""
        return sum(os.path.getsize(file) for file in glob.glob(f"{self.kafka.nodes[0].folder}/{topic}-[0-9]*/*.log*"))


def metrics(relay):
    with urllib.request.urlopen(f"http://{relay.address}/metrics", timeout=10) as answer:
        lines = [line.rsplit(" ", 1) for line in answer.read().decode().splitlines() if line[0] != "#"]
    return {name: float(value) for name, value in lines}


def total(relay, name):
    """Of all its levels, if it has them."""
    return sum(value for key, value in metrics(relay).items() if key.split("{")[0] == "htw_relay_" + name)


def sent_by(load):
    return json.loads(end(load).splitlines()[0])["value"]


def wait_for_all(counter, sent):
    wait_for(lambda: counter("figures")["records"] >= sent, "all records", PATIENCE_S)
    time.sleep(1)


# ---- workloads: each yields names of figures, and figures

def marker_percent(counter, relay, seen):
    """Offsets that are no records, of all offsets, in the output and in the levels."""
    ends = counter("ends", OUTPUT)
    others = ends - seen
    for name, filed in metrics(relay).items() if isinstance(relay, Relay) else ():
        if name.startswith("htw_relay_filed_total") and filed > 0:
            level = counter("ends", f"{INPUT}.l{name.split(chr(34))[1]}")
            ends, others = ends + level, others + level - filed
    return 100 * others / ends


def steady(options, stack):
    """A rate that is kept."""
    stage = Stage(options, stack)
    deliverer, counter = stage.deliverer(), stage.counter()
    load = stage.load("--rate", options.rate)
    time.sleep(max(LADDER_MS if stage.is_ladder else options.delays) / 1000 + options.warmup)
    pids = {"broker": stage.kafka.nodes[0].process.pid, "producer": load.pid, "consumer": counter.pid, "relay": deliverer.process.pid}
    before, resident = counter("start"), []
    cpu_before = {name: cpu_s(pid) for name, pid in pids.items()}
    windows = []
    for _ in range(max(int(options.seconds / WINDOW_S), 1)):
        time.sleep(WINDOW_S)
        windows.append(counter("figures"))
        resident.append(resident_mib(deliverer.process.pid))
    cpu = {name: cpu_s(pid) - cpu_before[name] for name, pid in pids.items()}
    sent = sent_by(load)
    wait_for_all(counter, sent)
    last, after = counter("figures"), windows[-1]
    assert last["records"] == sent + last["twice"] and (stage.mode or not last["twice"]), f"{sent} were sent: {last}"
    seconds, records = (after["now_ms"] - before["now_ms"]) / 1000, after["records"] - before["records"]
    yield "records_per_s", records / seconds
    for name in ("p50_ms", "p99_ms", "p99.9_ms", "max_ms"):
        yield f"late_{name}", after["all"][name]
    assert not after["all"]["early"], after
    yield "window_p99_ms", statistics.median(one["recent"]["p99_ms"] for one in windows)
    yield "last_p99_ms", after["recent"]["p99_ms"]
    yield "marker_percent", marker_percent(counter, deliverer, last["records"])
    for name, value in cpu.items():
        yield f"{name}_cpu_s_per_million", value / records * 1e6
    yield "cpu_percent", 100 * sum(cpu.values()) / seconds
    yield "resident_mib", max(resident)
    yield "seconds", seconds


def waiting(options, stack):
    """The memory of a relay while many records wait."""
    stage = Stage(options, stack, log_retention_bytes=-1)
    relay = stage.deliverer()
    start = time.monotonic()
    load = stage.load("--count", options.count)
    for name in ("received_total", "filed_total"):
        wait_for(lambda one=name: total(relay, one) >= options.count, name, options.seconds)
    taken_s = time.monotonic() - start
    sent_by(load)
    time.sleep(options.warmup)
    yield "resident_mib", resident_mib(relay.process.pid)
    yield "most_mib", relay.peak_mib()
    yield "filed_per_s", options.count / taken_s
    assert total(relay, "delivered_total") == 0, "filling took too long: records were delivered"


def takeover(options, stack):
    """A relay ends, and another one goes on: how late the latest record becomes."""
    stage = Stage(options, stack)
    first = stage.deliverer("first")
    if options.event != "restart":
        stage.relay("second").ready()
        wait_for(lambda: total(first, "stripes") == PARTITIONS // 2, "relays that share the stripes", PATIENCE_S)
    counter = stage.counter()
    load = stage.load("--rate", options.rate)
    time.sleep(max(options.delays) / 1000 + options.warmup)
    counter("start")
    first.process.send_signal(signal.SIGTERM if options.event == "stop" else signal.SIGKILL)
    first.process.wait()
    if options.event == "restart":
        stage.relay("first")
    time.sleep(options.seconds)
    latest_ms = counter("figures")["all"]["max_ms"]
    wait_for_all(counter, sent_by(load))
    assert stage.mode or not counter("figures")["twice"], "records arrived twice"
    yield "latest_s", latest_ms / 1000


def written(options, stack):
    """The bytes that a record costs in the files of the broker."""
    stage = Stage(options, stack, log_retention_bytes=-1, log_segment_delete_delay_ms=3600000)
    deliverer, counter = stage.deliverer(), stage.counter()
    sent = sent_by(stage.load("--rate", options.rate, "--count", int(options.rate * options.seconds)))
    wait_for_all(counter, sent)
    if not stage.is_ladder:
        writes = (total(deliverer, "filed_total") + total(deliverer, "delivered_total")) / sent
        # Otherwise the machine is too slow for such short delays.
        assert abs(writes - options.writes) <= 0.02, f"{writes:.2f} writes a record, in place of {options.writes}"
        yield "writes", writes
        yield "input_bytes", stage.file_bytes(INPUT) / sent
    yield "waiting_bytes", stage.file_bytes(f"{INPUT}.*") / sent
    yield "output_bytes", stage.file_bytes(OUTPUT) / sent
    yield "group_bytes", (stage.file_bytes("__consumer_offsets") + stage.file_bytes("__transaction_state")) / sent


def main(workload, words):
    options = types.SimpleNamespace(**{**DEFAULTS, **json.loads(words)})
    labels = {"workload": options.label or workload, "peer": options.peer, "mode": options.mode, "case": options.case}
    with contextlib.ExitStack() as stack:
        for metric, value in globals()[workload](options, stack):
            print(json.dumps({**labels, "metric": metric, "value": round(value, 6)}), flush=True)


if __name__ == "__main__":
    try:
        main(*sys.argv[2:])
    except cluster.Missing as missing:
        sys.exit(str(missing))
    except (RuntimeError, AssertionError, subprocess.SubprocessError) as wrong:
        sys.exit(f"stage.py: {wrong}")
