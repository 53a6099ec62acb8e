# SPDX-License-Identifier: MIT
"""How tests of the broker are marked, and the checks that they share.

A test is a function that takes a server. Those marked `compared` run on redis-server first, which
shows that the test itself is right, and then on the broker. Both must return the same list of pairs
(request, answer), except for the differences in `differences.py`. Those marked `own` test what only the
broker has, and run on it alone.
"""
import os
import time
import types
from typing import Callable, NamedTuple

PATIENCE = 60  # seconds; only a server that hangs takes longer
LATE_MS = 10  # on a quiet machine; see check_late()
FILES = 9000  # more descriptors than a crowd of clients and a server need


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


notes = []  # lines that are printed below the test


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


def slowdown():
    """How many times as long as on a quiet machine the server may take: because of a sanitizer, and
    of other processes that want to run on the same cores."""
    return settings.slowness * max(1, os.getloadavg()[0] / len(os.sched_getaffinity(0)))


def check_late(server, what, late):
    """`late`: milliseconds, none of which may be negative. With --strict, for a quiet machine, all must
    be within LATE_MS; otherwise half of them within five times as much, times slowdown()."""
    late = sorted(late)
    note(server, f"{what} late by {percentiles(late)}")
    if not server.is_broker:
        return
    assert late[0] >= 0, f"{what} came {-late[0]:.3f} ms early"
    if settings.strict:
        assert late[-1] <= LATE_MS, f"{what} came {late[-1]:.2f} ms late"
    else:
        half = late[len(late) // 2]
        assert half <= 5 * LATE_MS * slowdown(), f"half of {what} came {half:.2f} ms late"
