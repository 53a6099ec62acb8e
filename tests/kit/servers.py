# SPDX-License-Identifier: MIT
"""servers.py - starts and stops htw serve and beanstalkd."""
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import tempfile

from programs import BUILD, SERVE, Stopwatch, content_of, wait_for
from wire import Wire


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A running server on a loopback port."""
    is_own = False

    def __init__(self, name, arguments, port=None, **kwargs):
        self.name, self.port = name, port
        self.output = tempfile.TemporaryFile()
        self.process = subprocess.Popen(arguments, stdin=subprocess.DEVNULL, stdout=self.output, stderr=self.output, **kwargs)
        wait_for(lambda: self.is_ready() or self.process.poll() is not None, f"that {name} is ready")
        assert self.process.poll() is None, f"{name} has ended: {self.said()}"

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        try:
            if kind is None and self.is_own and self.process.returncode is None:
                self.stop()
        finally:
            self.kill()
            if kind is not None:
                print(f"{self.name}, which has ended with status {self.process.returncode}, has said: {self.said()[:5000]}")

    def kill(self):
        self.process.kill()
        self.process.wait()

    def said(self):
        self.output.seek(0)
        return self.output.read().decode(errors="replace")

    def is_ready(self):
        try:
            with Wire(self) as wire:
                return wire.ask("list-tube-used") == b"USING default"
        except ConnectionError:
            return False

    def stat(self, field, tube=None):
        with Wire(self) as wire:
            return wire.stat(f"stats-tube {tube}" if tube else "stats", field)

    def resident(self):
        """The bytes of its memory."""
        return int(content_of(f"/proc/{self.process.pid}/statm").split()[1]) * resource.getpagesize()

    def wait_until_waiting(self, count):
        wait_for(lambda: self.stat("current-waiting") == str(count), f"{count} clients wait")

    def stop(self, number=signal.SIGTERM):
        """Sends a signal, waits for exit status 0, and returns how long that took, by a Stopwatch."""
        assert self.process.poll() is None, f"{self.name} has ended by itself: {self.said()}"
        watch, took = Stopwatch(self.process.pid), []
        self.process.send_signal(number)
        wait_for(lambda: took.append(watch.seconds()) or self.process.poll() is not None, f"that {self.name} ends")
        status, text = self.process.returncode, self.said()
        assert status == 0 and "Sanitizer" not in text and "runtime error" not in text, (status, text)
        return took[-1]


class HtwServe(Server):
    """On a new file, which goes with the server, or on `file`; with --memory on none. `faults` are of tests/serve/faults.py."""
    is_own = True

    def __init__(self, *options, file=None, launch=(), faults=None, **kwargs):
        self.folder = None
        if file is None and "--memory" not in options:
            self.folder = tempfile.mkdtemp(prefix="htw-serve-")
            file = os.path.join(self.folder, "jobs")
        self.file = file
        listen = [] if "--listen" in options or launch else ["--listen", "0"]
        if faults:
            kwargs["env"] = {**os.environ, **faults.environment}
        super().__init__("htw serve", [*launch, SERVE, *listen, *options, *([file] if file else [])], **kwargs)
        ports = [place.rsplit(":", 1)[1] for place in self.places() if not place.startswith("http") and ":" in place]
        self.port = int(ports[0]) if ports else None
        if self.port:
            super().is_ready()  # beanstalkd is asked for it as well: their statistics are compared

    def __exit__(self, *details):
        super().__exit__(*details)
        if self.folder:
            shutil.rmtree(self.folder)

    def is_ready(self):
        return self.places() != []

    def places(self):
        return re.findall(r"^ready: (.*)\n", self.said(), re.MULTILINE)


class Beanstalkd(Server):
    """With a clock by which it does not lose the end of a lease now and then."""

    def __init__(self, *options):
        port = free_port()
        super().__init__("beanstalkd", ["beanstalkd", "-l", "127.0.0.1", "-p", str(port), *options], port,
                         env={**os.environ, "LD_PRELOAD": str(BUILD / "tests/serve_strict_clock.so")})
