# SPDX-License-Identifier: MIT
"""The programs of examples/relay with a relay over brokers in memory.

Each of the three producers asks for records, another one cancels one of them, and a third one replaces one; each of the three
consumers must see what is left, and an id once. kafka/test_records.py does the same over a real Kafka.
"""
import os
import shutil
import subprocess
import sys
import time

import pytest

EXAMPLES = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "examples", "relay")
PYTHON = "/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable
PATIENCE = 60


def missing():
    """What the examples need and this machine lacks; None: nothing."""
    if not shutil.which("kcat"):
        return "kcat is missing (Debian: kcat)"
    if subprocess.run([PYTHON, "-c", "import confluent_kafka"], stderr=subprocess.DEVNULL, check=False).returncode:
        return "confluent-kafka is missing (Debian: python3-confluent-kafka)"
    return None


def example(name):
    return os.path.join(EXAMPLES, name)


def end(process, what):
    """Its lines, when it has ended by itself."""
    try:
        output, _ = process.communicate(timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"{what} does not end; so far: {process.communicate()[0]}")
    assert process.returncode == 0, (what, process.returncode, output)
    return sorted(output.splitlines())


def try_all(bootstrap, folder, producer, consumer, topic, destination, successors=True):
    """`successors`: whether others of the same groups follow. In memory, they wait until the session has ended."""
    producers = {"c": [producer], "py": [PYTHON, example("producer.py")], "sh": ["sh", example("kcat.sh")]}
    database = os.path.join(folder, "reminders")
    reader = [PYTHON, example("consumer.py"), bootstrap, destination]
    expected, ends, processes = [], [], []

    def send(name, *words):
        subprocess.run([*producers[name], bootstrap, topic, *words], check=True, timeout=PATIENCE)

    def start(*command):
        processes.append(subprocess.Popen(command, stdout=subprocess.PIPE, text=True))
        return processes[-1]

    try:
        def show(count):
            return start("sh", example("kcat.sh"), bootstrap, destination, "read", str(count))

        for name, other, third in zip(producers, ("py", "sh", "c"), ("sh", "c", "py")):
            at = int(time.time() * 1000)
            send(name, destination, "at", str(at + 600000), f"{name}-cancelled", f"key {name}", "no")
            send(other, "cancel", f"{name}-cancelled", f"key {name}")
            send(name, destination, "at", str(at + 600000), f"{name}-at", f"key {name}", "no")
            send(third, destination, "at", str(at + 1000), f"{name}-at", f"key {name}", "at")
            send(name, destination, "after", "2000", f"{name}-after", f"key {name}", "after that")
            expected += [f"{name}-at\tkey {name}\tat", f"{name}-after\tkey {name}\tafter that"]
        doubled = [line for line in expected if "-at\t" in line]
        assert end(show(len(expected)), "kcat.sh") == sorted(expected)
        for name in producers:  # once more, after its delivery; and one behind it in the same partition
            send(name, destination, "after", "0", f"{name}-at", f"key {name}", "at")
        assert end(show(len(expected + doubled)), "kcat.sh") == sorted(expected + doubled)
        for name in producers:
            send(name, destination, "after", "0", f"{name}-end", f"key {name}", "end")
            ends.append(f"{name}-end\tkey {name}\tend")
        consumers = {
            "consumer.c": start(consumer, bootstrap, destination, "c", str(len(expected + ends))),
            "consumer.py": start(*reader, "py", database, str(len(expected + ends))),
            "kcat.sh": show(len(expected + doubled + ends)),
        }
        got = {name: end(process, name) for name, process in consumers.items()}
        for name in ("consumer.c", "consumer.py"):
            assert got[name] == sorted(expected + ends), (name, got[name])
        assert got["kcat.sh"] == sorted(expected + doubled + ends), got["kcat.sh"]  # it shows what there is

        # The ids in the database outlive the consumer, and its group.
        again = start(*reader, "another", database, "1")
        send("py", destination, "after", "0", "last", "k", "v")
        assert end(again, "consumer.py") == ["last\tk\tv"]
        # Consumers that end commit what they have handled, so a successor sees only what is new.
        if successors:
            for name, command in (("consumer.c", [consumer, bootstrap, destination, "c", "1"]),
                                  ("consumer.py", [*reader, "py", database + "2", "1"])):
                assert end(start(*command), name) == ["last\tk\tv"], name
    finally:
        for process in processes:
            if process.poll() is None:
                process.kill()
                process.wait()


@pytest.mark.skipif(bool(missing()), reason=str(missing()))
def test_examples_get_what_they_ask_for_once(in_memory, build):
    brokers, _ = in_memory
    try_all(brokers.bootstrap, brokers.folder, *build.examples, "later", "now", successors=False)
