#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""One run of the relay's benchmark: starts a Kafka, what delivers, a producer and a counter, and measures.

Prints a JSON object a line, as the other benchmarks do. plan.py lists the runs, README.md says what they mean.
"""
import argparse
import contextlib
import glob
import json
import os
import pathlib
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/kafka"))
import client  # noqa: E402
import cluster  # noqa: E402

TICKS_PER_S = os.sysconf("SC_CLK_TCK")
PATIENCE_S = 120
INPUT, OUTPUT = "later", "out"
# Records are deleted soon after they were read: a long run must not fill the disk.
BROKER = {"log_segment_bytes": 64 << 20, "log_retention_bytes": 256 << 20,
          "log_retention_check_interval_ms": 5000, "log_segment_delete_delay_ms": 1000}
LADDER_MS = (1000, 2000, 5000, 10000)


class Process:
    """A program that runs until its standard input ends."""

    def __init__(self, command, log, **more):
        self.command = [str(word) for word in command]
        self.log = open(log, "ab")
        self.process = subprocess.Popen(self.command, stdin=subprocess.PIPE, stderr=self.log, text=True, **more)

    @property
    def pid(self):
        return self.process.pid

    def end(self, patience=PATIENCE_S):
        """Returns what it printed."""
        printed, _ = self.process.communicate(timeout=patience)
        if self.process.returncode != 0:
            raise RuntimeError(f"{self.command[0]} failed: {pathlib.Path(self.log.name).read_text()[-2000:]}")
        return printed

    def kill(self):
        self.process.kill()
        self.process.wait()


def cpu_s(pid):
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS_PER_S


def memory_mib(pid, name):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(name + ":"):
            return int(line.split()[1]) / 1024
    raise RuntimeError(f"there is no {name}")


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as one:
        return one.getsockname()[1]


class Relay:
    def __init__(self, stage, *options, instance=None):
        self.port = free_port()
        words = ["--instance", instance] if instance else []
        self.process = Process([stage.options.relay, "--brokers", stage.kafka.bootstrap, "--to", OUTPUT, "--metrics",
                                self.port, *stage.geometry, *stage.mode, *words, *options, INPUT],
                               stage.folder / f"relay-{self.port}.log")

    def metrics(self):
        """Of names without labels, the value; of others, a dictionary."""
        with urllib.request.urlopen(f"http://127.0.0.1:{self.port}/metrics", timeout=10) as answer:
            lines = answer.read().decode().splitlines()
        found = {}
        for line in lines:
            if not line.startswith("#"):
                name, value = line.rsplit(" ", 1)
                found[name] = float(value)
        return found

    def total(self, name):
        return sum(value for key, value in self.metrics().items()
                   if key == "htw_relay_" + name or key.startswith(f"htw_relay_{name}{{"))

    def is_ready(self, stripes):
        try:
            return self.total("stripes") >= stripes
        except OSError:
            if self.process.process.poll() is not None:
                raise RuntimeError(f"the relay ended: {pathlib.Path(self.process.log.name).read_text()}") from None
            return False


class Counter:
    """Counter.java as a process."""

    def __init__(self, stage):
        self.process = Process(stage.kafka.java("256m", "WARN", "Counter", stage.kafka.bootstrap, OUTPUT,
                                                classes=stage.options.classes),
                               stage.folder / "counter.log", stdout=subprocess.PIPE, bufsize=1)

    def ask(self, *words):
        self.process.process.stdin.write(" ".join(words) + "\n")
        line = self.process.process.stdout.readline()
        if not line:
            raise RuntimeError(f"the counter ended: {pathlib.Path(self.process.log.name).read_text()[-2000:]}")
        return json.loads(line)


def await_true(condition, what, patience=PATIENCE_S):
    end = time.monotonic() + patience
    while not condition():
        if time.monotonic() > end:
            raise RuntimeError(f"never: {what}")
        time.sleep(0.1)


class Stage:
    """A Kafka with the topics, and what runs on it."""

    def __init__(self, options, stack, broker=None):
        self.options = options
        self.stack = stack
        self.kafka = stack.enter_context(cluster.Cluster(options.jars, heap="1g", **{**BROKER, **(broker or {})}))
        self.folder = pathlib.Path(self.kafka.folder)
        self.geometry = options.geometry.split() + ["-X" + one for one in options.property]
        self.geometry += options.relay_option
        self.mode = ["--at-least-once"] if options.at_least_once else []
        admin = client.Client(self.kafka)
        stack.callback(admin.close)
        for topic in (INPUT, OUTPUT):
            admin.topic(topic, options.partitions)
        if options.peer == "ladder":
            for step in LADDER_MS:
                admin.topic(f"{INPUT}.{step}", options.partitions)
        admin.close()

    def own(self, process):
        self.stack.callback(lambda: process.kill() if process.process.poll() is None else None)
        return process

    def start_relay(self, *options, instance=None):
        relay = Relay(self, *options, instance=instance)
        self.own(relay.process)
        return relay

    def create_topics(self):
        subprocess.run([self.options.relay, "--brokers", self.kafka.bootstrap, *self.geometry, "--create-topics",
                        INPUT], check=True, capture_output=True)

    def start_counter(self):
        counter = Counter(self)
        self.own(counter.process)
        return counter

    def start_load(self, *options):
        if self.options.ids:
            options += ("--ids",)
        topic = OUTPUT if self.options.peer == "bare" else INPUT
        return self.own(Process([self.options.program, "--workload", "load", "--brokers", self.kafka.bootstrap,
                                 "--topic", topic, *options], self.folder / "load.log", stdout=subprocess.PIPE))

    def broker_pid(self):
        return self.kafka.nodes[0].process.pid


class Figures:
    def __init__(self, options):
        self.labels = {"workload": options.label or options.workload, "peer": options.peer,
                       "mode": "at least once" if options.at_least_once else "exactly once", "case": options.case}

    def add(self, metric, value):
        print(json.dumps({**self.labels, "metric": metric, "value": round(value, 6)}), flush=True)


# ---- steady

def deliverer(stage):
    """What delivers, when it is ready; and the relay, if it is one."""
    options = stage.options
    if options.peer == "bare":
        return None, None
    if options.peer == "ladder":
        words = ["--at-least-once"] if options.at_least_once else []
        process = stage.own(Process(
            [options.program, "--workload", "ladder", "--brokers", stage.kafka.bootstrap, "--topic", INPUT, "--to",
             OUTPUT, "--steps", ",".join(map(str, LADDER_MS)), *words], stage.folder / "ladder.log",
            stdout=subprocess.PIPE))
        return process, None
    stage.create_topics()
    relay = stage.start_relay()
    await_true(lambda: relay.is_ready(options.partitions), "the relay has its stripes")
    return relay.process, relay


def markers(counter, relay, seen):
    """Offsets that are no records, over all offsets, in the output and in the levels."""
    ends = counter.ask("ends", OUTPUT)
    others = ends - seen
    if relay is not None:
        for level in range(12):
            filed = relay.metrics().get(f'htw_relay_filed_total{{level="{level}"}}', 0)
            if filed > 0:
                end = counter.ask("ends", f"{INPUT}.l{level}")
                ends += end
                others += end - filed
    return others / ends


def steady(options, figures):
    with contextlib.ExitStack() as stack:
        stage = Stage(options, stack)
        process, relay = deliverer(stage)
        counter = stage.start_counter()
        counter.ask("figures")
        delay = ["--delay-min", options.delay_min, "--delay-max", options.delay_max]
        if options.peer == "ladder":
            delay = ["--steps", ",".join(map(str, LADDER_MS))]
        load = stage.start_load("--rate", options.rate, *delay)
        longest_s = (max(LADDER_MS) if options.peer == "ladder" else options.delay_max) / 1000
        time.sleep(longest_s + options.warmup)
        pids = {"broker": stage.broker_pid(), "producer": load.pid, "consumer": counter.process.pid}
        if process is not None:
            pids["relay"] = process.pid
        before = counter.ask("start")
        cpu_before = {name: cpu_s(pid) for name, pid in pids.items()}
        windows, resident = [before], []
        for _ in range(max(int(options.seconds / options.window), 1)):
            time.sleep(options.window)
            windows.append(counter.ask("figures"))
            if process is not None:
                resident.append(memory_mib(process.pid, "VmRSS"))
            span = (windows[-1]["now_ms"] - windows[-2]["now_ms"]) / 1000
            with open(options.windows, "a", encoding="utf-8") as stream:
                print(options.peer, options.case, options.at_least_once,
                      f"{(windows[-1]['records'] - windows[-2]['records']) / span:.0f}/s", windows[-1]["recent"],
                      [round(mib) for mib in resident[-1:]], {n: round(cpu_s(p) - cpu_before[n], 1) for n, p in pids.items()},
                      file=stream)
        after = windows[-1]
        cpu = {name: cpu_s(pid) - cpu_before[name] for name, pid in pids.items()}
        sent = json.loads(load.end().splitlines()[0])["value"]
        await_true(lambda: counter.ask("figures")["records"] >= sent, "all records arrive",
                   longest_s + PATIENCE_S)
        time.sleep(1)
        end = counter.ask("figures")
        if end["records"] != sent + end["twice"] or (end["twice"] and not options.at_least_once):
            raise RuntimeError(f"{sent} were sent, and {end['records']} arrived, {end['twice']} of them twice")
        seconds = (after["now_ms"] - before["now_ms"]) / 1000
        records = after["records"] - before["records"]
        figures.add("asked_per_s", options.rate)
        figures.add("records_per_s", records / seconds)
        for name in ("p50_ms", "p99_ms", "p99.9_ms", "max_ms"):
            figures.add(f"late_{name}", after["all"][name])
        figures.add("early", after["all"]["early"])
        figures.add("window_p99_ms", statistics.median(one["recent"]["p99_ms"] for one in windows[1:]))
        figures.add("worst_window_p99_ms", max(one["recent"]["p99_ms"] for one in windows[1:]))
        third = max(len(windows) // 3, 1)
        figures.add("first_p99_ms", max(one["recent"]["p99_ms"] for one in windows[1:1 + third]))
        figures.add("last_p99_ms", max(one["recent"]["p99_ms"] for one in windows[-third:]))
        figures.add("marker_percent", 100 * markers(counter, relay, end["records"]))
        for name, value in cpu.items():
            figures.add(f"{name}_cpu_s_per_million", value / records * 1e6)
        figures.add("cpu_percent", 100 * sum(cpu.values()) / seconds)
        if resident:
            figures.add("resident_mib", max(resident))
        figures.add("seconds", seconds)


# ---- memory, failures, bytes, and a table

def waiting(options, figures):
    """The memory of a relay while many records wait."""
    with contextlib.ExitStack() as stack:
        stage = Stage(options, stack, {"log_retention_bytes": -1})
        stage.create_topics()
        relay = stage.start_relay()
        await_true(lambda: relay.is_ready(options.partitions), "the relay has its stripes")
        start = time.monotonic()
        load = stage.start_load("--count", options.count, "--delay-min", options.delay_min, "--delay-max",
                                options.delay_max)
        load.end(patience=options.seconds)
        await_true(lambda: relay.total("received_total") >= options.count, "all are received", options.seconds)
        await_true(lambda: relay.total("filed_total") >= options.count, "all are filed", options.seconds)
        taken_s = time.monotonic() - start
        time.sleep(options.warmup)
        figures.add("resident_mib", memory_mib(relay.process.pid, "VmRSS"))
        figures.add("most_mib", memory_mib(relay.process.pid, "VmHWM"))
        figures.add("filed_per_s", options.count / taken_s)
        if relay.total("delivered_total") > 0:
            raise RuntimeError("filling took too long: records were delivered")


def takeover(options, figures):
    """A relay ends, and another one goes on: how late the latest record becomes."""
    with contextlib.ExitStack() as stack:
        stage = Stage(options, stack)
        stage.create_topics()
        is_restart = options.event == "restart"
        first = stage.start_relay(instance="first")
        second = None if is_restart else stage.start_relay(instance="second")
        stripes = options.partitions if is_restart else options.partitions // 2
        for relay in (first, second):
            if relay is not None:
                await_true(lambda one=relay: one.total("stripes") == stripes if one.is_ready(0) else False,
                           "the relays share the stripes")
        counter = stage.start_counter()
        counter.ask("figures")
        load = stage.start_load("--rate", options.rate, "--delay-min", options.delay_min, "--delay-max",
                                options.delay_max)
        time.sleep(options.delay_max / 1000 + options.warmup)
        counter.ask("start")
        first.process.process.send_signal(signal.SIGTERM if options.event == "stop" else signal.SIGKILL)
        first.process.process.wait()
        if is_restart:
            stage.start_relay(instance="first")
        time.sleep(options.seconds)
        after = counter.ask("figures")
        sent = json.loads(load.end().splitlines()[0])["value"]
        await_true(lambda: counter.ask("figures")["records"] >= sent, "all records arrive")
        if counter.ask("figures")["twice"] and not options.at_least_once:
            raise RuntimeError("records arrived twice")
        figures.add("latest_s", after["all"]["max_ms"] / 1000)


def file_bytes(stage, topic):
    """What the partitions of a topic have written, with what was deleted."""
    return sum(os.path.getsize(file) for file in
               glob.glob(f"{stage.kafka.nodes[0].folder}/{topic}-[0-9]*/*.log*"))


def written(options, figures):
    """The bytes that a record costs in the files of the broker."""
    with contextlib.ExitStack() as stack:
        stage = Stage(options, stack, {"log_retention_bytes": -1, "log_segment_delete_delay_ms": 3600000})
        process, relay = deliverer(stage)
        counter = stage.start_counter()
        steps = ["--steps", ",".join(map(str, LADDER_MS))]
        delay = ["--delay-min", options.delay_min, "--delay-max", options.delay_max]
        load = stage.start_load("--rate", options.rate, "--count", int(options.rate * options.seconds),
                                *(steps if relay is None else delay))
        sent = json.loads(load.end().splitlines()[0])["value"]
        await_true(lambda: counter.ask("figures")["records"] >= sent, "all records arrive", PATIENCE_S)
        time.sleep(1)
        waited = sum(file_bytes(stage, f"{INPUT}.{name}")
                     for name in (LADDER_MS if relay is None else [f"l{level}" for level in range(12)]))
        if relay is not None:
            writes = (relay.total("filed_total") + relay.total("delivered_total")) / sent
            if abs(writes - options.writes) > 0.02:  # the machine is too slow for such short delays
                raise RuntimeError(f"{writes:.2f} writes a record, in place of {options.writes}")
            figures.add("writes", writes)
            figures.add("input_bytes", file_bytes(stage, INPUT) / sent)
        figures.add("waiting_bytes", waited / sent)
        figures.add("output_bytes", file_bytes(stage, OUTPUT) / sent)
        figures.add("group_bytes", (file_bytes(stage, "__consumer_offsets") +
                                    file_bytes(stage, "__transaction_state")) / sent)


def table(options, figures):
    """A polled database table: what the benchmark of the journal has."""
    with tempfile.TemporaryDirectory(prefix="htw-bench-", dir="/tmp") as folder:
        os.chmod(folder, 0o711)
        done = subprocess.run(
            [options.journal, "--folder", folder, "--workload", "lateness", "--peer", options.peer, "--jobs",
             str(options.rate), "--seconds", str(options.seconds)], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise RuntimeError(done.stderr)
    for line in map(json.loads, done.stdout.splitlines()):
        if line["metric"] == "state":
            print(json.dumps({**figures.labels, "metric": "state", "value": line["value"]}))
        elif line["metric"].startswith("lateness_"):
            figures.add(line["metric"].replace("lateness_", "late_").replace("_us", "_ms"), line["value"] / 1000)


WORKLOADS = {"steady": steady, "waiting": waiting, "takeover": takeover, "written": written, "table": table}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--workload", choices=WORKLOADS, required=True)
    parser.add_argument("--label", default="", help="the workload in what is printed")
    parser.add_argument("--peer", default="htw", choices=("htw", "ladder", "bare", "sqlite"))
    parser.add_argument("--case", default="")
    parser.add_argument("--at-least-once", action="store_true")
    parser.add_argument("--program", required=True, help="htw-bench-relay")
    parser.add_argument("--relay", required=True, help="htw-relay")
    parser.add_argument("--journal", default="", help="htw-bench-journal")
    parser.add_argument("--jars", required=True, help="of Kafka")
    parser.add_argument("--classes", required=True, help="of Counter.java")
    parser.add_argument("--partitions", type=int, default=2)
    parser.add_argument("--geometry", default="", help="options of the relay: --width, --size, --levels")
    parser.add_argument("--rate", type=int, default=1000, help="records a second")
    parser.add_argument("--delay-min", type=int, default=0, metavar="MS")
    parser.add_argument("--delay-max", type=int, default=0, metavar="MS")
    parser.add_argument("--count", type=int, default=0, help="records that wait")
    parser.add_argument("--ids", action="store_true", help="each record has a htw-id")
    parser.add_argument("--writes", type=int, default=0, help="of a record, by the levels that it passes")
    parser.add_argument("--event", choices=("kill", "restart", "stop"), default="kill")
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--warmup", type=float, default=10)
    parser.add_argument("--window", type=float, default=10, help="seconds between looks")
    parser.add_argument("--property", action="append", default=[], help="of librdkafka, in the relay")
    parser.add_argument("--relay-option", action="append", default=[])
    parser.add_argument("--windows", default="/dev/stderr", help="a file for what each look has found")
    options = parser.parse_args()
    WORKLOADS[options.workload](options, Figures(options))


if __name__ == "__main__":
    try:
        main()
    except cluster.Missing as missing:
        sys.exit(str(missing))
    except (RuntimeError, AssertionError, subprocess.SubprocessError) as wrong:
        sys.exit(f"stage.py: {wrong}")
