# SPDX-License-Identifier: MIT
"""What the tests share: the case of each, with its topics, its relays and what they are judged by."""
import collections
import itertools
import json
import os
import subprocess
import time

from judge import Verdict
from client import read_records
from relay import QUICK, Relay, wait_for

numbers = itertools.count()


def now_ms():
    return int(time.time() * 1000)


class Case:
    """The topics of one test, its relays, and readers of what goes in and out."""

    # Buckets of 250 ms, 1 s, 4 s, 16 s: within seconds a record passes through several levels.
    LEVELS = ("--width", "250ms", "--size", "8", "--levels", "4")

    def __init__(self, world, stripes=2, *options):
        self.world, self.client, self.cluster = world, world.client, world.cluster
        self.name = f"t{next(numbers)}"
        self.out = self.name + "-out"
        self.options = [self.name, *self.LEVELS, "--allow", self.out, "--to", self.out, *options]
        for name, value in QUICK.items():
            self.options += ["-X", f"{name}={value}"]
        self.relays = []
        self.client.topic(self.name, stripes)
        # The broker's time at the moment of appending shows what is early, whenever it is read.
        self.client.topic(self.out, 3, "message.timestamp.type=LogAppendTime", "max.message.bytes=2097152")
        for tries in reversed(range(5)):  # a broker may not know of the topics yet
            create = Relay(world.program, self.cluster, self.name, *self.options, "--create-topics")
            if create.process.wait(60) == 0 or tries == 0 or "does not exist" not in create.text():
                break
        assert create.process.returncode == 0 and "level=warning" not in create.text(), create.text()
        self.files = {}
        self.read("sent", "committed", self.name)
        self.read("got", "committed", self.out)
        self.next = 0
        self.keys, self.read_to = set(), 0

    def read(self, what, isolation, topic):
        self.files[what] = os.path.join(self.cluster.folder, f"{self.name}.{what}")
        self.client.consume(self.files[what], isolation, topic)

    def relay(self, instance=None, *options, environment=None):
        relay = Relay(self.world.program, self.cluster, self.name, *self.options, *options, instance=instance,
                      environment=environment)
        self.relays.append(relay)
        return relay

    def produce(self, count, from_ms, spread_ms, size=100, *headers):
        """Records due between now + from_ms and spread_ms later."""
        self.client.produce(self.name, count, self.next, now_ms() + from_ms, spread_ms, size, *headers)
        self.next += count

    def arrived(self):
        """How many different records have arrived."""
        with open(self.files["got"], "rb") as stream:
            stream.seek(self.read_to)
            lines = stream.read().split(b"\n")
        self.read_to += sum(len(line) + 1 for line in lines[:-1])
        self.keys.update(line.split(b"\t", 6)[5] for line in lines[:-1])
        return len(self.keys)

    def wait_arrived(self, seconds=90):
        def all_arrived():
            for relay in self.relays:
                assert relay.running() or relay.is_stopped, f"a relay has ended: {relay.text()[-2000:]}"
            return self.arrived() >= self.next
        wait_for(all_arrived, lambda: f"{self.next} records; {len(self.keys)} have come", seconds)

    def waiting(self, levels=4):
        """How often each key is in a bucket, and not done."""
        files = {}
        for topic in (f"{self.name}.l{level}" for level in range(levels)):
            files[topic] = os.path.join(self.cluster.folder, topic + ".waiting")
            self.client.consume(files[topic], "committed", topic)
        for path in files.values():
            self.client.finish(path)
        positions = {}
        for one in self.client.offsets(self.name).split():
            topic, partition, offset, _ = one.split(":", 3)
            positions[topic, int(partition)] = int(offset)
        return collections.Counter(record.key for path in files.values() for record in read_records(path)
                                   if record.offset >= positions[record.topic, record.partition])

    def act(self, action, *words, status=0):
        """`htw relay ACTION`: what it prints for programs, and what it complains of."""
        run = subprocess.run([self.world.program, action, "--brokers", self.cluster.bootstrap, "--json", self.name,
                              *words], capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL, timeout=120)
        assert status in (run.returncode, None), (run.returncode, run.stderr)
        return [json.loads(line) for line in run.stdout.splitlines()], run.stderr

    def is_filed(self):
        """Whether nothing of what waits is in the input."""
        return all(row["level"] is not None for row in self.act("list")[0])

    def verdict(self):
        for what in ("sent", "got"):
            self.client.finish(self.files[what])
        return Verdict(self.files["sent"], self.files["got"])

    def end(self):
        """Stops all, and judges: each once, none early."""
        time.sleep(1)  # for what should not come
        for relay in self.relays:
            if relay.running():
                assert relay.stop() == 0, relay.text()[-2000:]
        verdict = self.verdict()
        print(f"    {verdict}", flush=True)
        return verdict

    def close(self):
        for relay in self.relays:
            if relay.running():
                relay.kill()
        self.client.abandon()  # or they would ask the brokers for more while other tests run
