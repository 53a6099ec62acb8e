# SPDX-License-Identifier: MIT
"""Kafka's own client library (Client.java) as a Python object, and what it has read as records."""
import collections
import os
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))

Record = collections.namedtuple(
    "Record", "arrival topic partition offset timestamp key size value headers")


def read_records(path):
    """The records of a file that `consume` wrote. Headers are a dictionary; a repeated name keeps its last value."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            arrival, topic, partition, offset, timestamp, key, size, value, headers = line.rstrip("\n").split("\t")
            yield Record(int(arrival), topic, int(partition), int(offset), int(timestamp), key, int(size), value,
                         dict(one.split("=", 1) for one in headers.split(";") if one))


def compile_client(jars):
    """Compiles Client.java beside the artifacts, if it has changed."""
    source = os.path.join(HERE, "Client.java")
    classes = os.path.abspath(jars) + "-client"
    result = os.path.join(classes, "Client.class")
    if not os.path.exists(result) or os.path.getmtime(result) < os.path.getmtime(source):
        subprocess.run(["javac", "-Xlint:all", "-Werror", "-d", classes, "-cp", os.path.join(jars, "*"), source],
                       check=True)
    return classes


class Client:
    """A process of Client.java. A call per command; words are joined by spaces."""

    def __init__(self, cluster):
        classes = compile_client(cluster.jars)
        self.errors = open(os.path.join(cluster.folder, "client.log"), "ab")
        self.process = subprocess.Popen(
            cluster.java("400m", "Client", cluster.bootstrap, classes=classes),
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()
        self.errors.close()

    def call(self, *words):
        self.process.stdin.write(" ".join(map(str, words)) + "\n")
        self.process.stdin.flush()
        return self.process.stdout.readline

    def __getattr__(self, command):
        """client.topic("t", 3) sends `topic t 3`, and returns the answer."""
        def ask(*words):
            answer = self.call(command, *words)().rstrip("\n")
            if not answer.startswith("ok"):
                raise RuntimeError(f"{command} {' '.join(map(str, words))}: {answer or 'the client has ended'}")
            return answer[3:]
        return ask
