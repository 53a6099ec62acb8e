# SPDX-License-Identifier: MIT
"""The programs that ./dev soak watches, each with its load. A load runs in threads of this process, says what was wrong
in `errors`, and measures lateness."""
import functools
import json
import os
import random
import socket
import subprocess
import threading
import time

from brokers import Brokers, level_topics
from judge import BUCKETS, add_late
from programs import PATIENCE
from relay import Relay
from wire import Wire


def ask_monitor(path):
    """What a program tells of its statistics."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(PATIENCE)
        client.connect(path)
        client.sendall(b"json\n")
        with client.makefile("rb") as stream:
            return json.loads(stream.read())


class Subject:
    """A program under load. `folder` is its own; `seed` decides what the load does."""

    LATE_MS = 50  # the p99 of its lateness may be so much

    def __init__(self, name, folder, seed):
        self.name, self.folder, self.random = name, folder, random.Random(f"{seed} {name}")
        self.errors, self.late, self.operations = [], [0] * BUCKETS, 0
        self.is_over = threading.Event()
        self.loads = []
        os.mkdir(folder)
        self.log = open(os.path.join(folder, "log"), "w+b")
        self.process = None  # a subclass starts it

    def path(self, name):
        return os.path.join(self.folder, name)

    def run(self, *command, **pipes):
        self.process = subprocess.Popen(command, stderr=self.log, **{"stdin": subprocess.DEVNULL, "stdout": self.log, **pipes})

    def load(self, function):
        """Calls it in a thread until the end. What it raises is an error."""
        def repeat():
            try:
                function()
            except Exception as error:  # a fault of the load, too
                self.errors.append(f"the load: {error!r}")
        thread = threading.Thread(target=repeat)
        thread.start()
        self.loads.append(thread)

    def finish(self):
        """Ends the load, and then the program, and adds what was wrong."""
        self.is_over.set()
        try:
            for thread in self.loads:
                thread.join(PATIENCE)
            self.end()
            status = self.process.wait(PATIENCE)
            if status != 0:
                self.errors.append(f"ended with status {status}")
        except subprocess.TimeoutExpired:
            self.errors.append("does not end")
        self.log.seek(0)
        text = self.log.read().decode(errors="replace")
        if self.is_wrong(text):
            self.errors.append(f"has said: {text[-1000:]}")
        self.kill()

    def end(self):
        self.process.terminate()

    def is_wrong(self, text):
        return text != ""

    def kill(self):
        self.is_over.set()
        if self.process and self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        self.log.close()

    def disk_kib(self):
        """Of its files."""
        sizes = [entry.stat().st_size for entry in os.scandir(self.folder) if entry.is_file() and entry.name != "log"]
        return sum(sizes) / 1024

    def lateness(self):
        return list(self.late)


class Program(Subject):
    """program.c, whose statistics a monitor shows."""

    def __init__(self, folder, seed, program, threads, leak):
        super().__init__("program", folder, seed)
        self.run(program, "1000000", str(seed), self.path("socket"), str(threads), leak)
        self.ask_first()

    def ask_first(self):
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.lateness()
                return
            except OSError:
                assert self.process.poll() is None and time.monotonic() < end, "no monitor"
                time.sleep(0.05)

    def lateness(self):
        schedulers = ask_monitor(self.path("socket"))["schedulers"]
        self.operations = sum(scheduler["scheduled"] for scheduler in schedulers)
        return [sum(counts) for counts in zip(*(scheduler["lateness"]["histogram"] for scheduler in schedulers))]

    def is_wrong(self, text):
        return not text.endswith(": ok\n")


class Delay(Subject):
    """htw delay: each line comes out once, and never early."""

    RATE, STEP_S, LONGEST_S = 400, 0.05, 5  # lines a second, written so often

    def __init__(self, folder, seed, program):
        super().__init__("delay", folder, seed)
        self.written, self.waiting = 0, set()
        self.run(program, "delay", "--timestamps", "--stats", stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.load(self.write)
        self.load(self.read)

    def write(self):
        while not self.is_over.wait(self.STEP_S):
            numbers = range(self.written, self.written + int(self.RATE * self.STEP_S))
            self.written = numbers.stop
            self.waiting.update(numbers)
            lines = [f"{self.random.uniform(0, self.LONGEST_S):.4f} {number}\n" for number in numbers]
            self.process.stdin.write("".join(lines).encode())
            self.process.stdin.flush()
        self.process.stdin.close()

    def read(self):
        for line in self.process.stdout:
            _, _, late, number = line.split()
            self.waiting.remove(int(number))
            self.operations += 1
            if float(late) < 0:
                self.errors.append(f"early by {late} s: message {number.decode()}")
            add_late(self.late, float(late))

    def end(self):
        """It ends when all that it has read is released."""

    def finish(self):
        super().finish()
        if self.waiting:
            self.errors.append(f"{len(self.waiting)} of {self.written} messages have not come")

    def is_wrong(self, text):
        return "error" in text


class Serve(Subject):
    """htw serve: clients that come and go, put jobs, some for later, reserve and delete them, and wait in vain."""

    CLIENTS, JOBS = 4, 20

    def __init__(self, folder, seed, program):
        super().__init__("serve", folder, seed)
        self.run(program, "--listen", "0", self.path("journal"), stdout=subprocess.PIPE)
        self.port = int(self.process.stdout.readline().rsplit(b":", 1)[1])
        for number in range(self.CLIENTS):
            self.load(functools.partial(self.be_clients, number))

    def be_clients(self, number):
        while not self.is_over.is_set():
            with Wire(self) as wire:
                for command in (f"use {number}", f"watch {number}", "ignore default"):
                    wire.ask(command)
                for _ in range(5):
                    self.be_client(wire)

    def be_client(self, wire):
        put = {wire.put(b"v" * self.random.randrange(500), delay=self.random.randrange(2)) for _ in range(self.JOBS)}
        got = {wire.reserve(PATIENCE)[0] for _ in put}
        for job in got:
            self.expect(wire.ask(f"delete {job}"), b"DELETED")
        self.expect(got, put)
        begun = time.monotonic()
        self.expect(wire.reserve(1), None)
        add_late(self.late, time.monotonic() - begun - 1)
        self.operations += 3 * self.JOBS + 1

    def expect(self, got, wanted):
        if got != wanted:
            self.errors.append(f"{got!r} instead of {wanted!r}")


class RelayOverMock(Subject):
    """htw relay over librdkafka's mock cluster: each record is delivered once, or more often, and not early."""

    RATE, STEP_S, LONGEST_MS = 100, 0.1, 4000
    LATE_MS = 3000  # a record comes over the cluster twice, each time with polls of half a second

    def __init__(self, folder, seed, program, brokers):
        super().__init__("relay", folder, seed)
        import confluent_kafka  # pylint: disable=import-outside-toplevel
        self.kafka = confluent_kafka
        self.brokers = Brokers(brokers, folder, "later:2", "now:2", *level_topics("later", 3, 2, 16))
        self.relay = Relay(program, self.brokers, "relay", "later", "--allow", "now", "--at-least-once", "--size", "16",
                           "--levels", "3")
        self.process = self.relay.process
        self.relay.ready()
        self.written, self.waiting = 0, {}
        self.load(self.produce)
        self.load(self.consume)

    def produce(self):
        producer = self.kafka.Producer({"bootstrap.servers": self.brokers.bootstrap})
        while not self.is_over.wait(self.STEP_S):
            for _ in range(int(self.RATE * self.STEP_S)):
                self.written += 1
                due_ms = int(time.time() * 1000) + self.random.randrange(self.LONGEST_MS)
                self.waiting[str(self.written)] = due_ms
                producer.produce("later", key=str(self.written), value=str(self.written),
                                 headers=[("htw-deliver-at", str(due_ms)), ("htw-deliver-to", "now")])
            producer.poll(0)
        producer.flush(PATIENCE)

    def consume(self):
        consumer = self.kafka.Consumer({"bootstrap.servers": self.brokers.bootstrap, "group.id": "soak",
                                        "auto.offset.reset": "earliest", "fetch.wait.max.ms": 10})
        consumer.subscribe(["now"])
        end = None
        while self.waiting or not self.is_over.is_set():
            if self.is_over.is_set():
                end = end or time.monotonic() + PATIENCE / 2
                if time.monotonic() > end:
                    break
            message = consumer.poll(0.1)
            if message is None or message.error():
                continue
            due_ms = self.waiting.pop(message.value().decode(), None)
            if due_ms is None:
                continue  # once more
            self.operations += 1
            late_s = time.time() - due_ms / 1000
            if late_s < 0:
                self.errors.append(f"early by {-late_s} s")
            add_late(self.late, late_s)
        consumer.close()

    def end(self):
        if self.waiting:
            self.errors.append(f"{len(self.waiting)} of {self.written} records have not come")
        self.process.terminate()

    def is_wrong(self, text):
        return "error" in self.relay.text()

    def kill(self):
        super().kill()
        self.brokers.close()

    def disk_kib(self):
        return 0
