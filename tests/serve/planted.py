# SPDX-License-Identifier: MIT
"""Mistakes that the random histories must find: a second beanstalkd is asked, or answers, other than the first."""
import re

from harness import notes, twins
from histories import LONG, History, run


class Mistake:
    """`ask` changes a command and its arguments, `answer` what comes back."""
    keeps_closed = False

    def __init__(self, name, command, change=None, answer=None):
        self.name, self.command, self.change, self.change_answer = name, command, change, answer

    def ask(self, verb, arguments):
        if verb == self.command and self.change:
            verb, *arguments = self.change(verb, *arguments)
        return verb, arguments

    def answer(self, step, answer):
        if len(step) > 1 and step[2] == self.command and self.change_answer:
            return self.change_answer(answer)
        return answer


def more(name, by=1):
    """Adds to a number of what stats-job or stats-tube tells."""
    def change(answer):
        return re.sub(rb"(?m)^%b: (\d+)$" % name.encode(),
                      lambda found: b"%b: %d" % (name.encode(), int(found[1]) + by), answer)
    return change


def short(seconds):
    return 0 < seconds < LONG


MISTAKES = [
    Mistake("the order of a job with priority 1 is that of 2", "put", lambda verb, label, priority, *rest:
            (verb, label, 2 if priority == 1 else priority, *rest)),
    Mistake("a delay is a second too long", "put", lambda verb, label, priority, delay, *rest:
            (verb, label, priority, delay + short(delay), *rest)),
    Mistake("a delay is a second too short", "put", lambda verb, label, priority, delay, *rest:
            (verb, label, priority, delay - short(delay), *rest)),
    Mistake("a TTR is a second too long", "put", lambda verb, label, priority, delay, ttr, size:
            (verb, label, priority, delay, ttr + short(ttr), size)),
    Mistake("touch does not renew a lease", "touch", lambda verb, label: ("stats-job", label),
            lambda answer: b"NOT_FOUND" if b"state: reserved" not in answer else b"TOUCHED"),
    Mistake("kick takes one too few", "kick", lambda verb, count: (verb, max(0, count - 1))),
    Mistake("a pause is forgotten", "pause-tube", lambda verb, letter, _: (verb, letter, 0)),
    Mistake("release forgets its delay", "release", lambda verb, label, priority, _: (verb, label, priority, 0)),
    Mistake("release forgets its priority", "release", lambda verb, label, _, delay: (verb, label, 0, delay)),
    Mistake("bury forgets its priority", "bury", lambda verb, label, _: (verb, label, 0)),
    Mistake("a time-out comes a second late", "reserve-with-timeout", lambda verb, seconds:
            (verb, seconds + short(seconds))),
    Mistake("DEADLINE_SOON is called TIMED_OUT", "reserve-with-timeout", answer=lambda answer:
            answer.replace(b"DEADLINE_SOON", b"TIMED_OUT")),
    Mistake("the second that is left is rounded up", "stats-job", answer=more("time-left")),
    Mistake("an age is a second too high", "stats-job", answer=more("age")),
    Mistake("kicks are not counted", "stats-job", answer=lambda answer: re.sub(rb"kicks: \d+", b"kicks: 0", answer)),
    Mistake("who waits is not counted", "stats-tube", answer=lambda answer:
            re.sub(rb"waiting: \d+", b"waiting: 0", answer)),
    Mistake("only one watched tube is told", "list-tubes-watched", answer=lambda answer:
            b"\n".join(answer.split(b"\n")[:3]) + b"\n"),
    Mistake("delete of a delayed job is refused", "delete", lambda verb, label: ("touch", label),
            lambda answer: b"NOT_FOUND" if answer == b"NOT_FOUND" else b"DELETED"),
]
HISTORIES = 10  # of each mistake
TRIES = 5


class KeepsClosed(Mistake):
    keeps_closed = True


MISTAKES.append(KeepsClosed("a closed connection keeps its jobs", "close"))


@twins
def planted_mistakes_are_found(*servers):
    missed = MISTAKES
    for seed in range(TRIES):
        histories = run([History(servers, 1000 * seed + number, planted=mistake)
                         for number in range(HISTORIES * len(MISTAKES) // len(missed)) for mistake in missed])
        found = {history.planted for history in histories if history.difference}
        notes.append(f"{len(found)} of {len(missed)} are found by {len(histories)} histories")
        missed = [mistake for mistake in missed if mistake not in found]
        if not missed:
            return
    raise AssertionError(f"not found: {', '.join(mistake.name for mistake in missed)}")
