# SPDX-License-Identifier: MIT
"""Where the broker may answer otherwise than redis-server, and why. All else must be the same."""
import re
from typing import NamedTuple


class Difference(NamedTuple):
    tests: str  # each of these expressions must match the whole
    asked: str
    redis: str
    broker: str
    reason: str


INTENDED = [
]


def matches(difference, test, asked, redis, broker):
    return all(re.fullmatch(pattern, str(text), re.DOTALL) for pattern, text in
               zip(difference[:4], (test, asked, redis, broker)))


def explain(test, expected, answers):
    """Lines on what differs. Fails on what is not intended, and where a difference that is named
    here does not occur any more."""
    used = set()
    lines, faults = [], []
    for (asked, redis), (also_asked, broker) in zip(expected, answers, strict=True):
        assert asked == also_asked, f"{asked!r} and {also_asked!r}: the test itself differs"
        if redis == broker:
            continue
        known = [d for d in INTENDED if matches(d, test, asked, redis, broker)]
        used.update(known)
        line = f"{asked}: redis-server {redis!r}, broker {broker!r}"
        if known:
            lines.append(f"{line} (intended: {known[0].reason})")
        else:
            faults.append(line)
    faults += [f"does not occur any more: {d.asked}" for d in INTENDED
               if re.fullmatch(d.tests, test) and d not in used]
    assert not faults, "\n  ".join(["answers differ:", *faults])
    return lines
