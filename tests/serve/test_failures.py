# SPDX-License-Identifier: MIT
# holds: serve-5, serve-6
"""Allocations and system calls fail in turn, once or from then on, while clients do a bit of everything.

A command is done and answered as always, or refused, and has changed nothing: sent again, it is done. Or its connection
is closed. Where the disk fails, the server may also end, with a message; the next one finds what was acknowledged. In the
end the server has no job, no connection and no tube that it should not have.
"""
import contextlib
import errno
import os
import random
import re
import tempfile
import time

import pytest
from faults import ERROR, EVER, ROUNDS, SEEN, SHORT, THREAD, Faults
from harness import settings
from programs import PATIENCE, wait_for
from servers import HtwServe
from wire import Wire

REFUSED = (b"OUT_OF_MEMORY", b"INTERNAL_ERROR")
STATES = ("ready", "reserved", "delayed", "buried")


class Refused(Exception):
    """All fail, so nothing more is to be learnt."""


class Session:
    def __init__(self, server):
        self.server = server
        self.jobs = {}  # by name; those that were acknowledged
        self.deleted = []
        self.refused = 0

    def ask(self, wire, command, wanted, body=None):
        answer = wire.ask(command, body)
        if answer in REFUSED:
            self.refused += 1
            if command.startswith("reserve"):
                self.wait_until_given_back(wire)
            answer = wire.ask(command, body)
            if answer in REFUSED:
                raise Refused
        assert re.fullmatch(wanted, answer, re.DOTALL), f"{command}: {answer!r} instead of {wanted!r}"
        return answer

    def wait_until_given_back(self, wire):
        """A job whose body finds no memory was reserved for a moment."""
        while (told := wire.ask("stats")) not in REFUSED and b"\ncurrent-jobs-reserved: 0\n" not in told:
            pass

    def put(self, wire, name, body, delay=0):
        answer = self.ask(wire, f"put 5 {delay} 100 {len(body)}", rb"INSERTED \d+", body)
        self.jobs[name] = int(answer.split()[1])

    def do(self, wire, verb, name, answer, rest=""):
        job = self.jobs[name]
        if verb == "delete":
            del self.jobs[name]  # also where it is not answered
            assert self.ask(wire, f"delete {job}", rb"DELETED") == b"DELETED"
            self.deleted.append(job)
        else:
            self.ask(wire, f"{verb} {job}{rest}", answer.replace(b"ID", b"%d" % job))

    def run(self, is_alone):
        """A client that is alone, whose changes the loop commits itself, or one of two."""
        with contextlib.suppress(ConnectionError, Refused), Wire(self.server) as wire:
            with contextlib.nullcontext() if is_alone else Wire(self.server):
                self.use_tubes(wire)
                self.use_jobs(wire)
                self.ask_for_more(wire)
            with Wire(self.server) as other:
                self.wait_and_go(wire, other)

    def use_tubes(self, wire):
        self.ask(wire, "use a", rb"USING a")
        for number, tube in enumerate("abcdefgh", 2):
            self.ask(wire, f"watch {tube}", rb"WATCHING %d" % number)
        self.ask(wire, "ignore default", rb"WATCHING 8")
        self.ask(wire, "list-tubes", rb"OK .*\n- default\n.*- a\n.*|OK .*\n- a\n.*- default\n.*")
        self.ask(wire, "list-tubes-watched", rb"OK .*\n- h\n- a\n.*- g\n")

    def use_jobs(self, wire):
        self.put(wire, "first", b"1")
        self.put(wire, "late", b"22", delay=1000)
        self.put(wire, "large", b"3" * 40000)
        self.do(wire, "peek", "large", rb"FOUND ID 40000\r\n3{40000}")
        self.ask(wire, "peek-ready", rb"FOUND \d+ 1\r\n1")
        self.ask(wire, "peek-delayed", rb"FOUND \d+ 2\r\n22")
        self.ask(wire, "reserve", rb"RESERVED \d+ 1\r\n1")
        self.do(wire, "touch", "first", rb"TOUCHED")
        self.do(wire, "release", "first", rb"RELEASED", " 5 0")
        self.ask(wire, "reserve-with-timeout 0", rb"RESERVED \d+ 1\r\n1")
        self.do(wire, "bury", "first", rb"BURIED", " 7")
        self.ask(wire, "peek-buried", rb"FOUND \d+ 1\r\n1")
        self.ask(wire, "kick 9", rb"KICKED 1")
        self.do(wire, "kick-job", "late", rb"KICKED")
        self.do(wire, "reserve-job", "late", rb"RESERVED ID 2\r\n22")
        self.do(wire, "delete", "late", rb"DELETED")
        self.do(wire, "delete", "first", rb"DELETED")

    def ask_for_more(self, wire):
        self.do(wire, "stats-job", "large", rb"OK \d+\r\n---\nid: ID\ntube: a\nstate: ready\npri: 5\n.*\nkicks: 0\n")
        self.ask(wire, "stats-tube a", rb"OK \d+\r\n---\nname: a\ncurrent-jobs-urgent: 1\ncurrent-jobs-ready: 1\n.*pause-time-left: 0\n")
        self.ask(wire, "stats", rb"OK \d+\r\n---\ncurrent-jobs-urgent: 1\ncurrent-jobs-ready: 1\ncurrent-jobs-reserved: 0\n"
                 rb"current-jobs-delayed: 0\ncurrent-jobs-buried: 0\n.*\nplatform: .*\n")
        self.ask(wire, "pause-tube a 1000", rb"PAUSED")
        self.ask(wire, "reserve-with-timeout 0", rb"TIMED_OUT")
        self.ask(wire, "pause-tube a 0", rb"PAUSED")

    def wait_and_go(self, wire, other):
        """A waiting client gets a job, and goes with it."""
        self.ask(other, "watch z", rb"WATCHING 2")
        self.ask(other, "ignore default", rb"WATCHING 1")
        self.ask(wire, "use z", rb"USING z")
        other.send(b"reserve-with-timeout 1000\r\n")
        self.put(wire, "waited for", b"z")
        answer = other.answer()
        if answer in REFUSED:
            self.refused += 1
            self.wait_until_given_back(wire)
            answer = self.ask(other, "reserve-with-timeout 1000", rb"RESERVED \d+ 1\r\nz")
        assert answer == b"RESERVED %d 1\r\nz" % self.jobs["waited for"]

    # Afterwards nothing fails.

    def judge(self, server):
        with Wire(server) as wire:
            for name, job in self.jobs.items():
                wait_for(lambda: wire.stat(f"stats-job {job}", "state") in ("ready", "delayed", "buried"), f"that {name!r} is given back")
            for job in self.deleted:
                assert wire.ask(f"peek {job}") == b"NOT_FOUND", "a deleted job"
            clear(wire)
            wait_for(lambda: numbers(wire, "connections", "waiting", "producers", "workers", "tubes") == ["1", "0", "0", "0", "1"],
                     "that nothing is left but this connection and its tube")


def numbers(wire, *names):
    """All of one moment."""
    told = dict(re.findall(r"^current-(\S+): (\d+)$", wire.ask("stats").decode(), re.M))
    return [told[name] for name in names]


def clear(wire):
    """Deletes all jobs, also those whose puts were not answered; and a pause would keep its tube."""
    wire.ask("pause-tube a 0")
    def is_empty():
        for tube in ("a", "z", "default"):
            wire.ask(f"use {tube}")
            for state in STATES:
                while state != "reserved" and (found := wire.ask(f"peek-{state}")).startswith(b"FOUND"):
                    wire.ask(f"delete {found.split()[1].decode()}")
        return set(numbers(wire, *(f"jobs-{state}" for state in STATES))) == {"0"}
    wait_for(is_empty, "that all jobs are deleted")


class Keeper:
    """The server on a file, and the next one where it has ended."""

    def __init__(self, faults, file, may_end):
        self.faults, self.file, self.may_end = faults, file, may_end
        self.server = HtwServe(file=file, faults=faults)
        self.ended = 0

    def __enter__(self):
        return self

    def __exit__(self, *details):
        self.server.__exit__(*details)

    def running(self):
        """`may_end`: it is about to end, or goes on."""
        with contextlib.suppress(ConnectionError), Wire(self.server) as wire:
            wire.ask("list-tube-used")
            if wire.ask("put 0 0 1 0", b"").startswith(b"INSERTED"):
                return self.server
        self.server.process.wait()
        text = self.server.said()
        assert self.may_end and self.server.process.returncode == 1 and "htw serve: " in text, \
            f"the server has ended with status {self.server.process.returncode}: {text}"
        self.server = HtwServe(file=self.file, faults=self.faults)
        self.ended += 1
        return self.server


def fail_in_turn(name, error, times=1, may_end=False, apart=1):
    """One call of the name in each session; those that are chosen are that far apart on average."""
    rng = random.Random(settings.seed or 1)
    with Faults() as faults, tempfile.TemporaryDirectory(prefix="htw-serve-") as folder, \
            Keeper(faults, os.path.join(folder, "jobs"), may_end) as keeper:
        number, nth, refused, is_over = 0, 0, 0, False
        while not is_over:
            session = Session(keeper.server)
            faults.plan(name, error, nth, times)
            session.run(number % 2 == 0)
            is_over = not faults.was_hit()
            faults.relent()
            try:
                session.judge(keeper.running())
            except AssertionError as fault:
                raise AssertionError(f"{name} {nth} fails with {error}: {fault}") from None
            refused += session.refused
            number += 1
            nth += rng.randrange(1, 2 * apart)
        assert number > 1, f"there is no call of {name}"
    return number - 1, refused, keeper.ended


def each_fails(name, error, **more):
    count, refused, ended = fail_in_turn(name, error, **more)
    print(f"{name}, {errno.errorcode.get(error, 'a part')}: {count} times, {refused} refused, {ended} ended")


# holds: serve-5
def test_serve_each_allocation_that_fails_is_refused_or_closes_a_connection():
    each_fails("malloc", errno.ENOMEM, apart=8)
    each_fails("malloc", errno.ENOMEM, times=EVER, may_end=True, apart=30)


@pytest.mark.parametrize("name, error", [
    ("recv", errno.EINTR), ("recv", errno.ENOMEM), ("recv", SHORT), ("send", errno.EINTR), ("send", errno.EPIPE), ("send", SHORT),
    ("accept4", errno.ECONNABORTED), ("accept4", errno.EMFILE), ("accept4", errno.ENOMEM), ("epoll_ctl", errno.ENOMEM),
    ("epoll_wait", errno.EINTR)])
# holds: serve-5
def test_serve_each_call_of_a_socket_that_fails_costs_at_most_its_connection(name, error):
    each_fails(name, error)


@pytest.mark.parametrize("error", [errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS])
# holds: serve-7
def test_serve_a_listener_that_cannot_accept_does_not_spin_and_recovers(error):
    with Faults() as faults, HtwServe(faults=faults) as server, Wire(server) as wire:
        wire.ask("list-tube-used")
        faults.plan("accept4", error, times=EVER)
        with Wire(server) as other:
            other.send(b"list-tube-used\r\n")
            wait_for(lambda: faults.get(SEEN) > 0, "that it cannot accept")
            before = faults.get(ROUNDS)
            time.sleep(0.3)
            rounds = faults.get(ROUNDS) - before
            assert rounds < 300, f"{rounds} rounds with nothing to do"
            assert wire.ask("list-tube-used") == b"USING default"
            faults.relent()
        with Wire(server) as other:
            assert other.ask("list-tube-used") == b"USING default"


@pytest.mark.parametrize("name, error, apart", [("pwrite64", errno.ENOSPC, 4), ("pwrite64", errno.EIO, 4), ("pwrite64", SHORT, 4),
                                                ("fdatasync", errno.EIO, 1)])
# holds: serve-6
def test_serve_each_call_of_the_disk_that_fails_loses_nothing(name, error, apart):
    each_fails(name, error, may_end=True, apart=apart)


def wait_until_loop_commits(server, wire, faults):
    def is_in_loop():
        wire.put(b"x")
        return faults.get(THREAD) == server.process.pid

    faults.plan("fdatasync", 0, first=EVER)
    wait_for(is_in_loop, "that the loop commits what a lone client puts")


def begin_to_put(wire, body, faults):
    """With a commit that takes a second, and has begun."""
    faults.plan("fdatasync", -1000, times=1)
    wire.send(b"put 1 0 60 1\r\n" + body + b"\r\n")
    wait_for(lambda: faults.get(SEEN) == 1, "that a commit has begun")


# holds: serve-1, serve-8
def test_serve_a_slow_disk_delays_only_clients_that_wait_for_it():
    with Faults() as faults, tempfile.TemporaryDirectory(prefix="htw-serve-", dir="/dev/shm") as folder, \
            HtwServe(file=os.path.join(folder, "jobs"), faults=faults) as server, Wire(server) as wire:
        wait_until_loop_commits(server, wire, faults)
        begin_to_put(wire, b"a", faults)
        assert faults.get(THREAD) == server.process.pid
        with Wire(server) as other:  # it comes during the commit, and may wait for its end
            job = other.put(b"b")
            assert wire.answer().startswith(b"INSERTED") and other.ask(f"peek {job}") == b"FOUND %d 1\r\nb" % job
        wait_for(lambda: wire.stat("stats", "current-connections") == "1", "that the other client is gone")
        begin_to_put(wire, b"c", faults)
        assert faults.get(THREAD) != server.process.pid
        with Wire(server) as other:
            assert other.ask("list-tube-used") == b"USING default"
        wire.socket.setblocking(False)
        with pytest.raises(BlockingIOError):
            wire.socket.recv(1)
        wire.socket.settimeout(PATIENCE)
        assert wire.answer().startswith(b"INSERTED")
        wait_until_loop_commits(server, wire, faults)


@pytest.mark.parametrize("error", [0, errno.EIO])
# holds: serve-1, serve-11
def test_serve_a_signal_during_a_slow_commit_of_the_loop_waits_for_its_end(error):
    with Faults() as faults, tempfile.TemporaryDirectory(prefix="htw-serve-", dir="/dev/shm") as folder:
        file = os.path.join(folder, "jobs")
        with HtwServe(file=file, faults=faults) as server, Wire(server) as wire:
            wait_until_loop_commits(server, wire, faults)
            before = int(wire.stat("stats", "current-jobs-ready"))
            begin_to_put(wire, b"a", faults)
            assert faults.get(THREAD) == server.process.pid
            if error:
                faults.set(ERROR, error)
            server.process.terminate()
            assert server.process.wait(PATIENCE) == (1 if error else 0), server.said()
            answer = wire.until_closed()
            assert re.fullmatch(rb"INTERNAL_ERROR\r\n" if error else rb"INSERTED \d+\r\n", answer), answer
        with HtwServe(file=file) as server, Wire(server) as wire:
            assert int(wire.stat("stats", "current-jobs-ready")) - before in ((0, 1) if error else (1,))
            assert error or wire.ask("peek %d" % int(answer.split()[1])).endswith(b"\r\na")
