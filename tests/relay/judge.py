# SPDX-License-Identifier: MIT
"""Compares what was sent with what arrived, both as Kafka's own client has read them."""
import collections
import os


def fields(path):
    """Arrival, timestamp, key and headers (text) of each line that `consume` wrote."""
    with open(path, encoding="utf-8", errors="replace") as stream:
        for line in stream:
            words = line.rstrip("\n").split("\t")
            yield int(words[0]), int(words[4]), words[5], words[8]


def header(text, name):
    """The value of a header, or None. Faster than to split all of them."""
    mark = name + "="
    if not text.startswith(mark):
        mark = ";" + mark
        if mark not in text:
            return None
    return text.split(mark, 1)[1].split(";", 1)[0]


class Verdict:
    """Keys of records that are missing, came twice, came before their deadline, or were never sent; and how late
    each of the others arrived at the consumer, in milliseconds, in order. A key that begins with "bad" is that of a dead
    letter: it was sent, and must not arrive. A record for which a cancel was sent may be missing; one for which a move was
    sent has two deadlines, of which it must have met one. `ahead_ms`: what the clock of a relay was ahead
    of the broker's at most."""

    def __init__(self, sent, got, ahead_ms=0):
        deadlines, moves, self.cancels = {}, {}, set()
        for _, timestamp, key, headers in fields(sent):
            if key.startswith("bad"):
                continue
            if header(headers, "htw-cancel"):
                self.cancels.add(key)
                continue
            if header(headers, "htw-move"):
                moves[key] = int(header(headers, "htw-move-to"))
                continue
            at, delay = header(headers, "htw-deliver-at"), header(headers, "htw-delay")
            deadlines[key] = int(at) if at else timestamp + int(delay)
            assert not delay or int(delay) >= 0
        self.sent = len(deadlines)
        times = collections.Counter()
        self.early, self.unknown, self.moved, late = [], [], [], []
        for arrival, timestamp, key, headers in fields(got):
            times[key] += 1
            if key not in deadlines:
                self.unknown.append(key)
                continue
            if key in moves and header(headers, "htw-delivered-for") == str(moves[key]):
                self.moved.append(key)
                deadlines[key] = moves[key]
            # The timestamp is the broker's at the moment of appending: the topics are made so. The consumer may see
            # it much later.
            if timestamp + ahead_ms < deadlines[key] or header(headers, "htw-delivered-for") != str(deadlines[key]):
                self.early.append(key)
            late.append(arrival - deadlines[key])
        self.missing = [key for key in deadlines if key not in times and key not in self.cancels]
        self.cancelled = [key for key in self.cancels if key not in times]
        self.unmoved = [key for key in moves if key not in self.moved]
        self.doubled = [key for key, count in times.items() if count > 1]
        self.late = sorted(late)

    def percentile(self, share):
        return self.late[min(len(self.late) - 1, int(len(self.late) * share))] if self.late else 0

    def __str__(self):
        return (f"{self.sent} sent, {len(self.missing)} missing, {len(self.doubled)} more than once, "
                f"{len(self.early)} early, {len(self.unknown)} never sent; late p50 {self.percentile(.5)} ms, "
                f"p99 {self.percentile(.99)} ms, most {self.percentile(1)} ms")

    def require(self, once=True):
        """Each once and none early; with once=False, at least once."""
        problems = [("missing", self.missing), ("early, or for another deadline", self.early),
                    ("never sent", self.unknown)]
        if once:
            problems.append(("more than once", self.doubled))
        for what, keys in problems:
            assert not keys, f"{what}: {keys[:5]} and others; {self}"


def self_test(folder):
    """A judge that finds no fault proves nothing: it must find each kind."""
    def written(name, records):
        path = os.path.join(folder, name)
        with open(path, "w", encoding="utf-8") as stream:
            for key, time, text in records:
                stream.write(f"{time}\tt\t0\t0\t{time}\t{key}\t1\tv\t{text}\n")
        return path
    sent = written("sent", [(f"k{i}", 1000, f"a=b;htw-deliver-at={2000 + i};") for i in range(3)]
                   + [("k3", 1000, "htw-delay=1003;")])
    good = [(f"k{i}", 2100, f"htw-delivered-for={2000 + i};") for i in range(3)] + [
        ("k3", 2100, "htw-delivered-for=2003;")]
    verdict = Verdict(sent, written("good", good))
    verdict.require()
    assert verdict.late == [97, 98, 99, 100], verdict.late
    changed = written("changed", [(f"k{i}", 1000, f"htw-deliver-at={2000 + i};htw-id=n;") for i in range(3)]
                      + [("k0", 1001, "htw-deliver-at=2000;htw-cancel=n;"),
                         ("k1", 1001, "htw-deliver-at=2001;htw-move=n;htw-move-to=3000;")])
    verdict = Verdict(changed, written("moved", [("k1", 3000, "htw-delivered-for=3000;"), good[2]]))
    verdict.require()
    assert (verdict.cancelled, verdict.moved, verdict.unmoved) == (["k0"], ["k1"], []), vars(verdict)
    Verdict(changed, written("not moved", [("k1", 2001, "htw-delivered-for=2001;"), good[2]])).require()
    Verdict(sent, written("ahead", good[1:] + [("k0", 1999, "htw-delivered-for=2000;")]), 1).require()
    for name, records in {
            "missing": good[1:], "doubled": good + good[:1],
            "early": good[1:] + [("k0", 1999, "htw-delivered-for=2000;")],
            "for another deadline": good[1:] + [("k0", 2100, "htw-delivered-for=1990;")],
            "moved, and early": (changed, [("k1", 2999, "htw-delivered-for=3000;"), good[2]]),
            "moved, and at both times": (changed, [("k1", 2001, "htw-delivered-for=2001;"),
                                                   ("k1", 3000, "htw-delivered-for=3000;"), good[2]]),
            "never sent": good + [("k9", 2100, "htw-delivered-for=2000;")]}.items():
        wanted, records = records if isinstance(records, tuple) else (sent, records)
        try:
            Verdict(wanted, written("bad", records)).require()
        except AssertionError:
            continue
        raise AssertionError(f"the judge does not see what is {name}")
