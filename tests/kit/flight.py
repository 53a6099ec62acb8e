# SPDX-License-Identifier: MIT
"""flight.py - flight records of a server that never was."""

import json
import random

MS = 1_000_000
BEGIN = 912_345_678_000_000

SITES = [
    {"name": "idle connection", "file": "src/connection.c", "line": 118, "function": "connection_read", "symbol": "on_idle"},
    {"name": "request timeout", "file": "src/request.c", "line": 64, "function": "request_send", "symbol": "on_timeout"},
    {"name": "poll the queue", "file": "src/queue.c", "line": 31, "function": "queue_start", "symbol": "poll_queue"},
    {"name": "heartbeat", "file": "src/peer.c", "line": 207, "function": "peer_connect", "symbol": "beat"},
    {"name": "retry", "file": "src/request.c", "line": 92, "function": "request_failed", "symbol": "send_again"},
    {"name": "flush statistics", "file": "src/stats.c", "line": 12, "function": "stats_start", "symbol": "flush"},
    {"name": None, "address": "0x55d0c8a4b2f0", "symbol": "cache.so+0x1234"},
]
IDLE, REQUEST, POLL, BEAT, RETRY, FLUSH, SWEEP = range(len(SITES))
# Timers that repeat: site, when the first is due, the period, how long the callback takes.
REPEATING = [(POLL, 10 * MS, 10 * MS, 4_000), (SWEEP, 2300 * MS, 4700 * MS, 9 * MS), (FLUSH, 1500 * MS, 10_000 * MS, 3 * MS),
             *[(BEAT, 400 * MS, 1000 * MS, 20_000)] * 40]


class Server:
    """Its timers, each by itself: what they do to each other's lateness does not matter here."""

    def __init__(self, seed):
        self.random, self.events, self.handles = random.Random(seed), [], 7 << 40

    def say(self, at, kind, site, handle, *value):
        self.events.append([BEGIN + at, kind, 0, site, f"{handle:x}", *value])

    def arm(self, at, site, due):
        self.handles += 1
        self.say(at, "armed", site, self.handles, BEGIN + due)
        return self.handles

    def run(self, due, site, handle, took=4_000):
        """Returns when the callback ends."""
        late, took = self.random.randrange(40_000, 180_000), int(took * self.random.uniform(0.6, 1.6))
        self.say(due + late // 2, "woken", site, handle, late // 2)
        self.say(due + late, "started", site, handle, late)
        self.say(due + late + took, "ended", site, handle, took)
        return due + late + took

    def repeat(self, end, site, due, period, took):
        """The first one of FLUSH was armed before the record begins."""
        handle = 99 if site == FLUSH else self.arm(0, site, due)
        while due < end:
            at = self.run(due, site, handle, took)
            due += period
            self.say(at, "armed", site, handle, BEGIN + due)

    def request(self, at, idle):
        """Its timeout is mostly cancelled; otherwise it is sent again. A connection is idle from now on."""
        handle, due = self.arm(at, REQUEST, at + 500 * MS), at + 500 * MS
        self.say(at, "moved", IDLE, idle, BEGIN + at + 30_000 * MS)
        if self.random.random() < 0.98:
            self.say(at + self.random.randrange(12 * MS), "cancelled", REQUEST, handle)
        else:
            at = self.run(due, REQUEST, handle)
            due += self.random.randrange(100, 900) * MS
            self.run(due, RETRY, self.arm(at, RETRY, due))

    def go(self, end, gap):
        connections = [self.arm(0, IDLE, 30_000 * MS) for _ in range(60)]
        for timer in REPEATING:
            self.repeat(end, *timer)
        for at in range(5 * MS, end, gap):
            self.request(at + self.random.randrange(gap), self.random.choice(connections))
        return sorted((event for event in self.events if event[0] < BEGIN + end), key=lambda event: event[0])


def record(seconds=30, events=None, seed=1):
    """The lines of a record; of so many events, if that is said."""
    gap = 8 * MS if events is None else seconds * 1000 * MS * 3 // max(1, events - 350 * seconds)
    found = Server(seed).go(seconds * 1000 * MS, gap)
    return lines(found if events is None else found[-events:])


def lines(events, sites=SITES, lost=0, **head):
    first = {"htw": "0.3.0", "kind": "events", "format": 1, "program": "mail-server", "pid": 4711,
             "clock_ns": BEGIN + 60_000 * MS, "wall_ns": 1_764_144_000_000_000_000,
             "schedulers": [{"name": "main", "tick_ns": MS, "wheel_size": 256}], **head}
    result = [json.dumps(first)]
    result += [json.dumps({"site": i, **site}) for i, site in enumerate(sites)]
    result += [json.dumps(event) for event in events]
    return result + [json.dumps({"events": len(events), "lost": lost})]
