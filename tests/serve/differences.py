# SPDX-License-Identifier: MIT
"""The answers of htw serve that may differ from those of beanstalkd, and why."""
import collections
import re
from typing import Callable, NamedTuple


class Difference(NamedTuple):
    """`asked`: a regular expression for the whole request; `common`: makes the two answers equal."""
    asked: str
    common: Callable
    reason: str


def without(pattern):
    return lambda answer: re.sub(pattern, "", answer)


def sorted_lines(answer):
    return sorted(answer.split("\n"))


INTENDED = [
    Difference("list-tubes", sorted_lines, "tubes are in no order: neither are those of beanstalkd, where some were removed"),
    Difference("stats-job .*", without(r"\ndelay: \d+"), "the journal keeps deadlines, and no delays"),
]


def known(asked, *answers):
    """The listed difference, or None."""
    texts = [answer.decode("latin-1") if isinstance(answer, bytes) else str(answer) for answer in answers]
    for difference in INTENDED:
        if re.fullmatch(difference.asked, asked, re.DOTALL) and difference.common(texts[0]) == difference.common(texts[1]):
            return difference
    return None


def explain(expected, answers):
    """Counts the differences of a test that is marked `compared`, by their reason. Fails if one is not listed here."""
    counts, faults = collections.Counter(), []
    for (asked, first), (also_asked, second) in zip(expected, answers, strict=True):
        assert asked == also_asked, f"{asked!r} and {also_asked!r}: the test itself differs"
        if first != second:
            found = known(str(asked), first, second)
            if found:
                counts[found.reason] += 1
            else:
                faults.append(f"{str(asked)[:80]}: beanstalkd {first[:300]!r}, htw serve {second[:300]!r}")
    assert not faults, "\n   ".join(faults[:10])
    return [f"accepted {count} times: {reason}" for reason, count in counts.items()]
