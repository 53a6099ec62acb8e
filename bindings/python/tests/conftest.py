# SPDX-License-Identifier: MIT
"""What the tests share. None waits for time to pass where the manual clock can."""
import gc
import os
import subprocess
import sys
import threading
import time

import pytest

import htw


def pytest_unconfigure(config):
    """The last line is the count, as it is of all test verbs."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        failed = len(reporter.stats.get("failed", [])) + len(reporter.stats.get("error", []))
        print(f"{len(reporter.stats.get('passed', []))} passed, {failed} failed")


@pytest.fixture
def manual():
    """A scheduler in manual time, whose callbacks run in the thread of the test."""
    with htw.Scheduler(clock=htw.Clock.MANUAL, workers=0) as scheduler:
        yield scheduler


@pytest.fixture
def threaded():
    with htw.Scheduler() as scheduler:
        yield scheduler


@pytest.fixture
def unraisable(monkeypatch):
    """What sys.unraisablehook receives: a list of (exception, object)."""
    received = []
    monkeypatch.setattr(sys, "unraisablehook",
                        lambda args: received.append((args.exc_value, args.object)))
    return received


def wait_until(condition, seconds=20):
    """Waits until `condition` holds, in the time that a loaded machine may need."""
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "timed out"
        time.sleep(0.001)


def run_python(program, *args, timeout=60):
    """Runs a program in a new interpreter, and returns how it ended. Warnings show."""
    return subprocess.run([sys.executable, "-X", "dev", "-c", program, *args], timeout=timeout,
                          capture_output=True, text=True,
                          env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})


def collected(reference):
    """Whether the object of a weak reference goes, if necessary by a collection."""
    if reference() is not None:
        gc.collect()
    return reference() is None


def in_child(function):
    """Runs `function` in a forked child; returns the exit status: 0 if it has returned."""
    pid = os.fork()
    if pid == 0:
        status = 1
        try:
            function()
            status = 0
        except BaseException as exception:
            sys.stderr.write(f"in the child: {exception!r}\n")
        finally:
            os._exit(status)
    end = time.monotonic() + 30
    while True:
        done, status = os.waitpid(pid, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        if time.monotonic() > end:
            os.kill(pid, 9)
            os.waitpid(pid, 0)
            raise AssertionError("the child hangs")
        time.sleep(0.005)


def in_threads(count, function):
    """Runs function(i) in threads at the same time; raises what one of them raises."""
    errors = []

    def run(i):
        try:
            function(i)
        except BaseException as exception:
            errors.append(exception)

    threads = [threading.Thread(target=run, args=(i,)) for i in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if errors:
        raise errors[0]


def advance_interrupted(scheduler, function):
    """Advances, and raises KeyboardInterrupt at the first line of a function of this name."""
    def tracer(frame, event, arg):
        if frame.f_code.co_name == function:
            raise KeyboardInterrupt

    before = sys.gettrace()
    sys.settrace(tracer)
    try:
        with pytest.raises(KeyboardInterrupt):
            scheduler.advance(1)
    finally:
        sys.settrace(before)
