# SPDX-License-Identifier: MIT
"""Relays as processes, and the topics that they work on."""
import os
import signal
import subprocess

from programs import PATIENCE, wait_for

# A short session, and transactions that end soon: a test waits for both. Brokers refuse sessions below 6 s.
QUICK = {"session.timeout.ms": 6000, "heartbeat.interval.ms": 1000, "transaction.timeout.ms": 10000}


class Relay:
    """One relay. Its standard error goes to a file."""

    def __init__(self, program, cluster, name, *options, instance=None, environment=None):
        self.log = os.path.join(cluster.folder, f"relay-{name}-{instance or id(self)}.log")
        self.command = [program, "--brokers", cluster.bootstrap, *options]
        if instance:
            self.command += ["--instance", instance]
        self.environment = {**os.environ, **(environment or {})}
        self.start()

    def start(self):
        self.is_stopped = False  # by the test
        with open(self.log, "ab") as log:
            self.process = subprocess.Popen(self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                            env=self.environment)

    def text(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def peak_mib(self):
        """The most memory that it has had."""
        with open(f"/proc/{self.process.pid}/status", encoding="ascii") as status:
            return next(int(line.split()[1]) // 1024 for line in status if line.startswith("VmHWM"))

    def running(self):
        return self.process.poll() is None

    def ready(self):
        """Itself, when it is ready."""
        wait_for(lambda: "ready" in self.text() or not self.running(), "a relay that is ready")
        assert self.running(), self.text()
        return self

    def __enter__(self):
        return self.ready()

    def __exit__(self, kind, *_):
        if kind:
            print(self.text())
        if self.running():
            self.kill()

    def kill(self):
        self.is_stopped = True
        self.process.kill()
        self.process.wait()

    def is_suspended(self):
        with open(f"/proc/{self.process.pid}/stat", encoding="ascii") as stat:
            return stat.read().rsplit(")", 1)[1].split()[0] == "T"

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def stop(self):
        """By SIGTERM; the status."""
        self.is_stopped = True
        self.process.terminate()
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the relay does not stop:\n{self.text()[-2000:]}")
