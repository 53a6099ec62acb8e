#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures htw.Scheduler beside asyncio, with 100 000 timers: nanoseconds of processor time for each, the
median of five rounds.
"""
import asyncio
import gc
import random
import statistics
import time

import htw

COUNT = 100_000
random.seed(1)
DELAYS = [30 + random.random() * 30 for _ in range(COUNT)]  # timeouts, as a server has them
ORDER = random.sample(range(COUNT), COUNT)
calls = 0


def call():
    global calls
    calls += 1


class Scheduler:
    name = "`htw.Scheduler`"

    def __init__(self):
        self.scheduler = htw.Scheduler(clock=htw.Clock.MANUAL, workers=0)

    def schedule(self):
        return [self.scheduler.schedule(delay, call) for delay in DELAYS]

    def cancel(self, timers):
        for i in ORDER:
            timers[i].cancel()

    def expire(self):
        self.scheduler.advance(100)

    def close(self):
        self.scheduler.close()


class Asyncio:
    """The clock of the loop is set forward, so that all is due."""

    name = "`asyncio` `call_later`"

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.ahead = 0
        self.loop.time = lambda: time.monotonic() + self.ahead

    def schedule(self):
        return [self.loop.call_later(delay, call) for delay in DELAYS]

    def cancel(self, timers):
        for i in ORDER:
            timers[i].cancel()
        self.loop.run_until_complete(asyncio.sleep(0))  # where the loop drops cancelled timers

    def expire(self):
        self.ahead = 100
        for _ in range(2):
            self.loop.run_until_complete(asyncio.sleep(0))

    def close(self):
        self.loop.close()


def clocked(function, *args):
    gc.collect()
    start = time.process_time_ns()
    result = function(*args)
    return (time.process_time_ns() - start) / COUNT, result


def measure(kind):
    """One round: schedule and cancel all timers; schedule again, and let them expire."""
    peer = kind()
    schedule, timers = clocked(peer.schedule)
    cancel, _ = clocked(peer.cancel, timers)
    ran = calls
    peer.schedule()
    expire, _ = clocked(peer.expire)
    assert calls - ran == COUNT, kind.name
    peer.close()
    return schedule, cancel, expire


print("| | schedule | cancel | expire |\n|---|---|---|---|")
for kind in (Scheduler, Asyncio):
    columns = zip(*[measure(kind) for _ in range(5)])
    print(f"| {kind.name} | " + " | ".join(f"{statistics.median(column):.0f}" for column in columns) + " |")
