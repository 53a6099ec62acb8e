# SPDX-License-Identifier: MIT
"""The answers of the broker that may differ from those of redis-server, and why."""
import re
from typing import NamedTuple


class Difference(NamedTuple):
    """Regular expressions, each of which must match the whole text."""
    test: str
    asked: str
    redis: str
    broker: str
    reason: str


INTENDED = [
    Difference("connection_commands_answer_as_redis", "CLIENT (SETNAME|(GETNAME|ID) more)",
               r"\(error\) ERR wrong number of arguments for 'client\|.*", r"\(error\) ERR .*",
               "one text for all that is wrong with CLIENT"),
    Difference("connection_commands_answer_as_redis", "CLIENT NOSUCH.*",
               r"\(error\) ERR unknown subcommand 'NOSUCH'\. Try CLIENT HELP\.\n",
               r"\(error\) ERR unknown subcommand 'NOSUCH'.*", "there is no CLIENT HELP"),
    Difference("expiry_commands_answer_as_redis", "EXPIRE k 10000000000", r"\(integer\) 1\n",
               r"\(error\) ERR invalid expire time in 'expire' command\n",
               "times are kept in nanoseconds, which end after 292 years"),
    Difference("expiry_commands_answer_as_redis", "EXPIRE k 100 NOSUCH",
               r"\(error\) ERR Unsupported option NOSUCH\n",
               r"\(error\) ERR wrong number of arguments for 'expire' command\n",
               "EXPIRE has no options"),
    Difference("blocking_commands_refuse_as_redis", r"BLPOP l (inf|1e300|9+|9223372036854776)",
               r"\(error\) ERR timeout is negative\n", r"\(error\) ERR timeout is out of range\n",
               "in redis-server the sum overflows"),
    Difference("malformed_requests_are_refused_as_by_redis", r"b'.*PINGxx.*",
               r"b'\+PONG.*\+PONG.*'", r"b'-ERR Protocol error: no end of line after a bulk string.*",
               "redis-server skips any two bytes after a bulk string"),
    Difference("malformed_requests_are_refused_as_by_redis", r"b'\*1\\r\\n\\r\\n.*",
               r".*expected '\$', got ' '.*", r".*expected '\$', got '\?'.*",
               "a byte that cannot be printed is shown as a question mark"),
]


def matches(difference, test, asked, redis, broker):
    return all(re.fullmatch(pattern, str(text), re.DOTALL) for pattern, text in
               zip(difference[:4], (test, asked, redis, broker)))


def explain(test, expected, answers):
    """Returns a line for each difference. Fails if one is not listed here, or a listed one no longer
    occurs."""
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
               if re.fullmatch(d.test, test) and d not in used]
    assert not faults, "\n  ".join(["answers differ:", *faults])
    return lines
