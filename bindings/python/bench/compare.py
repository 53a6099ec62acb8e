#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Measures htw beside what Python has, with 100 000 timers: nanoseconds of processor time for each.

usage: compare.py [--count N] [--rounds N]
"""
import argparse
import asyncio
import gc
import heapq
import random
import sched
import statistics
import threading
import time
import tracemalloc

import htw
import htw.aio

parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
parser.add_argument("--count", type=int, default=100_000)
parser.add_argument("--rounds", type=int, default=5)
options = parser.parse_args()
COUNT = options.count
random.seed(1)
DELAYS = [30 + random.random() * 30 for _ in range(COUNT)]  # timeouts, as a server has them
ORDER = random.sample(range(COUNT), COUNT)
calls = 0


def call():
    global calls
    calls += 1


class Peer:
    def own_bytes(self):
        return 0

    def close(self):
        pass


class Scheduler(Peer):
    name = "htw.Scheduler"

    def __init__(self):
        self.scheduler = htw.Scheduler(clock=htw.Clock.MANUAL, workers=0)

    def schedule(self):
        schedule = self.scheduler.schedule
        return [schedule(delay, call) for delay in DELAYS]

    def cancel(self, timers):
        for i in ORDER:
            timers[i].cancel()

    def expire(self, timers):
        self.scheduler.advance(100)

    def own_bytes(self):
        return self.scheduler.stats().memory_bytes

    def close(self):
        self.scheduler.close()


class Asyncio(Peer):
    """The clock of the loop is set forward, so that all is due."""

    name = "asyncio call_later"

    def __init__(self):
        self.loop = asyncio.new_event_loop()
        self.ahead = 0
        self.loop.time = lambda: time.monotonic() + self.ahead

    def turn(self):
        self.loop.run_until_complete(asyncio.sleep(0))

    def schedule(self):
        call_later = self.loop.call_later
        return [call_later(delay, call) for delay in DELAYS]

    def cancel(self, timers):
        for i in ORDER:
            timers[i].cancel()
        self.turn()  # where the loop drops cancelled timers

    def expire(self, timers):
        self.ahead = 100
        self.turn()
        self.turn()

    def close(self):
        self.loop.close()


class HtwAsyncio(Asyncio):
    """There is no clock to set: to expire includes to move each timer to now."""

    name = "htw.aio.Scheduler"

    def __init__(self):
        super().__init__()
        self.scheduler = htw.aio.Scheduler(self.loop, budget=COUNT)

    def schedule(self):
        schedule = self.scheduler.schedule
        return [schedule(delay, call) for delay in DELAYS]

    def expire(self, timers):
        for timer in timers:
            timer.reschedule(0)
        while len(self.scheduler):
            self.turn()

    def own_bytes(self):
        return self.scheduler.stats().memory_bytes

    def close(self):
        self.scheduler.close()
        super().close()


class Heapq(Peer):
    """A heap in which cancelled entries stay, marked, as most programs write it."""

    name = "heapq"

    def __init__(self):
        self.heap = []

    def schedule(self):
        heap, push, now, entries = self.heap, heapq.heappush, time.monotonic, []
        for i, delay in enumerate(DELAYS):
            entry = [now() + delay, i, call]
            push(heap, entry)
            entries.append(entry)
        return entries

    def cancel(self, timers):
        for i in ORDER:
            timers[i][2] = None
        self.expire(timers)  # they must go at some time

    def expire(self, timers):
        heap, pop = self.heap, heapq.heappop
        end = time.monotonic() + 100
        while heap and heap[0][0] <= end:
            callback = pop(heap)[2]
            if callback is not None:
                callback()


class Sched(Peer):
    """A cancel is O(timers): of a thousandth of them, and times a thousand."""

    name = "sched"

    def __init__(self):
        self.time = 0.0
        self.sched = sched.scheduler(lambda: self.time, lambda seconds: None)

    def schedule(self):
        enter = self.sched.enter
        return [enter(delay, 0, call) for delay in DELAYS]

    def cancel(self, timers):
        for i in ORDER[:COUNT // 1000]:
            self.sched.cancel(timers[i])

    def expire(self, timers):
        self.time = 100.0
        self.sched.run(blocking=False)


def clocked(function, *args):
    gc.collect()
    start = time.process_time_ns()
    result = function(*args)
    return (time.process_time_ns() - start) / COUNT, result


def bytes_each(kind):
    gc.collect()
    peer = kind()
    own = peer.own_bytes()
    tracemalloc.start()
    timers = peer.schedule()
    traced = tracemalloc.get_traced_memory()[0] + peer.own_bytes() - own
    tracemalloc.stop()
    del timers
    peer.close()
    return traced / COUNT


def measure(kind):
    global calls
    rows = []
    for _ in range(options.rounds):
        peer = kind()
        schedule, timers = clocked(peer.schedule)
        cancel, _ = clocked(peer.cancel, timers)
        if kind is Sched:
            cancel *= 1000
        peer.close()
        peer = kind()
        timers = peer.schedule()
        calls = 0
        expire, _ = clocked(peer.expire, timers)
        assert calls == COUNT, (kind, calls)
        del timers
        peer.close()
        rows.append((schedule, cancel, expire))
    return [statistics.median(column) for column in zip(*rows)] + [bytes_each(kind)]


def threads(count=200):
    """threading.Timer is a thread for each timer: a sample."""
    start = time.process_time_ns()
    timers = [threading.Timer(60, call) for _ in range(count)]
    for timer in timers:
        timer.start()
    middle = time.process_time_ns()
    for timer in timers:
        timer.cancel()
    for timer in timers:
        timer.join()
    return (middle - start) / count, (time.process_time_ns() - middle) / count


print(f"{COUNT} timers, delays of 30 to 60 s; nanoseconds of processor time each, "
      f"median of {options.rounds} rounds\n")
print("| | schedule | cancel | expire | bytes |")
print("|---|---|---|---|---|")
for kind in (Scheduler, HtwAsyncio, Asyncio, Heapq, Sched):
    figures = measure(kind)
    print(f"| {kind.name} | " + " | ".join(f"{figure:.0f}" for figure in figures) + " |")
schedule, cancel = threads()
print(f"| threading.Timer, 200 of them | {schedule:.0f} | {cancel:.0f} | - | - |")
