# SPDX-License-Identifier: MIT
"""flight.py - flight records of a server that never was."""

import heapq
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


class Server:
    """Timers in one scheduler. It is idle between the instants at which something happens."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.events, self.acts, self.handles = [], [], 0
        self.pending = {}

    def say(self, at, kind, site, handle, *value):
        self.events.append([BEGIN + at, kind, 0, site, f"{handle:x}", *value])

    def do(self, at, function, *arguments):
        heapq.heappush(self.acts, (at, len(self.acts), self.random.random(), function, arguments))

    def arm(self, at, site, delay, handle=None):
        if handle is None:
            self.handles += 1
            handle = (7 << 40) + self.handles
        due = (at + delay + MS - 1) // MS * MS
        self.pending[handle] = due, site
        self.say(at, "armed", site, handle, BEGIN + due)
        self.do(due, self.run, handle, due)
        return handle

    def cancel(self, at, handle):
        if handle in self.pending:
            self.say(at, "cancelled", self.pending.pop(handle)[1], handle)

    def run(self, at, handle, due):
        if self.pending.get(handle, (None,))[0] != due:
            return
        site = self.pending.pop(handle)[1]
        late = self.random.randrange(40_000, 180_000)
        if not self.events or self.awake < at:
            self.say(at + late // 2, "woken", site, handle, late // 2)
        took = {FLUSH: 3 * MS, SWEEP: 9 * MS, BEAT: 20_000}.get(site, 4_000) * self.random.uniform(0.6, 1.6)
        start = max(at + late, getattr(self, "awake", 0))
        self.say(start, "started", site, handle, start - at)
        self.say(start + int(took), "ended", site, handle, int(took))
        self.awake = start + int(took)
        period = {POLL: 10 * MS, BEAT: 1000 * MS, FLUSH: 10_000 * MS, SWEEP: 4700 * MS}.get(site)
        if period:
            self.arm(self.awake, site, period - (self.awake - at), handle)
        elif site == REQUEST:
            self.arm(self.awake, RETRY, self.random.randrange(100, 900) * MS)

    def request(self, at, gap):
        timer = self.arm(at, REQUEST, 500 * MS)
        if self.random.random() < 0.98:
            self.do(at + int(self.random.expovariate(1 / (6 * MS))), self.cancel, timer)
        idle = self.random.choice(self.idle)
        if idle in self.pending:
            due = at + 30_000 * MS
            self.pending[idle] = due, IDLE
            self.say(at, "moved", IDLE, idle, BEGIN + due)
            self.do(due, self.run, idle, due)
        self.do(at + int(self.random.expovariate(1 / gap)) + 1, self.request, gap)

    def go(self, seconds, gap):
        self.awake = 0
        self.pending[99] = 1500 * MS, FLUSH  # was armed before the record begins
        self.do(1500 * MS, self.run, 99, 1500 * MS)
        self.idle = [self.arm(self.random.randrange(MS), IDLE, 30_000 * MS) for _ in range(60)]
        self.arm(0, POLL, 10 * MS)
        self.arm(0, SWEEP, 2300 * MS)
        for _ in range(40):
            self.arm(0, BEAT, 400 * MS)
        self.do(5 * MS, self.request, gap)
        while self.acts and self.acts[0][0] < seconds * 1000 * MS:
            at, _, _, function, arguments = heapq.heappop(self.acts)
            function(at, *arguments)
        self.events.sort(key=lambda event: event[0])


def record(seconds=30, events=None, seed=1):
    """The lines of a record; of so many events, if that is said."""
    server = Server(seed)
    server.go(seconds, 8 * MS if events is None else seconds * 1000 * MS * 3 // max(1, events - 350 * seconds))
    chosen = server.events if events is None else server.events[-events:]
    return lines(chosen)


def lines(events, sites=SITES, lost=0, **head):
    first = {"htw": "0.3.0", "kind": "events", "format": 1, "program": "mail-server", "pid": 4711,
             "clock_ns": BEGIN + 60_000 * MS, "wall_ns": 1_764_144_000_000_000_000,
             "schedulers": [{"name": "main", "tick_ns": MS, "wheel_size": 256}], **head}
    result = [json.dumps(first)]
    result += [json.dumps({"site": i, **site}) for i, site in enumerate(sites)]
    result += [json.dumps(event) for event in events]
    return result + [json.dumps({"events": len(events), "lost": lost})]
