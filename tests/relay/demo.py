# SPDX-License-Identifier: MIT
"""What ./dev demo relay shows: demo.py RELAY JARS, or demo.py RELAY --mock MOCK

Starts a Kafka of its own and a relay, sends a thousand records that ask for delivery within the next ten seconds, and
draws how late they were. With --mock, brokers in memory (mock.c) take the place of Kafka, and kcat that of its client.
"""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "kafka"))

from brokers import Brokers, level_topics  # noqa: E402
from client import Client  # noqa: E402
from cluster import Cluster, Missing  # noqa: E402
from judge import Verdict, fields, header  # noqa: E402
from relay import Relay, wait_for  # noqa: E402

RECORDS, SECONDS = 1000, 10
ROWS, COLUMNS = 10, 40


def lateness(path):
    """(deadline, by how much later it arrived) of each record, in milliseconds."""
    for arrival, _, _, headers in fields(path):
        deadline = int(header(headers, "htw-delivered-for"))
        yield deadline, arrival - deadline


def draw(late):
    """How late the records were, as `htw delay --stats` draws it."""
    late = sorted(late)
    most = late[len(late) * 99 // 100]
    step = next(unit * size for size in (1, 10, 100, 1000, 10000) for unit in (1, 2, 5)
                if unit * size * ROWS > most or size == 10000)
    counts = [0] * ROWS
    for one in late:
        counts[min(ROWS - 1, one // step)] += 1
    for row, count in enumerate(counts):
        word = "over" if row == ROWS - 1 else "from"
        bar = "#" * -(-COLUMNS * count // max(counts))
        print(f"  {word} {row * step:6} ms  {count:13,}  {bar}".rstrip())


def demo(program, jars):
    print("Starting a Kafka of one node on the loopback address ...", flush=True)
    with Cluster(jars) as cluster:
        client = Client(cluster)
        relay = None
        try:
            client.topic("later", 2)
            client.topic("now", 2, "message.timestamp.type=LogAppendTime")
            options = ["later", "--allow", "now", "--to", "now"]
            print("$ htw relay " + " ".join(options) + " --create-topics", flush=True)
            create = Relay(program, cluster, "create", *options, "--create-topics")
            if create.process.wait(120):
                sys.exit(create.text())
            print("$ htw relay " + " ".join(options), flush=True)
            relay = Relay(program, cluster, "demo", *options).ready()
            sent, got = (os.path.join(cluster.folder, name) for name in ("sent", "got"))
            client.consume(sent, "committed", "later")
            client.consume(got, "committed", "now")
            begin_ms = int(time.time() * 1000) + 2000
            client.produce("later", RECORDS, 0, begin_ms, SECONDS * 1000, 100)
            print(f"\n{RECORDS} records are in the topic `later`; they ask for delivery to `now` in the {SECONDS} seconds "
                  "that follow.\nA consumer with isolation.level=read_committed sees them arrive:\n", flush=True)
            for second in range(SECONDS):
                time.sleep(max(0, begin_ms / 1000 + second + 1.5 - time.time()))
                if not relay.running():
                    sys.exit(relay.text())
                late = [late for due, late in lateness(got) if (due - begin_ms) // 1000 == second]
                print(f"  due in second {second + 1:2}: {len(late):4} records" + (
                    f", {min(late)} to {max(late)} ms late" if late else ""), flush=True)
            wait_for(lambda: int(client.count(got)) >= RECORDS, "all records", 30)
            client.finish(sent)
            client.finish(got)
            print(f"\n{Verdict(sent, got)}")
            draw([late for _, late in lateness(got)])
        finally:
            if relay and relay.running():
                relay.stop()
            client.close()


def produce_mock(brokers, deadline_ms, keys):
    subprocess.run(["kcat", "-P", "-b", brokers.bootstrap, "-t", "later", "-K:", "-H", f"htw-deliver-at={deadline_ms}"],
                   input="".join(f"{key}:record\n" for key in keys), text=True, check=True)


def consume_mock(brokers, got):
    """Appends how late each record is, until the brokers end."""
    reader = subprocess.Popen(["kcat", "-C", "-q", "-u", "-b", brokers.bootstrap, "-t", "now", "-X",
                               "fetch.wait.max.ms=10", "-f", "%h\\n"], stdout=subprocess.PIPE, text=True)
    threading.Thread(target=lambda: [got.append(time.time() * 1000 - int(line.split("htw-delivered-for=")[1].split(",")[0]))
                                     for line in reader.stdout], daemon=True).start()
    return reader


def demo_mock(program, mock_program):
    print("So here is the same with brokers in memory, those of librdkafka's tests: at least once.", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        brokers = Brokers(mock_program, folder, "later:2", "now:2", *level_topics("later", 3, 2, 16))
        options = ["later", "--to", "now", "--at-least-once", "--size", "16", "--levels", "3"]
        print("$ htw relay " + " ".join(options), flush=True)
        relay = Relay(program, brokers, "demo", *options)
        late = []
        reader = consume_mock(brokers, late)
        try:
            relay.ready()
            begin_ms = int(time.time() * 1000) + 3000
            for group in range(100):
                produce_mock(brokers, begin_ms + group * SECONDS * 10, range(10 * group, 10 * group + 10))
            print(f"{RECORDS} records ask for delivery in {SECONDS} seconds ...", flush=True)
            wait_for(lambda: len(late) >= RECORDS or not relay.running(), "all records")
            print(f"\n{len(late)} arrived; {sum(one < 0 for one in late)} early")
            draw([int(one) for one in late])
        finally:
            reader.terminate()
            if relay.running():
                relay.stop()
            brokers.close()


if __name__ == "__main__":
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that no Kafka is left behind
    try:
        if sys.argv[2] == "--mock":
            demo_mock(sys.argv[1], sys.argv[3])
        else:
            demo(*sys.argv[1:])
    except Missing as missing:
        print(missing, file=sys.stderr)
        sys.exit(77)
