# SPDX-License-Identifier: MIT
"""What the tests of the broker share: how they are marked, and what they check with.

A test is a function that takes a server. Those marked `compared` run on redis-server first, which
shows that the test itself is right, and then on the broker; what they return, a list of pairs
(what was asked, what was answered), must be the same but for what `differences.py` names. Those
marked `own` are about what only the broker has, and run on it alone.
"""
import time
import types
from typing import Callable, NamedTuple

PATIENCE = 60  # seconds that only a hanging server needs
LATE_MS = 10  # what a quiet machine keeps; see check_late()
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


settings = types.SimpleNamespace(  # test_broker.py fills it in
    broker=None,  # the program
    threads=1,
    alone=False,
    strict=False,
    slowness=1)  # more with a sanitizer built in


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


def percentiles(values):
    """Of sorted milliseconds, as a text."""
    last = len(values) - 1
    return ", ".join(f"{name} {values[last * percent // 100]:.2f} ms" for name, percent in
                     [("least", 0), ("p50", 50), ("p90", 90), ("p99", 99), ("most", 100)])


def check_late(server, what, late):
    """`late`: milliseconds. None may be negative; and on a quiet machine, for which --strict is,
    all must be within LATE_MS. Others are shared: there half of them within five times as much."""
    late = sorted(late)
    note(server, f"{what} late by {percentiles(late)}")
    if not server.is_broker:
        return
    assert late[0] >= 0, f"{what} came {-late[0]:.3f} ms early"
    if settings.strict:
        assert late[-1] <= LATE_MS, f"{what} came {late[-1]:.2f} ms late"
    else:
        half = late[len(late) // 2]
        assert half <= 5 * LATE_MS * settings.slowness, f"half of {what} came {half:.2f} ms late"
