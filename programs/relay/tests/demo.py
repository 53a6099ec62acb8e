# SPDX-License-Identifier: MIT
"""What ./dev demo relay shows: demo.py RELAY MOCK

Starts brokers in memory (mock.c) and a relay over them, sends a thousand records that ask for delivery within the next ten
seconds, and says how late they were.
"""
import subprocess
import sys
import tempfile
import threading
import time

sys.dont_write_bytecode = True
sys.path.append(sys.path[0] + "/../../../tests/kit")
from brokers import Brokers, level_topics  # noqa: E402
from relay import Relay, wait_for  # noqa: E402

RECORDS, SECONDS = 1000, 10


def produce(brokers, deadline_ms, keys):
    subprocess.run(["kcat", "-P", "-b", brokers.bootstrap, "-t", "later", "-K:", "-H", f"htw-deliver-at={deadline_ms}"],
                   input="".join(f"{key}:record\n" for key in keys), text=True, check=True)


def consume(brokers, got):
    """Appends how late each record is, until the brokers end."""
    reader = subprocess.Popen(["kcat", "-C", "-q", "-u", "-b", brokers.bootstrap, "-t", "now", "-X",
                               "fetch.wait.max.ms=10", "-f", "%h\\n"], stdout=subprocess.PIPE, text=True)
    threading.Thread(target=lambda: [got.append(time.time() * 1000 - int(line.split("htw-delivered-for=")[1].split(",")[0]))
                                     for line in reader.stdout], daemon=True).start()
    return reader


def demo(program, mock_program):
    print("Starting brokers in memory, those of librdkafka's tests, which know no transactions ...", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        brokers = Brokers(mock_program, folder, "later:2", "now:2", *level_topics("later", 3, 2, 16))
        options = ["later", "--to", "now", "--at-least-once", "--size", "16", "--levels", "3"]
        print("$ htw relay " + " ".join(options), flush=True)
        relay = Relay(program, brokers, "demo", *options)
        late = []
        reader = consume(brokers, late)
        try:
            relay.ready()
            begin_ms = int(time.time() * 1000) + 3000
            for group in range(100):
                produce(brokers, begin_ms + group * SECONDS * 10, range(10 * group, 10 * group + 10))
            print(f"{RECORDS} records ask for delivery in {SECONDS} seconds ...", flush=True)
            wait_for(lambda: len(late) >= RECORDS or not relay.running(), "all records")
            print(f"\n{len(late)} arrived; {sum(one < 0 for one in late)} early")
            late.sort()
            print(f"Half of them are at most {late[len(late) // 2]:.0f} ms late, 99 of 100 {late[len(late) * 99 // 100]:.0f} ms")
        finally:
            reader.terminate()
            if relay.running():
                relay.stop()
            brokers.close()


if __name__ == "__main__":
    demo(*sys.argv[1:])
