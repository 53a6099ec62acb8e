# SPDX-License-Identifier: MIT
"""How tests of htw serve are marked, and the checks that they share.

A test is a function that takes a server. Those marked `compared` run on beanstalkd first, which shows that
the test itself is right, and then on htw serve. Both must return the same list of pairs (request, answer),
except for the differences in `differences.py`. Those marked `own` test what only htw serve has, and run on
it alone. Those marked `paired` take one server of each, beanstalkd first; those marked `twins` take two of beanstalkd.
"""
import os
import time
import types
from typing import Callable, NamedTuple

PATIENCE = 60  # seconds; only a server that hangs takes longer
FILES = 11000  # more descriptors than a crowd of clients and a server need


class Test(NamedTuple):
    function: Callable
    kind: str  # compared, own, paired or twins
    options: tuple = ()  # of htw serve

    @property
    def name(self):
        return self.function.__name__

    @property
    def group(self):
        return self.function.__module__


tests = []


settings = types.SimpleNamespace(  # test_serve.py fills it in
    serve=None,  # the program htw, or beanstalkd itself
    clock="",  # strict_clock.so, for beanstalkd
    faults="",  # faults.so, for htw serve
    seed=None,  # of the first history
    histories=150,  # how many run side by side
    rounds=2,
    replay=None,  # steps as JSON
    peers=None,  # a folder
    verbose=False,
    kills=12,
    strict=False,
    slowness=1)  # more with a sanitizer built in


def compared(function):
    tests.append(Test(function, "compared"))
    return function


def compared_with(*options):
    def add(function):
        tests.append(Test(function, "compared", options))
        return function
    return add


def paired(function):
    tests.append(Test(function, "paired"))
    return function


def twins(function):
    tests.append(Test(function, "twins"))
    return function


def own(*options):
    def add(function):
        tests.append(Test(function, "own", options))
        return function
    return add


notes = []  # lines that are printed below the test


def note(server, text):
    notes.append(f"{server.name}: {text}")


class Skipped(Exception):
    """Why a test cannot run here, in a sentence."""


def equal(got, wanted, what="value"):
    if got != wanted:
        raise AssertionError(f"{what}: {str(got)[:300]!r} instead of {str(wanted)[:300]!r}")


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
