# SPDX-License-Identifier: MIT
"""programs.py - the programs of a build, running them, and what is looked at afterwards."""
import calendar
import contextlib
import functools
import os
import pathlib
import re
import select
import signal
import socket
import subprocess
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("HTW_BUILD", ROOT / "build/test"))
PROGRAM, SERVE = str(BUILD / "htw"), str(BUILD / "htw-serve")
PATIENCE = 60  # seconds that only a hanging program needs
TICK = 0.001  # seconds, by default

# In the background of a script it is ignored, and would be so in the program as well.
signal.signal(signal.SIGINT, signal.default_int_handler)


class Run:
    """What one run of a program did."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out or b"", (err or b"").decode(errors="replace")
        self.lines = self.out.split(b"\n")[:-1]
        assert "Sanitizer" not in self.err and "runtime error" not in self.err, self.err


def command(*words, **kwargs):
    """Runs a command of the program to its end."""
    kwargs = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **({} if "input" in kwargs else {"stdin": subprocess.DEVNULL}), **kwargs}
    got = subprocess.run([PROGRAM, *words], timeout=PATIENCE, check=False, **kwargs)
    return Run(got.returncode, got.stdout, got.stderr)


@functools.lru_cache
def is_built(name):
    return command(name, "--version").status == 0


def needs(name):
    """Of tests for a command that a build may lack."""
    import pytest  # which ./dev demo and ./dev soak need not have
    return pytest.mark.skipif(not is_built(name), reason=f"htw {name} is not built")


def has_sanitizer():
    return any(name in content_of(PROGRAM) for name in (b"__asan_init", b"__tsan_init"))


def start(*options, shell=None, **kwargs):
    """Starts `htw delay`; with `shell`, in a shell that runs that before."""
    for stream in ("stdin", "stdout", "stderr"):
        kwargs.setdefault(stream, subprocess.PIPE)
    prefix = ["sh", "-c", f'{shell}; exec "$@"', "sh"] if shell else []
    return subprocess.Popen([*prefix, PROGRAM, "delay", *options], **kwargs)


def finish(process, data=None):
    try:
        out, err = process.communicate(data, timeout=PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("the program hangs")
    return Run(process.returncode, out, err)


def run(*options, data=b"", **kwargs):
    return finish(start(*options, **kwargs), data)


def start_with(data, *options, until=b"x\n", **kwargs):
    """Starts a run, writes `data` to it, and waits for the output `until`."""
    process = start(*options, bufsize=0, **kwargs)
    process.stdin.write(data)
    read_until(process.stdout.fileno(), until)
    return process


def stop(process, number):
    """Sends a signal and waits: only then may the input end, or the program might see that."""
    process.send_signal(number)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("the program does not stop")
    return finish(process)


def close_output(process):
    """Lets the reader of the output go away."""
    process.stdout.close()
    process.stdout = None


def wait_for(condition, what, patience=PATIENCE):
    """Looks more seldom as it takes longer, as a condition may start a program. `what` is a text, or a function that gives it when the
    time is over."""
    end, pause = time.monotonic() + patience, 0.002
    while not condition():
        assert time.monotonic() < end, f"never: {what() if callable(what) else what}"
        time.sleep(pause)
        pause = min(1.3 * pause, 0.03)


class Stopwatch:
    """Leaves out how long the threads of these processes, and of this one, have waited for a processor: how busy the machine is does
    not change what it measures."""

    def __init__(self, *pids):
        self.tasks = [pathlib.Path(f"/proc/{pid}/task") for pid in (os.getpid(), *pids)]
        self.waited_ns = {}  # by thread, also of those that have ended
        self.begin = 0
        self.begin = self.seconds()

    def seconds(self):
        """Since it was made."""
        for path in (path for task in self.tasks for path in task.glob("*/schedstat")):
            with contextlib.suppress(OSError):
                self.waited_ns[path] = int(path.read_text().split()[1])
        return time.monotonic() - sum(self.waited_ns.values()) / 1e9 - self.begin


def wait_until_listening(path):
    """A socket is there before its program listens."""
    def is_listening():
        with socket.socket(socket.AF_UNIX) as client:
            return client.connect_ex(path) == 0
    wait_for(is_listening, path)


def read_until(fd, wanted):
    """Reads until `wanted` was seen; what was read."""
    got = b""
    end = time.monotonic() + PATIENCE
    while wanted not in got:
        assert time.monotonic() < end, f"{wanted!r} never came; {got[-300:]!r} did"
        if select.select([fd], [], [], 1)[0]:
            piece = os.read(fd, 65536)
            assert piece, f"{wanted!r} never came; the end after {got[-300:]!r}"
            got += piece
    return got


def file_with(directory, name, content):
    path = os.path.join(directory, name)
    with open(path, "wb") as stream:
        stream.write(content)
    return path


def content_of(path):
    return pathlib.Path(path).read_bytes()


def messages_of(path):
    return [line.split(b" ", 1)[1] for line in content_of(path).splitlines()]


def parse_time(text):
    """Nanoseconds since 1970 of an instant as --timestamps writes it."""
    match = re.fullmatch(rb"(\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z", text)
    assert match, f"not an instant: {text!r}"
    return seconds_of(match[1]) * 10**9 + int(match[2]) * 1000


@functools.lru_cache
def seconds_of(text):
    return calendar.timegm(time.strptime(text.decode(), "%Y-%m-%dT%H:%M:%S"))
