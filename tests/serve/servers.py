# SPDX-License-Identifier: MIT
"""Starts and stops htw serve and beanstalkd."""
import os
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time

from clients import Wire
from harness import PATIENCE, equal, notes, settings, wait_for


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running server on a loopback port."""

    def __init__(self, name, arguments, folder=None, environment=None):
        self.name = name
        self.port = None
        self.has_stopped = False
        self.folder = folder  # removed at the end
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=self.output, cwd=tempfile.gettempdir(),
                                        env={**os.environ, **(environment or {})})

    @property
    def is_own(self):
        return self.name == "htw serve"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None and self.process.poll() not in (None, 0, -signal.SIGKILL):
            notes.append(f"{self.name} has ended with status {self.process.returncode}: {self.said()[:5000]}")
        self.kill()
        if self.folder:
            shutil.rmtree(self.folder)

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def wait_until_ready(self, port):
        self.port = port

        def answers():
            assert self.process.poll() is None, f"{self.name} has ended: {self.said()}"
            try:
                with Wire(self) as wire:
                    return wire.ask("list-tube-used") == b"USING default"
            except ConnectionError:
                return False
        wait_for(answers, f"that {self.name} answers")
        return self

    def stat(self, field, tube=None):
        with Wire(self) as wire:
            return wire.stat(f"stats-tube {tube}" if tube else "stats", field)

    def wait_until_waiting(self, count):
        wait_for(lambda: self.stat("current-waiting") == str(count), f"{count} clients wait")

    def stop(self, number=signal.SIGTERM):
        """Sends a signal, waits for exit status 0, and returns how long that took."""
        assert self.process.poll() is None, f"{self.name} has ended by itself: {self.said()}"
        began = time.monotonic()
        self.process.send_signal(number)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise AssertionError(f"{self.name} does not stop") from None
        took = time.monotonic() - began
        text = self.said()
        assert "Sanitizer" not in text and "runtime error" not in text, text
        equal(status, 0, f"exit status of {self.name}")
        self.has_stopped = True
        return took

    def finish(self):
        """Stops the server; htw serve must end with status 0."""
        if self.is_own and not self.has_stopped:
            self.stop()
        self.kill()


def beanstalkd(*options):
    port = free_port()
    server = Server("beanstalkd", ["beanstalkd", "-l", "127.0.0.1", "-p", str(port), *options],
                    environment={"LD_PRELOAD": settings.clock})
    return server.wait_until_ready(port)


def htw_serve(*options, file=None, port=0, faults=None):
    """On a new file, which goes with the server, or on `file`; with --memory on none."""
    if settings.serve.endswith("beanstalkd"):
        return beanstalkd()
    folder = None
    files = [] if "--memory" in options else [file]
    if files == [None]:
        folder = tempfile.mkdtemp(prefix="htw-serve-")
        files = [os.path.join(folder, "jobs")]
    server = Server("htw serve", [settings.serve, "--listen", str(port), *options, *files], folder,
                    faults and faults.environment)
    wait_for(lambda: re.search(r"^ready: .*\n", server.said(), re.MULTILINE) or
             server.process.poll() is not None, "that htw serve is ready")
    ready = re.search(r"^ready: 127\.0\.0\.1:(\d+)\n", server.said(), re.MULTILINE)
    assert ready, f"htw serve says {server.said()!r}"
    return server.wait_until_ready(int(ready[1]))
