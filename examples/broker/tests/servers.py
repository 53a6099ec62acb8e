# SPDX-License-Identifier: MIT
"""Starts and stops the broker and redis-server."""
import re
import signal
import socket
import subprocess
import tempfile
import time

from clients import Wire
from harness import PATIENCE, equal, settings, wait_for


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running server on a loopback port."""

    def __init__(self, name, arguments):
        self.name = name
        self.port = None
        self.has_stopped = False
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.output,
                                        stderr=self.output, cwd=tempfile.gettempdir())

    @property
    def is_broker(self):
        return self.name == "broker"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()

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
                    return wire.ask("PING") == b"+PONG"
            except ConnectionRefusedError:
                return False
        wait_for(answers, f"that {self.name} answers")
        return self

    def info(self, field):
        """A field of INFO, as text; None if there is none of this name."""
        with Wire(self) as wire:
            text = wire.ask("INFO").decode()
        match = re.search(rf"^{field}:(.*?)\r?$", text, re.MULTILINE)
        return match[1] if match else None

    def wait_until_blocked(self, count):
        wait_for(lambda: self.info("blocked_clients") == str(count), f"{count} clients blocked")

    def pause(self, seconds, act):
        """Stops the process for some seconds, and calls `act` meanwhile."""
        self.process.send_signal(signal.SIGSTOP)
        try:
            act()
            time.sleep(seconds)
        finally:
            self.process.send_signal(signal.SIGCONT)

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
        """Stops the server; the broker must end with status 0."""
        if self.is_broker and not self.has_stopped:
            self.stop()
        self.kill()


def redis_server(*options):
    port = free_port()
    server = Server("redis-server",
                    ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "",
                     "--appendonly", "no", "--loglevel", "warning", *options])
    return server.wait_until_ready(port)


def broker(*options):
    server = Server("broker", [settings.broker, "--port", "0", "--threads", str(settings.threads),
                               *options])
    wait_for(lambda: re.search(r"^ready on .*\n", server.said(), re.MULTILINE) or
             server.process.poll() is not None, "that the broker is ready")
    ready = re.search(r"^ready on 127\.0\.0\.1:(\d+)\n", server.said(), re.MULTILINE)
    assert ready, f"the broker says {server.said()!r}"
    return server.wait_until_ready(int(ready[1]))
