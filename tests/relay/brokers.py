# SPDX-License-Identifier: MIT
"""Brokers in memory (mock.c), without Java: they have no transactions, so relays run with --at-least-once."""
import subprocess


class Brokers:
    """A process; in a folder, as a Cluster."""

    def __init__(self, program, folder, *topics):
        """Each topic as NAME:PARTITIONS."""
        self.process = subprocess.Popen([program, "1", *topics], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.bootstrap, self.folder = self.process.stdout.readline().strip(), folder

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.process.stdin.close()
        self.process.stdout.close()


def level_topics(name, levels, stripes, size):
    """The topics of a relay beside its input, for --levels and --size."""
    return [f"{name}.dead:1", f"{name}.ids:{stripes}"] + [f"{name}.l{level}:{stripes * size}" for level in range(levels)]
