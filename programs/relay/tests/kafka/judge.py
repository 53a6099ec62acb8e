# SPDX-License-Identifier: MIT
"""Compares what was sent with what arrived, both as Kafka's own client has read them."""
import collections


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
    letter: it was sent, and must not arrive. A record for which a cancel was sent may be missing. Several records of one
    key have one htw-id, and each replaces the one before: `replaced` are the keys of which the last alone has come. Of one
    with a condition (htw-if-offset) and its victim one may come."""

    def __init__(self, sent, got):
        deadlines, conditional, self.cancels = collections.defaultdict(list), set(), set()
        for _, timestamp, key, headers in fields(sent):
            if key.startswith("bad"):
                continue
            if header(headers, "htw-cancel"):
                self.cancels.add(key)
                continue
            at, delay = header(headers, "htw-deliver-at"), header(headers, "htw-delay")
            if header(headers, "htw-ask") and not at:
                continue  # it only asks
            if header(headers, "htw-if-offset"):
                conditional.add(key)
            deadlines[key].append(int(at) if at else timestamp + int(delay))
            assert not delay or int(delay) >= 0
        self.sent = len(deadlines)
        times = collections.defaultdict(list)
        self.early, self.unknown, late = [], [], []
        for arrival, timestamp, key, headers in fields(got):
            wanted = int(header(headers, "htw-delivered-for") or 0)
            times[key].append(wanted)
            if key not in deadlines:
                self.unknown.append(key)
                continue
            # The timestamp is the broker's at the moment of appending: the topics are made so. The consumer may see
            # it much later.
            if timestamp < wanted or wanted not in deadlines[key]:
                self.early.append(key)
            late.append(arrival - wanted)
        self.missing = [key for key in deadlines if key not in times and key not in self.cancels]
        self.cancelled = [key for key in self.cancels if key not in times]
        self.replaced = [key for key, all_of in deadlines.items() if len(all_of) > 1 and times.get(key) == all_of[-1:]]
        self.doubled = [key for key, all_of in times.items()
                        if len(all_of) > (1 if key in conditional else len(set(all_of)))]
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
