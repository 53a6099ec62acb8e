# SPDX-License-Identifier: MIT
"""Brokers in memory (mock.c), without Java: they have no transactions, so relays run with --at-least-once."""
import contextlib
import subprocess
import tempfile

from relay import Relay


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

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def level_topics(name, levels, stripes, size):
    """The topics of a relay beside its input, for --levels and --size. The index has a partition that nobody needs."""
    return [f"{name}.dead:1", f"{name}.ids:{stripes + 1}"] + [f"{name}.l{level}:{stripes * size}" for level in range(levels)]


@contextlib.contextmanager
def relay_in_memory(relay_program, brokers_program, *options):
    """Brokers, and a relay from the topic `later` to `now` that is ready; both end with what is done meanwhile."""
    with tempfile.TemporaryDirectory() as folder, \
            Brokers(brokers_program, folder, "later:2", "now:2", *level_topics("later", 3, 2, 16)) as brokers, \
            Relay(relay_program, brokers, "relay", "later", "--allow", "now", "--at-least-once", "--size", "16", "--levels", "3",
                  *options) as relay:
        yield brokers, relay
