# SPDX-License-Identifier: MIT
"""Thousands of workers that wait at once."""
import gc
import itertools
import select
import threading
import time

import pytest
from harness import note, percentiles, settings
from programs import PATIENCE, wait_for
from wire import Wire

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

    def wait_on(self, wires, tubes_of, command=b"reserve"):
        """Each watches the tubes that `tubes_of` names for its number, and no other, and begins to wait."""
        before = int(self.server.stat("current-waiting"))
        for number, wire in enumerate(wires):
            tubes = tubes_of(number)
            wire.send("".join(f"watch {tube}\r\n" for tube in tubes).encode() + b"ignore default\r\n" + command + b"\r\n")
            wire.answers(len(tubes) + 1)
        self.server.wait_until_waiting(before + len(wires))

    def answers(self, count):
        """The next answers: triples of connection, answer and time."""
        got = []
        while len(got) < count:
            ready = self.poll.poll(PATIENCE)
            assert ready, f"{count - len(got)} of {count} get no answer"
            now = time.monotonic()
            got += [(self.of_file[file], self.of_file[file].answer(), now) for file, _ in ready]
        assert len(got) == count, "answers"
        return got


def put_all(wire, jobs):
    """Puts a job for each pair of a tube and a body, in one pipeline. Returns their ids."""
    ids = []
    for tube, group in itertools.groupby(jobs, key=lambda job: job[0]):  # a `use` waits for the puts before it
        bodies = [body for _, body in group]
        wire.send(b"use %b\r\n" % tube.encode() + b"".join(b"put 0 0 600 %d\r\n%b\r\n" % (len(body), body) for body in bodies))
        ids += [int(answer.split()[1]) for answer in wire.answers(len(bodies) + 1)[1:]]
    return ids


def nothing_is_left(server, jobs=0):
    wait_for(lambda: server.stat("current-connections") == "1", "that the server has noticed that all have gone")
    assert [server.stat(f"current-{what}") for what in ("waiting", "workers", "jobs-reserved")] == ["0"] * 3, "what is left"
    wait_for(lambda: server.stat("current-jobs-ready") == str(jobs), "that all jobs of theirs are ready")


@pytest.mark.options(*OPTIONS)
# holds: serve-10
def test_serve_ten_thousand_workers_get_one_job_each(either):
    before, count = either.resident(), MOST if either.is_own else MANY
    with Crowd(either, count) as crowd, Wire(either) as other:
        for start in range(0, count, 1000):
            crowd.wait_on(crowd.wires[start:start + 1000], lambda number: ["all", tube_name(number)])
        note(either, f"{(either.resident() - before) // count} bytes for a worker that waits on two tubes")
        began = time.monotonic()
        jobs = put_all(other, [("all", b"job")] * count)
        got = {wire: int(answer.split()[1]) for wire, answer, _ in crowd.answers(count)}
        note(either, f"all have their job {time.monotonic() - began:.2f} s after the first put")
        assert sorted(got.values()) == jobs, "jobs of all"
        if either.is_own:
            assert [got[wire] for wire in crowd.wires] == jobs, "jobs in the order in which they came"
        for wire, job in got.items():
            wire.send(b"delete %d\r\n" % job)
        assert {answer for _, answer, _ in crowd.answers(count)} == {b"DELETED"}
    nothing_is_left(either)


def check_late(server, late):
    """beanstalkd is not judged: its clock here (strict_clock.c) is fast when it is asked often."""
    late.sort()
    note(server, f"late by {percentiles(late)}")
    if server.is_own:
        assert late[0] >= 0, f"{-late[0]:.1f} ms early"
        assert late[-1] < 50 or not settings.quiet_machine, f"late by {late[-1]:.1f} ms"


# holds: serve-10
def test_serve_time_outs_come_in_time(either):
    """Never early, on a quiet machine (--quiet-machine) not late by much: of workers that begin within a second."""
    with Crowd(either, MANY) as crowd:
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
                assert answer == b"TIMED_OUT"
                late.append((now - sent[wire] - 1) * 1000)
        finally:
            gc.enable()
    check_late(either, late)


# holds: serve-10
def test_serve_time_outs_come_while_others_keep_it_busy(either):
    """As much work for timers as for sockets: put, reserve, a lease of a second, delete."""
    ended = threading.Event()

    def be_busy():
        with Wire(either) as wire:
            while not ended.is_set():
                wire.send(b"put 0 0 1 1\r\nx\r\nreserve-with-timeout 0\r\nlist-tube-used\r\n" * 50)
                for _ in range(50):
                    job = wire.answers(3)[1].split()[1]
                    wire.send(b"delete %b\r\n" % job)
                wire.answers(50)
    busy = [threading.Thread(target=be_busy) for _ in range(2)]
    for thread in busy:
        thread.start()
    late = []
    try:
        with Wire(either) as wire:
            wire.ask("watch none")
            wire.ask("ignore default")
            for _ in range(3 if either.is_own else 1):
                began = time.monotonic()
                assert wire.ask("reserve-with-timeout 1") == b"TIMED_OUT"
                late.append((time.monotonic() - began - 1) * 1000)
    finally:
        ended.set()
        for thread in busy:
            thread.join()
    check_late(either, late)
