# SPDX-License-Identifier: MIT
"""kill -9 at random moments under mixed load: what was acknowledged holds.

Several clients put, reserve, delete, release, bury and kick, until the server is killed; it starts again on the same
file. Each client keeps what it was told. Then: no job whose INSERTED arrived is lost, none whose DELETED arrived is there
again, and at no time two clients hold the same job.
"""
import os
import random
import re
import signal
import socket
import tempfile
import threading
import time

from clients import Wire
from harness import PATIENCE, notes, own, settings
from servers import htw_serve

CLIENTS = 8
TUBES = 3


class Ledger:
    """What the clients were told. A command that was sent and not answered may have taken place."""

    def __init__(self):
        self.lock = threading.Lock()
        self.put, self.deleted, self.may_be_deleted = set(), set(), set()
        self.holders = {}
        self.faults = []
        self.unknown = 0  # puts without an answer
        self.count = {"put": 0, "reserve": 0, "delete": 0, "release": 0, "bury": 0, "kick": 0}

    def holds(self, client, job):
        with self.lock:
            self.count["reserve"] += 1
            if job in self.holders:
                self.faults.append(f"job {job} is reserved by two: {self.holders[job]} and {client}")
            if job in self.deleted:
                self.faults.append(f"job {job} is revived: it was deleted, and reserved again")
            self.holders[job] = client

    def lets_go(self, job):
        """Before the command is sent: afterwards somebody else may have it at once."""
        with self.lock:
            self.holders.pop(job, None)

    def did(self, what, job=None):
        with self.lock:
            self.count[what] += 1
            if what == "put":
                self.put.add(job)
            if what == "delete":
                self.deleted.add(job)
                self.may_be_deleted.discard(job)

    def server_is_gone(self):
        self.holders.clear()


class Client(threading.Thread):
    def __init__(self, server, ledger, seed):
        super().__init__()
        self.server, self.ledger, self.rng = server, ledger, random.Random(seed)
        self.number = seed

    def run(self):
        try:
            with Wire(self.server) as wire:
                wire.ask(f"use t{self.rng.randrange(TUBES)}")
                for tube in range(TUBES):
                    wire.ask(f"watch t{tube}")
                while True:
                    self.step(wire)
        except (OSError, ConnectionError):
            pass
        except Exception as fault:
            self.ledger.faults.append(repr(fault))

    def step(self, wire):
        rng, ledger = self.rng, self.ledger
        if rng.random() < 0.1:
            wire.ask(f"kick {rng.randrange(5)}")
            ledger.did("kick")
        if rng.random() < 0.55:
            wire_puts = rng.choice([1, 1, 5])
            ledger.unknown += wire_puts
            body = b"x" * rng.randrange(200)
            wire.send(b"".join(b"put %d %d 60 %d\r\n%b\r\n" % (rng.randrange(3), rng.choice([0, 0, 1, 100]), len(body), body)
                               for _ in range(wire_puts)))
            for _ in range(wire_puts):
                ledger.did("put", int(wire.answer().split()[1]))
                ledger.unknown -= 1
            return
        job = wire.reserve()
        if job is None:
            return
        job = job[0]
        ledger.holds(self.number, job)
        what = rng.choices(["delete", "release", "bury"], [4, 2, 1])[0]
        ledger.lets_go(job)
        if what == "delete":
            with ledger.lock:
                ledger.may_be_deleted.add(job)
        answer = wire.ask({"delete": f"delete {job}", "release": f"release {job} 1 {rng.choice([0, 0, 1])}",
                           "bury": f"bury {job} 1"}[what])
        if answer not in (b"DELETED", b"RELEASED", b"BURIED"):
            ledger.faults.append(f"{what} of job {job}, which it holds: {answer!r}")
        ledger.did(what, job)


def there_are(server, jobs):
    """Those of `jobs` that the server has."""
    found, jobs = set(), sorted(jobs)
    with Wire(server) as wire:
        for start in range(0, len(jobs), 1000):
            part = jobs[start:start + 1000]
            wire.send(b"".join(b"peek %d\r\n" % job for job in part))
            found.update(job for job, answer in zip(part, wire.answers(len(part))) if answer.startswith(b"FOUND"))
    return found


def judge(server, ledger):
    known = there_are(server, ledger.put | ledger.deleted | ledger.may_be_deleted)
    lost = ledger.put - ledger.deleted - ledger.may_be_deleted - known
    revived = ledger.deleted & known
    with Wire(server) as wire:  # all at once: delayed jobs become ready meanwhile
        states = re.findall(r"^current-jobs-(?:ready|delayed|buried|reserved): (\d+)$", wire.ask("stats").decode(), re.M)
    total = sum(map(int, states))
    ledger.faults += [f"lost: {len(lost)}, such as {min(lost)}"] if lost else []
    ledger.faults += [f"revived: {len(revived)}, such as {min(revived)}"] if revived else []
    if not len(known) <= total <= len(known) + ledger.unknown:
        ledger.faults.append(f"{total} jobs are there, {len(known)} of them known, {ledger.unknown} puts without an answer")
    gone = ledger.may_be_deleted - known
    ledger.deleted |= gone  # it took place
    ledger.may_be_deleted -= gone


def round_of(number, file, ledger, relay=None):
    rng = random.Random(settings.seed or 1000 + number)
    with htw_serve(file=file) as server:
        judge(server, ledger)
        target = relay(server) if relay else server
        clients = [Client(target, ledger, number * CLIENTS + one) for one in range(CLIENTS)]
        for client in clients:
            client.start()
        time.sleep(rng.choice([0.02, 0.1, 0.3]) * (0.5 + rng.random()) * settings.slowness)
        server.process.send_signal(signal.SIGKILL)
        for client in clients:
            client.join(PATIENCE)
        ledger.server_is_gone()
        server.process.wait()


def kill(rounds, relay=None):
    ledger = Ledger()
    with tempfile.TemporaryDirectory(prefix="htw-serve-") as folder:
        file = os.path.join(folder, "jobs")
        for number in range(rounds):
            round_of(number, file, ledger, relay)
            if ledger.faults:
                break
        with htw_serve(file=file) as server:
            judge(server, ledger)
            server.finish()
    return ledger


@own()
def kills_lose_and_revive_nothing(_):
    ledger = kill(settings.kills)
    notes.append(f"{settings.kills} kills: " + ", ".join(f"{what} {count}" for what, count in ledger.count.items()) +
                 f"; {ledger.unknown} puts were not answered")
    assert not ledger.faults, "\n   ".join(ledger.faults[:10])


class Hasty:
    """A relay before the server that says DELETED before it has asked the server: the harness must find it."""

    def __init__(self, server):
        self.server = server
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        for _ in range(CLIENTS):
            client, _ = self.listener.accept()
            threading.Thread(target=self.pass_on, args=(client,), daemon=True).start()
        self.listener.close()

    def pass_on(self, client):
        try:
            with client, Wire(self.server) as wire:
                while data := client.recv(1 << 16):
                    is_delete = data.startswith(b"delete ")
                    if is_delete:
                        client.sendall(b"DELETED\r\n")
                        time.sleep(0.01)
                    wire.send(data)
                    for _ in range(max(1, data.count(b"put "))):
                        answer = wire.answer() + b"\r\n"
                        if not is_delete:
                            client.sendall(answer)
        except OSError:
            pass


@own()
def an_early_acknowledgement_is_found(_):
    ledger = kill(5 * settings.kills, Hasty)
    assert any("revived" in fault for fault in ledger.faults), f"not found: {ledger.count}"
