# SPDX-License-Identifier: MIT
"""What the tests of the command share: running it, and looking at what it did."""
import calendar
import concurrent.futures
import os
import re
import select
import signal
import subprocess
import sys
import tempfile
import time
import traceback

PROGRAM = os.path.abspath(sys.argv[1])
PATIENCE = 60  # seconds that only a hanging program needs
TICK = 0.001  # seconds, by default

# In the background of a script it is ignored, and would be so in the program as well.
signal.signal(signal.SIGINT, signal.default_int_handler)

tests = []


def test(function):
    """Collects a test. One that takes `directory` gets a temporary one."""
    tests.append(function)
    return function


class Run:
    """What one run of the program did."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err
        self.lines = out.split(b"\n")[:-1]


def start(*options, shell=None, **kwargs):
    """Starts the program; with `shell`, in a shell that runs that before."""
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
    text = (err or b"").decode(errors="replace")
    assert "Sanitizer" not in text and "runtime error" not in text, text
    return Run(process.returncode, out or b"", text)


def run(*options, data=b"", **kwargs):
    return finish(start(*options, **kwargs), data)


def equal(got, wanted, what="value"):
    if got != wanted:
        raise AssertionError(f"{what}: {str(got)[:300]!r} instead of {str(wanted)[:300]!r}")


def has(text, part):
    assert part in text, f"{part!r} is not in {text!r}"


def wait_for(condition, what):
    end = time.monotonic() + PATIENCE
    while not condition():
        assert time.monotonic() < end, f"never: {what}"
        time.sleep(0.01)


def stop(process, number):
    """Sends a signal and waits: only then may the input end, or the program might see that."""
    process.send_signal(number)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("the program does not stop")
    return finish(process)


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


def start_with(data, *options, until=b"x\n", **kwargs):
    """Starts a run, writes `data` to it, and waits for the output `until`."""
    process = start(*options, bufsize=0, **kwargs)
    process.stdin.write(data)
    read_until(process.stdout.fileno(), until)
    return process


def close_output(process):
    """Lets the reader of the output go away."""
    process.stdout.close()
    process.stdout = None


def file_with(directory, name, content):
    path = os.path.join(directory, name)
    with open(path, "wb") as stream:
        stream.write(content)
    return path


def messages_of(path):
    return [line.split(b" ", 1)[1] for line in content_of(path).splitlines()]


def content_of(path):
    with open(path, "rb") as stream:
        return stream.read()


def parse_time(text):
    """Nanoseconds since 1970 of an instant as --timestamps writes it."""
    match = re.fullmatch(rb"(\d{4,}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d{6})Z", text)
    assert match, f"not an instant: {text!r}"
    seconds = calendar.timegm(time.strptime(match[1].decode(), "%Y-%m-%dT%H:%M:%S"))
    return seconds * 10**9 + int(match[2]) * 1000


def command(*words, **kwargs):
    """Runs any command of the program to its end."""
    got = subprocess.run([PROGRAM, *words], capture_output=True, timeout=PATIENCE, **kwargs)
    return Run(got.returncode, got.stdout, got.stderr.decode(errors="replace"))


def attempt(function):
    try:
        if function.__code__.co_argcount == 0:
            function()
        else:
            with tempfile.TemporaryDirectory() as directory:
                function(directory)
        return None
    except AssertionError as failure:
        return str(failure)
    except Exception:  # a fault of the test is a failed test, not the end of all
        return traceback.format_exc()


def main(threads=6):
    chosen = [t for t in tests if len(sys.argv) < 3 or t.__name__ in sys.argv[2:]]
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(threads) as pool:
        for function, why in zip(chosen, pool.map(attempt, chosen)):
            if why is None:
                print("ok", function.__name__, flush=True)
            else:
                failed += 1
                print(f"FAIL {function.__name__}: {why}", flush=True)
    print(f"{len(chosen) - failed} passed, {failed} failed")
    return 1 if failed or not chosen else 0
