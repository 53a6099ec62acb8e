# SPDX-License-Identifier: MIT
"""Writes what a relay of some release leaves in Kafka: store.py RELAY JARS > stored/VERSION.txt

RELAY is the program of that release. It files records of all kinds, is killed, and finds some more in its input. What then
lies in its topics, its positions, and what was wanted of each record, is the copy that test_stored.c reads:

    levels WIDTH SIZE COUNT
    position TOPIC PARTITION OFFSET METADATA      "_" is a space
    record TOPIC PARTITION OFFSET TIMESTAMP KEY VALUE HEADERS
    want N DEADLINE                               the record with the header n=N is delivered once, for this time
    never N                                       it was cancelled
"""
import os
import signal
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kafka"))

from client import Client, read_records  # noqa: E402
from cluster import Cluster  # noqa: E402
from relay import QUICK, Relay, wait_for  # noqa: E402

WIDTH_MS, SIZE, COUNT, STRIPES = 1000, 8, 4, 3
LEVELS = ("--width", f"{WIDTH_MS}ms", "--size", str(SIZE), "--levels", str(COUNT))
# Of each round of records: in level 0, in those above, and beyond the highest window, which reaches 512 s.
DELAYS_MS = (1500, 3100, 5000, 7300, 12000, 20000, 33000, 47000, 70000, 120000, 200000, 400000, 700000)


class Sender:
    """Sends records, and knows what is wanted of them."""

    def __init__(self, client):
        self.client, self.count, self.cancelled, self.named = client, 0, set(), []

    def send(self, *headers, key=None, value="value"):
        number = self.count
        self.count += 1
        self.client.sendto("later", number % STRIPES, key or f"key-{number}", value, f"n={number}", *headers)
        return number

    def round(self):
        """A record of each kind for each delay; every third one has a name."""
        for i, delay_ms in enumerate(DELAYS_MS):
            at = int(time.time() * 1000) + delay_ms
            if i % 3 == 0:
                number = self.send(f"htw-deliver-at={at}", f"htw-id=id-{self.count}", "colour=blue")
                self.named.append((number, at))
            elif i % 3 == 1:
                self.send(f"htw-delay={delay_ms}", "htw-deliver-to=other", value="-")
            else:
                self.send(f"htw-deliver-at={at}", key="-")

    def cancel(self, number, at):
        self.cancelled.add(number)
        self.client.sendto("later", number % STRIPES, f"key-{number}", "-", f"htw-deliver-at={at}",
                           f"htw-cancel=id-{number}")

    def cancel_every_second(self, least_ms):
        """Of those with a name that are not due for a while."""
        now_ms = time.time() * 1000
        for number, at in [one for one in self.named if one[1] > now_ms + least_ms][::2]:
            if number not in self.cancelled:
                self.cancel(number, at)


def wanted(record):
    at = record.headers.get("htw-deliver-at")
    return int(at) if at else record.timestamp + int(record.headers["htw-delay"])


def write_copy(client, folder, sender, file):
    topics = ["later", *(f"later.l{level}" for level in range(COUNT)), "out", "other"]
    path = os.path.join(folder, "all")
    client.consume(path, "committed", *topics)
    client.finish(path)
    records = sorted(read_records(path), key=lambda one: (one.topic, one.partition, one.offset))
    print("levels", WIDTH_MS, SIZE, COUNT, file=file)
    for text in client.offsets("later").split():
        print("position", *text.split(":", 3), file=file)
    for one in records:
        headers = ";".join(f"{name}={value}" for name, value in one.headers.items())
        print("record", one.topic, one.partition, one.offset, one.timestamp, one.key,
              "-" if one.size < 0 else one.value, headers, file=file)
    for one in records:
        if one.topic == "later" and "n" in one.headers:
            number = int(one.headers["n"])
            print(*(("never", number) if number in sender.cancelled else ("want", number, wanted(one))), file=file)


def main(program, jars):
    with Cluster(jars) as cluster:
        client = Client(cluster)
        client.topic("later", STRIPES)
        for topic in ("out", "other"):
            client.topic(topic, 1)
        options = ["later", *LEVELS, "--to", "out", "--allow", "other"]
        for name, value in QUICK.items():
            options += ["-X", f"{name}={value}"]
        assert Relay(program, cluster, "create", *options, "--create-topics").process.wait(60) == 0
        relay = Relay(program, cluster, "old", *options, instance="old")
        wait_for(lambda: "ready" in relay.text(), "a relay that is ready")
        sender = Sender(client)
        for _ in range(3):
            sender.round()
            time.sleep(4)
        sender.cancel_every_second(10000)
        time.sleep(6)
        sender.round()
        time.sleep(1.8)
        relay.process.send_signal(signal.SIGKILL)
        relay.process.wait()
        sender.round()
        sender.cancel_every_second(20000)
        time.sleep(25)  # the broker ends the transactions that were open
        write_copy(client, cluster.folder, sender, sys.stdout)
        client.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
