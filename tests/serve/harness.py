# SPDX-License-Identifier: MIT
"""harness.py - how the answers of htw serve are compared with those of beanstalkd, and what its tests share."""
import re
import types
from typing import Callable, NamedTuple

from servers import Beanstalkd, HtwServe
from wire import Wire

settings = types.SimpleNamespace(slowness=1)  # conftest.py fills it in


class Difference(NamedTuple):
    """`asked`: a regular expression for the whole request; `common`: makes the two answers equal."""
    asked: str
    common: Callable
    reason: str


INTENDED = [
    Difference("list-tubes", lambda answer: sorted(answer.split("\n")),
               "tubes are in no order: neither are those of beanstalkd, where some were removed"),
    Difference("stats-job .*", lambda answer: re.sub(r"\ndelay: \d+", "", answer), "the journal keeps deadlines, and no delays"),
]


def known(asked, *answers):
    """The listed difference, or None."""
    texts = [answer.decode("latin-1") if isinstance(answer, bytes) else str(answer) for answer in answers]
    for difference in INTENDED:
        if re.fullmatch(difference.asked, asked, re.DOTALL) and difference.common(texts[0]) == difference.common(texts[1]):
            return difference
    return None


def compared(function):
    """A test that takes a server, and returns pairs (request, answer): those of htw serve must be those of beanstalkd, except
    for what is listed above."""
    def test():
        with Beanstalkd() as server:
            expected = function(server)
        with HtwServe() as server:
            answers = function(server)
        faults = []
        for (asked, first), (also_asked, second) in zip(expected, answers, strict=True):
            assert asked == also_asked, f"{asked!r} and {also_asked!r}: the test itself differs"
            if first != second and known(str(asked), first, second) is None:
                faults.append(f"{str(asked)[:80]}: beanstalkd {first[:300]!r}, htw serve {second[:300]!r}")
        assert not faults, "\n   ".join(faults[:10])
    test.__doc__ = function.__doc__
    return test


def note(server, text):
    """A measurement: pytest -rP shows it."""
    print(f"{server.name}: {text}")


def percentiles(values):
    """Of sorted milliseconds, as a text."""
    last = len(values) - 1
    return ", ".join(f"{name} {values[last * percent // 100]:.2f} ms" for name, percent in
                     [("least", 0), ("p50", 50), ("p90", 90), ("p99", 99), ("most", 100)])


def there_are(server, jobs):
    """Those of `jobs` that the server has."""
    found, jobs = set(), sorted(jobs)
    with Wire(server) as wire:
        for start in range(0, len(jobs), 1000):
            part = jobs[start:start + 1000]
            wire.send(b"".join(b"peek %d\r\n" % job for job in part))
            answers = wire.answers(len(part))
            found.update(job for job, answer in zip(part, answers) if answer.startswith(b"FOUND"))
            strange = [answer for answer in answers if not answer.startswith(b"FOUND") and answer != b"NOT_FOUND"]
            assert not strange, strange[:5]
    return found
