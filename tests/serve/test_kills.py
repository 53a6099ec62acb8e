# SPDX-License-Identifier: MIT
# holds: serve-1, serve-2, serve-3, serve-5, serve-6
"""test_kills.py - kill -9 at random moments under mixed load, while the clock is set and the disk is full or fails: what was
acknowledged holds.

Several clients put, reserve, delete, release, bury, kick, pause and go away, until the server is killed, or ends because its disk
fails; it starts again on the same file. Each client keeps what it was told. Then: no job whose INSERTED arrived is lost,
none whose DELETED arrived is there again, none is reserved before its time or from a tube that is paused, and at no time
two clients hold the same job.
"""
import collections
import contextlib
import os
import random
import re
import tempfile
import threading
import time

from faults import EVER, Faults
from harness import settings, there_are
from programs import PATIENCE
from servers import HtwServe
from wire import Wire

CLIENTS = 8
ROUNDS_PER_FILE = 40
JOBS = 2000  # with more there are fewer puts
TUBES = ["a", "b", "c", "later", "held"]
NS = 10**9
LATER = b"later "  # such jobs are never kicked: their bodies tell when they may come
HELD = b"held "  # the tube of these is paused
REFUSED = b"OUT_OF_MEMORY"
ENDED = b"INTERNAL_ERROR"  # the server is about to end


class Ledger:
    """What the clients were told. A command that was sent and not answered may have taken place."""

    def __init__(self, faults):
        self.lock = threading.Lock()
        self.faults = faults  # and the clock
        self.put, self.deleted, self.may_be_deleted = set(), set(), set()
        self.holders = {}
        self.not_before = {}  # of jobs that were released with a delay; None: not known
        self.asked = set()  # such releases that are not answered
        self.paused = None  # when that was told, and until when
        self.wrong = []
        self.unknown = 0  # puts without an answer
        self.count = collections.Counter()

    def bound(self, delay):
        """When a job may come that is delayed from now on: by a clock that shows this, after so many steps."""
        return self.faults.now_ns() + delay * NS, len(self.faults.steps)

    def holds(self, client, job, body, asked):
        """`asked`: when the reserve was sent."""
        with self.lock:
            self.count["reserve"] += 1
            if job in self.holders:
                self.wrong.append(f"job {job} is reserved by two: {self.holders[job]} and {client}")
            if job in self.deleted:
                self.wrong.append(f"job {job} is revived: it was deleted, and reserved again")
            self.holders[job] = client
            if body.startswith(LATER):
                self.judge_time(f"job {job}", self.not_before.get(job, tuple(map(int, body.split()[1:3]))))
            if body.startswith(HELD) and self.paused and self.paused[0] < asked:
                self.judge_time(f"job {job} of a paused tube", self.paused[1])

    def judge_time(self, what, bound):
        if bound is None:
            return
        self.count["judged delays"] += 1
        early = bound[0] - self.faults.most_ns(bound[1])
        if early > 0:
            self.wrong.append(f"{what} comes early, by {early / NS:.3f} s")

    def is_paused(self):
        return self.paused and self.paused[1][0] > self.faults.now_ns()

    def lets_go(self, job):
        """Before the command is sent: afterwards somebody else may have it at once."""
        with self.lock:
            self.holders.pop(job, None)

    def keeps(self, client, job):
        """The command was refused."""
        with self.lock:
            self.count["refused"] += 1
            self.holders[job] = client
            self.may_be_deleted.discard(job)
            self.asked.discard(job)

    def did(self, what, job=None):
        with self.lock:
            self.count[what] += 1
            if what == "put":
                self.put.add(job)
            if what == "delete":
                self.deleted.add(job)
                self.may_be_deleted.discard(job)
            if what == "release":
                self.asked.discard(job)

    def server_is_gone(self):
        self.holders.clear()
        self.not_before.update(dict.fromkeys(self.asked))
        self.asked.clear()
        self.paused = None  # a restart ends pauses


class Client(threading.Thread):
    def __init__(self, server, ledger, seed):
        super().__init__()
        self.server, self.ledger, self.rng = server, ledger, random.Random(seed)
        self.number = seed
        self.pauses = seed % CLIENTS == 0  # one, whose answers are in order
        self.tube = self.rng.choice(TUBES)
        self.clock_stands = threading.Lock()  # while a delay is asked for
        self.mine = []  # jobs whose end was refused

    def run(self):
        try:
            while True:
                with Wire(self.server) as wire:
                    wire.ask(f"use {self.tube}")
                    for tube in TUBES:
                        wire.ask(f"watch {tube}")
                    while self.mine or self.rng.random() > 0.01:
                        self.step(wire)
                    self.vanish(wire)
        except (OSError, ConnectionError):
            pass
        except Exception as fault:
            self.ledger.wrong.append(repr(fault))

    def vanish(self, wire):
        """While it waits; a job that it gets meanwhile goes to another one."""
        wire.send(b"reserve-with-timeout 1\r\n")
        wire.vanish(self.rng.random() < 0.5)
        self.ledger.did("vanish")

    def step(self, wire):
        rng = self.rng
        if self.tube not in ("later", "held") and rng.random() < 0.1:
            answer = wire.ask(f"kick {rng.randrange(5)}")
            self.note("kick", answer, b"KICKED")
        if self.pauses and not self.ledger.is_paused() and rng.random() < 0.2:
            self.pause(wire, rng.choice([0, 1, 1, 2]))
        if rng.random() < (0.55 if len(self.ledger.put) - len(self.ledger.deleted) < JOBS else 0.2):
            self.put(wire, rng.choice([1, 1, 5]))
            return
        if self.mine:
            self.end(wire, *self.mine.pop())
            return
        asked = time.monotonic()
        answer = wire.ask(f"reserve-with-timeout {rng.choice([0, 0, 0, 1])}")
        if not answer.startswith(b"RESERVED"):
            if answer not in (b"TIMED_OUT", ENDED, REFUSED):
                self.ledger.wrong.append(f"reserve: {answer!r}")
            return
        line, body = answer.split(b"\r\n", 1)
        job = int(line.split()[1])
        self.ledger.holds(self.number, job, body, asked)
        time.sleep(rng.choice([0, 0, 0, 0.003]))  # it works
        self.end(wire, job, body)

    def note(self, what, answer, wanted, job=None):
        """Whether it took place. The server may end before it answers: then that is not known."""
        if answer.startswith(wanted):
            self.ledger.did(what, job)
        elif answer == REFUSED:
            self.ledger.count["refused"] += 1
        elif answer == ENDED:
            raise ConnectionError("the server ends")
        else:
            self.ledger.wrong.append(f"{what}: {answer!r}")
        return answer.startswith(wanted)

    def pause(self, wire, seconds):
        self.ledger.paused = None
        with self.clock_stands:
            bound = self.ledger.bound(seconds)
            if self.note("pause", wire.ask(f"pause-tube held {seconds}"), b"PAUSED"):
                self.ledger.paused = time.monotonic(), bound

    def put(self, wire, count):
        ledger, rng = self.ledger, self.rng
        delay = rng.choice([0, 0, 1, 2] if self.tube == "later" else [0, 0, 1, 100])
        with self.clock_stands if delay else contextlib.nullcontext():
            body = {"later": LATER + b"%d %d " % ledger.bound(delay), "held": HELD}.get(self.tube, b"") + b"x" * rng.randrange(200)
            ledger.unknown += count
            wire.send(b"".join(b"put %d %d 60 %d\r\n%b\r\n" % (rng.randrange(3), delay, len(body), body)
                               for _ in range(count)))
            for _ in range(count):
                answer = wire.answer()
                self.note("put", answer, b"INSERTED", answer.startswith(b"INSERTED") and int(answer.split()[1]))
                ledger.unknown -= 1

    def end(self, wire, job, body):
        ledger, rng = self.ledger, self.rng
        what = rng.choices(["delete", "release", "bury"], [4, 2, 0 if body.startswith((LATER, HELD)) else 1])[0]
        delay = rng.choice([0, 0, 1])
        if what == "delete":
            with ledger.lock:
                ledger.may_be_deleted.add(job)
        with self.clock_stands if what == "release" else contextlib.nullcontext():
            before = ledger.not_before.get(job)
            if what == "release" and body.startswith(LATER):
                with ledger.lock:
                    ledger.asked.add(job)
                    ledger.not_before[job] = ledger.bound(delay)
            ledger.lets_go(job)
            answer = wire.ask({"delete": f"delete {job}", "release": f"release {job} 1 {delay}", "bury": f"bury {job} 1"}[what])
        if answer == REFUSED:
            ledger.not_before[job] = before
            ledger.keeps(self.number, job)
            self.mine.append((job, body))
        else:
            self.note(what, answer, {"delete": b"DELETED", "release": b"RELEASED", "bury": b"BURIED"}[what], job)


def judge(server, ledger):
    known = there_are(server, ledger.put | ledger.deleted | ledger.may_be_deleted)
    lost = ledger.put - ledger.deleted - ledger.may_be_deleted - known
    revived = ledger.deleted & known
    with Wire(server) as wire:  # all at once: delayed jobs become ready meanwhile
        states = re.findall(r"^current-jobs-(?:ready|delayed|buried|reserved): (\d+)$", wire.ask("stats").decode(), re.M)
    total = sum(map(int, states))
    ledger.wrong += [f"lost: {len(lost)}, such as {min(lost)}"] if lost else []
    ledger.wrong += [f"revived: {len(revived)}, such as {min(revived)}"] if revived else []
    if not len(known) <= total <= len(known) + ledger.unknown:
        ledger.wrong.append(f"{total} jobs are there, {len(known)} of them known, {ledger.unknown} puts without an answer")
    gone = ledger.may_be_deleted - known
    ledger.deleted |= gone  # it took place
    ledger.may_be_deleted -= gone


def step_clock(rng, ledger, clients):
    with contextlib.ExitStack() as all_of_them:
        for client in clients:
            all_of_them.enter_context(client.clock_stands)
        ledger.faults.step(round(rng.choice([1, 1, 5, 3600]) * NS * rng.uniform(-1, 1)))
    ledger.count["clock steps"] += 1


def trouble(rng, ledger, clients, seconds):
    """Until it is time to kill: what each kind of round has."""
    kind = rng.choice(["none", "clock", "full", "clock and full", "fails"] if ledger.faults.works else ["none"])
    end = time.monotonic() + seconds
    if kind == "fails":
        ledger.faults.plan(*rng.choice([("pwrite64", 5), ("fdatasync", 5)]), first=rng.randrange(200), times=EVER)
    while time.monotonic() < end:
        time.sleep(min(0.02, seconds))
        if "clock" in kind:
            step_clock(rng, ledger, clients)
        if "full" in kind:
            ledger.faults.plan("pwrite64", 28, first=rng.randrange(20), times=rng.choice([1, 3, 30]))


def round_of(rng, number, file, ledger):
    with HtwServe(file=file, faults=ledger.faults) as server:
        judge(server, ledger)
        clients = [Client(server, ledger, number * CLIENTS + one) for one in range(CLIENTS)]
        for client in clients:
            client.start()
        trouble(rng, ledger, clients, rng.choice([0.02, 0.1, 0.3, 0.3, 0.9]) * (0.5 + rng.random()) * settings.slowness)
        if server.process.poll() is not None:
            ledger.count["ended by the disk"] += 1
            if server.process.returncode != 1 or not server.said().startswith("ready"):
                ledger.wrong.append(f"status {server.process.returncode}: {server.said()}")
        server.process.kill()
        for client in clients:
            client.join(PATIENCE)
        ledger.faults.relent()
        ledger.server_is_gone()
        server.process.wait()


# holds: serve-1
def test_serve_kills_lose_and_revive_nothing():
    rng, count = random.Random(settings.seed or 1000), collections.Counter()
    for start in range(0, settings.kills, ROUNDS_PER_FILE):
        with Faults(is_needed=False) as faults, tempfile.TemporaryDirectory(prefix="htw-serve-") as folder:
            ledger, file = Ledger(faults), os.path.join(folder, "jobs")
            for number in range(start, min(settings.kills, start + ROUNDS_PER_FILE)):
                round_of(rng, number, file, ledger)
                assert not ledger.wrong, f"round {number}: {ledger.wrong[:10]}"
            with HtwServe(file=file, faults=faults) as server:
                judge(server, ledger)
            assert not ledger.wrong, ledger.wrong[:10]
            count += ledger.count + collections.Counter({"puts without an answer": ledger.unknown})
    print(f"{settings.kills} kills: {dict(count)}")
    for what in ("put", "reserve", "delete", "release", "bury", "kick", "pause", "vanish", "judged delays"):
        assert count[what] > 0 or settings.kills < 10, f"no {what}: {count}"
