# SPDX-License-Identifier: MIT
"""Thousands of workers that wait at once."""
import collections
import gc
import itertools
import random
import resource
import select
import threading
import time

from blocking import vanish
from clients import Wire
from harness import PATIENCE, compared, compared_with, equal, note, own, percentiles, settings, wait_for
from kills import there_are

MOST = 10000 // settings.slowness
MANY = 2000 // settings.slowness
TUBES = 500 // settings.slowness
OPTIONS = ("--max-clients", str(MOST + 500))


def tube_name(number):
    return f"tube-{number % TUBES}"


class Crowd:
    """Many connections. Each may get an answer at any time."""

    def __init__(self, server, count):
        self.server = server
        self.wires = [Wire(server) for _ in range(count)]
        self.poll = select.epoll()
        self.of_file = {}
        for wire in self.wires:
            self.of_file[wire.fileno()] = wire
            self.poll.register(wire.fileno(), select.EPOLLIN)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.poll.close()
        for wire in self.wires:
            wire.close()

    def remove(self, wire, reset):
        self.poll.unregister(wire.fileno())
        del self.of_file[wire.fileno()]
        self.wires.remove(wire)
        vanish(wire, reset)

    def wait_on(self, wires, tubes_of, command=b"reserve"):
        """Each watches the tubes that `tubes_of` names for its number, and no other, and begins to wait."""
        before = int(self.server.stat("current-waiting"))
        for number, wire in enumerate(wires):
            tubes = tubes_of(number)
            wire.send("".join(f"watch {tube}\r\n" for tube in tubes).encode() + b"ignore default\r\n" + command + b"\r\n")
            wire.answers(len(tubes) + 1)
        self.server.wait_until_waiting(before + len(wires))

    def ready(self, timeout=PATIENCE):
        """Those that have an answer, each with the time when it arrived."""
        events = self.poll.poll(timeout)
        now = time.monotonic()
        return [(self.of_file[file], now) for file, _ in events]

    def answers(self, count):
        """The next answers: triples of connection, answer and time."""
        got = []
        while len(got) < count:
            ready = self.ready()
            assert ready, f"{count - len(got)} of {count} get no answer"
            got += [(wire, wire.answer(), now) for wire, now in ready]
        equal(len(got), count, "answers")
        return got


def put_all(wire, jobs):
    """Puts a job for each pair of a tube and a body, in one pipeline. Returns their ids."""
    ids = []
    for tube, group in itertools.groupby(jobs, key=lambda job: job[0]):  # a `use` waits for the puts before it
        bodies = [body for _, body in group]
        wire.send(b"use %b\r\n" % tube.encode() + b"".join(b"put 0 0 600 %d\r\n%b\r\n" % (len(body), body) for body in bodies))
        ids += [int(answer.split()[1]) for answer in wire.answers(len(bodies) + 1)[1:]]
    return ids


def resident(server):
    with open(f"/proc/{server.process.pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize()


def nothing_is_left(server, jobs=0):
    wait_for(lambda: server.stat("current-connections") == "1", "that the server has noticed that all have gone")
    equal([server.stat(f"current-{what}") for what in ("waiting", "workers", "jobs-reserved")], ["0"] * 3, "what is left")
    wait_for(lambda: server.stat("current-jobs-ready") == str(jobs), "that all jobs of theirs are ready")


@own(*OPTIONS)
# holds: serve-10
def first_come_is_first_served_on_each_of_500_tubes(server):
    with Crowd(server, MANY) as crowd, Wire(server) as other:
        turn = {}
        for start in range(0, MANY, TUBES):  # in each round one comes to each tube
            wires = crowd.wires[start:start + TUBES]
            crowd.wait_on(wires, lambda number: [tube_name(number)])
            turn.update({wire: b"%d %d" % (number, start // TUBES) for number, wire in enumerate(wires)})
        tubes = random.Random(1).sample(range(TUBES), TUBES)
        jobs = [(tube_name(tube), b"%d %d" % (tube, item)) for tube in tubes for item in range(MANY // TUBES)]
        put_all(other, jobs)
        for wire, answer, _ in crowd.answers(MANY):
            equal(answer.split(b"\r\n")[1], turn[wire], "job of a worker")
    nothing_is_left(server, MANY)


@compared_with(*OPTIONS)
# holds: serve-10
def ten_thousand_workers_get_one_job_each(server):
    before = resident(server)
    with Crowd(server, MOST) as crowd, Wire(server) as other:
        for start in range(0, MOST, 1000):
            crowd.wait_on(crowd.wires[start:start + 1000], lambda number: ["all", tube_name(number)])
        note(server, f"{(resident(server) - before) // MOST} bytes for a worker that waits on two tubes")
        began = time.monotonic()
        jobs = put_all(other, [("all", b"job")] * MOST)
        got = {wire: int(answer.split()[1]) for wire, answer, _ in crowd.answers(MOST)}
        note(server, f"all have their job {time.monotonic() - began:.2f} s after the first put")
        equal(sorted(got.values()), jobs, "jobs of all")
        if server.is_own:
            equal([got[wire] for wire in crowd.wires], jobs, "jobs in the order in which they came")
        for wire, job in got.items():
            wire.send(b"delete %d\r\n" % job)
        equal({answer for _, answer, _ in crowd.answers(MOST)}, {b"DELETED"})
    nothing_is_left(server)
    return []


class Storm:
    """Workers wait on several tubes, time out, vanish and come back, with and without a job, while jobs are put."""

    def __init__(self, server, crowd, rng):
        self.server, self.crowd, self.rng = server, crowd, rng
        self.put_jobs, self.deleted = set(), set()
        self.held = {}  # the job of a worker
        self.putter = Wire(server)
        self.watched = {wire: "default" for wire in crowd.wires}
        self.seen = collections.Counter()

    def wait(self, wire):
        tube, old = tube_name(self.rng.randrange(TUBES)), self.watched[wire]
        command = self.rng.choice(["reserve", "reserve", "reserve-with-timeout 1", "reserve-with-timeout 0"])
        wire.send(f"watch all\r\nwatch {tube}\r\n{command}\r\n".encode() if old == tube else
                  f"watch all\r\nwatch {tube}\r\nignore {old}\r\n{command}\r\n".encode())
        self.watched[wire] = tube

    def take(self, wire):
        """What has arrived for a worker."""
        wire.receive()
        while (answer := wire.take()) is not None:
            if answer.startswith(b"RESERVED "):
                job = int(answer.split()[1])
                assert job not in self.held.values(), f"job {job} is reserved by two"
                assert job not in self.deleted, f"job {job} comes after its end"
                self.held[wire] = job
            elif not answer.startswith(b"WATCHING "):
                equal(answer, b"TIMED_OUT")
                self.seen["timed out"] += 1
                self.wait(wire)

    def vanish(self, wire):
        self.held.pop(wire, None)
        self.crowd.remove(wire, self.rng.random() < 0.5)
        self.seen["vanished"] += 1

    def end(self, wire):
        """A worker ends its job, and waits for another one."""
        job = self.held.pop(wire)
        verb = self.rng.choice(["delete", "delete", "delete", "release", "bury"])
        equal(wire.ask({"delete": f"delete {job}", "release": f"release {job} 0 {self.rng.randrange(2)}",
                        "bury": f"bury {job} 0"}[verb])[:3], verb[:3].upper().encode())
        self.seen[verb] += 1
        if verb == "delete":
            self.deleted.add(job)
        self.wait(wire)

    def put(self):
        tube = self.rng.choice(["all", tube_name(self.rng.randrange(TUBES))])
        self.putter.send(b"use %b\r\n" % tube.encode() + b"".join(
            b"put %d %d 600 1\r\nx\r\n" % (self.rng.randrange(3), self.rng.choice([0, 0, 0, 1])) for _ in range(10)))
        self.put_jobs.update(int(answer.split()[1]) for answer in self.putter.answers(11)[1:])

    def rage(self, rounds):
        for wire in self.crowd.wires:
            self.wait(wire)
        for _ in range(rounds):
            self.put()
            for wire, _ in self.crowd.ready(0):
                self.take(wire)
            for wire in self.rng.sample(list(self.held), len(self.held) // 2):
                self.end(wire)
            if self.rng.random() < 0.3:
                self.vanish(self.rng.choice(self.crowd.wires))

    def check(self):
        """Each job that nobody has deleted is there, and none that somebody has."""
        equal(there_are(self.server, self.put_jobs), self.put_jobs - self.deleted, "jobs")
        note(self.server, f"put {len(self.put_jobs)}, " + ", ".join(f"{what} {count}" for what, count in self.seen.items()))


@compared
# holds: serve-2
def a_storm_loses_and_doubles_nothing(server):
    with Crowd(server, MANY // 2) as crowd:
        storm = Storm(server, crowd, random.Random(2))
        storm.rage(150 // settings.slowness)
        storm.putter.close()
    wait_for(lambda: server.stat("current-connections") == "1", "that all have gone")
    wait_for(lambda: server.stat("current-jobs-reserved") == "0", "that their jobs are back")
    storm.check()
    return []


def check_late(server, late):
    """beanstalkd is not judged: its clock here (strict_clock.c) is fast when it is asked often."""
    late.sort()
    note(server, f"late by {percentiles(late)}")
    if server.is_own:
        assert late[0] >= 0, f"{-late[0]:.1f} ms early"
        assert late[-1] < 50 or not settings.strict, f"late by {late[-1]:.1f} ms"


@compared
# holds: serve-10
def time_outs_come_in_time(server):
    """Never early, on a quiet machine (--strict) not late by much: of workers that begin within a second."""
    with Crowd(server, MANY) as crowd:
        sent, late = {}, []
        gc.collect()
        gc.disable()
        try:
            began = time.monotonic()
            for number, wire in enumerate(crowd.wires):
                time.sleep(max(0, began + number * 0.9 / MANY - time.monotonic()))
                sent[wire] = time.monotonic()
                wire.send(b"reserve-with-timeout 1\r\n")
            for wire, answer, now in crowd.answers(MANY):
                equal(answer, b"TIMED_OUT")
                late.append((now - sent[wire] - 1) * 1000)
        finally:
            gc.enable()
        check_late(server, late)
    return []


@compared
# holds: serve-10
def time_outs_come_while_others_keep_it_busy(server):
    """As much work for timers as for sockets: put, reserve, a lease of a second, delete."""
    ended = threading.Event()

    def be_busy():
        with Wire(server) as wire:
            while not ended.is_set():
                wire.send(b"put 0 0 1 1\r\nx\r\nreserve-with-timeout 0\r\nlist-tube-used\r\n" * 50)
                for _ in range(50):
                    job = wire.answers(3)[1].split()[1]
                    wire.send(b"delete %b\r\n" % job)
                equal(set(wire.answers(50)), {b"DELETED"})
    busy = [threading.Thread(target=be_busy) for _ in range(2)]
    for thread in busy:
        thread.start()
    late = []
    try:
        with Wire(server) as wire:
            wire.ask("watch none")
            wire.ask("ignore default")
            for _ in range(3):
                began = time.monotonic()
                equal(wire.ask("reserve-with-timeout 1"), b"TIMED_OUT")
                late.append((time.monotonic() - began - 1) * 1000)
    finally:
        ended.set()
        for thread in busy:
            thread.join()
    check_late(server, late)
    return []
