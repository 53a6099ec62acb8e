# SPDX-License-Identifier: MIT
"""What the tests of the broker share: starting it and the real redis-server, and talking to them.

A test is a function that takes a server. Those marked `compared` run on redis-server first, which
shows that the test itself is right, and then on the broker; what they return, a list of pairs
(what was asked, what was answered), must be the same but for what `differences.py` names. Those
marked `own` are about what only the broker has, and run on it alone.
"""
import os
import re
import select
import signal
import socket
import subprocess
import tempfile
import time
from typing import Callable, NamedTuple

PATIENCE = 60  # seconds that only a hanging server needs
LATE_MS = 10  # what is allowed: half of the times on a busy machine, all with --strict
FILES = 9000  # descriptors that a crowd of clients and a server need together, and more

class Test(NamedTuple):
    function: Callable
    is_compared: bool
    options: tuple = ()  # of the broker

    @property
    def name(self):
        return self.function.__name__

    @property
    def group(self):
        return self.function.__module__


tests = []


class settings:  # noqa: N801: one of them; test_broker.py fills it in
    broker = None  # the program
    threads = 1
    alone = False
    strict = False
    slowness = 1  # more with a sanitizer built in


def compared(function):
    tests.append(Test(function, is_compared=True))
    return function


def own(*options):
    def add(function):
        tests.append(Test(function, is_compared=False, options=options))
        return function
    return add


notes = []  # what a test found that is worth telling


def note(server, text):
    notes.append(f"{server.name}: {text}")


def equal(got, wanted, what="value"):
    if got != wanted:
        raise AssertionError(f"{what}: {str(got)[:300]!r} instead of {str(wanted)[:300]!r}")


def has(text, part):
    assert part in text, f"{part!r} is not in {text!r}"


def wait_for(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.002)


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Server:
    """A server that runs, on a port of the loopback."""

    def __init__(self, name, port, arguments):
        self.name = name
        self.port = port
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

    def wait_until_ready(self):
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

    def stop(self, number=signal.SIGTERM):
        """Sends a signal, and waits until the server has ended well; how long that took."""
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
        """Sees to it that the server has ended well."""
        if not self.has_stopped:
            self.stop()


def redis_server(*options):
    port = free_port()
    return Server("redis-server", port,
                  ["redis-server", "--bind", "127.0.0.1", "--port", str(port), "--save", "",
                   "--appendonly", "no", "--loglevel", "warning", *options]).wait_until_ready()


def broker(*options):
    port = free_port()
    return Server("broker", port,
                  [settings.broker, "--port", str(port), "--threads", str(settings.threads),
                   *options]).wait_until_ready()


class Wire:
    """A connection that shows the bytes."""

    def __init__(self, server, receive_buffer=None):
        self.socket = socket.socket()
        if receive_buffer is not None:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(PATIENCE)
        self.socket.connect(("127.0.0.1", server.port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()

    def fileno(self):
        return self.socket.fileno()

    def close(self):
        self.socket.close()

    def send(self, *arguments):
        self.socket.sendall(command(*arguments))

    def send_bytes(self, data):
        self.socket.sendall(data)

    def ask(self, *arguments):
        self.send(*arguments)
        return self.reply()

    def _more(self):
        data = self.socket.recv(1 << 16)
        if not data:
            raise ConnectionError("the server has closed the connection")
        self.buffer += data

    def _line(self):
        while b"\r\n" not in self.buffer:
            self._more()
        line, self.buffer = self.buffer.split(b"\r\n", 1)
        return line

    def reply(self):
        """The next reply: bytes for a string, with its mark for a status or an error; int; list;
        None."""
        line = self._line()
        kind, rest = line[:1], line[1:]
        if kind in b"+-":
            return line
        number = int(rest)
        if kind == b":":
            return number
        if number < 0:
            return None
        if kind == b"*":
            return [self.reply() for _ in range(number)]
        assert kind == b"$", line
        while len(self.buffer) < number + 2:
            self._more()
        text, end, self.buffer = (self.buffer[:number], self.buffer[number:number + 2],
                                  self.buffer[number + 2:])
        equal(end, b"\r\n", "end of a string")
        return text

    def until(self, end):
        """The bytes up to and with `end`."""
        while end not in self.buffer:
            self._more()
        at = self.buffer.index(end) + len(end)
        text, self.buffer = self.buffer[:at], self.buffer[at:]
        return text

    def until_closed(self):
        try:
            while True:
                self._more()
        except ConnectionError:
            return self.buffer

    def send_pipeline(self, commands):
        """Sends all at once; the replies."""
        self.send_bytes(b"".join(command(*arguments) for arguments in commands))
        return [self.reply() for _ in commands]

    def is_silent(self, seconds=0.0):
        return not self.buffer and not select.select([self.socket], [], [], seconds)[0]


def command(*arguments):
    """A command as bytes."""
    parts = [a if isinstance(a, bytes) else str(a).encode() for a in arguments]
    return b"*%d\r\n" % len(parts) + b"".join(b"$%d\r\n%b\r\n" % (len(p), p) for p in parts)


SEPARATOR = "<----->"


def cli(server, script):
    """What redis-cli prints for each line of a script."""
    lines = [line.strip() for line in script.splitlines() if line.strip()]
    fed = "".join(f"{line}\necho {SEPARATOR}\n" for line in lines)
    done = subprocess.run(["redis-cli", "--no-raw", "-p", str(server.port)], input=fed,
                          capture_output=True, encoding="latin-1", timeout=PATIENCE,
                          check=False)
    equal((done.returncode, done.stderr), (0, ""), "redis-cli")
    answers = done.stdout.split(f'"{SEPARATOR}"\n')
    equal(answers.pop(), "", "the end of what redis-cli prints")
    equal(len(answers), len(lines), "answers to a script")
    return list(zip(lines, answers))


class Waiting:
    """redis-cli with one command that blocks."""

    def __init__(self, server, *arguments):
        self.arguments = arguments
        self.process = subprocess.Popen(["redis-cli", "--no-raw", "-p", str(server.port),
                                         *map(str, arguments)],
                                        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True)

    def answer(self):
        try:
            text, _ = self.process.communicate(timeout=PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            raise AssertionError(f"no answer to {self.arguments}") from None
        return " ".join(map(str, self.arguments)), text

    def kill(self):
        self.process.kill()
        self.process.communicate()


def blocked(server, *commands):
    """redis-cli for each command, which come to wait in this order."""
    already = int(server.info("blocked_clients"))
    waiting = []
    for number, arguments in enumerate(commands, 1):
        waiting.append(Waiting(server, *arguments.split()))
        server.wait_until_blocked(already + number)
    return waiting


def percentiles(values):
    """Of sorted milliseconds, as a text."""
    last = len(values) - 1
    return ", ".join(f"{name} {values[last * percent // 100]:.2f} ms" for name, percent in
                     [("least", 0), ("p50", 50), ("p90", 90), ("p99", 99), ("most", 100)])


def check_late(server, what, late):
    """`late`: milliseconds; none may be negative."""
    late = sorted(late)
    note(server, f"{what} late by {percentiles(late)}")
    if server.is_broker:
        assert late[0] >= 0, f"{what} came {-late[0]:.3f} ms early"
        looked_at = late[-1] if settings.strict else late[len(late) // 2]
        assert looked_at <= LATE_MS * settings.slowness, f"{what} came {looked_at:.2f} ms late"
