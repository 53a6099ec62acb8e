# SPDX-License-Identifier: MIT
"""demo.py - what ./dev demo serve shows: jobs that are delayed, and a kill under load. usage: demo.py [SECONDS]

The programs are those of the build in the folder HTW_BUILD. Fails if a job that was acknowledged is lost, or one that was deleted
comes back.
"""
import os
import pathlib
import random
import signal
import sys
import tempfile
import threading
import time

sys.path.append(str(pathlib.Path(__file__).parents[1] / "kit"))
from servers import HtwServe  # noqa: E402
from wire import Wire  # noqa: E402

SECONDS = float(sys.argv[1]) if len(sys.argv) > 1 else 4
CLIENTS = 4


class Demo:
    def __init__(self, file):
        self.file, self.port = file, 0
        self.put, self.deleted, self.unanswered, self.back = set(), set(), set(), set()  # jobs
        self.start()

    def start(self):
        print(f"$ htw serve --listen {self.port} jobs", flush=True)
        self.server = HtwServe("--listen", str(self.port), file=self.file)
        self.port = self.server.port
        print(self.server.said(), end="", flush=True)

    def persist(self, act):
        """As a client that connects again when the server has gone."""
        while True:
            try:
                with Wire(self) as wire:
                    return act(wire)
            except OSError:
                time.sleep(0.05)

    def show_delays(self):
        begun = time.monotonic()

        def tell(what):
            print(f"  {time.monotonic() - begun:5.2f} s  {what}", flush=True)

        def work(wire):
            for _ in range(2):
                job, body = wire.reserve(10)
                tell(f"the worker has '{body.decode()}', and deletes it")
                wire.ask(f"delete {job}")
        worker = threading.Thread(target=self.persist, args=(work,))
        worker.start()
        with Wire(self) as wire:
            tell("a client puts 'reminder', to be delayed by 2 s, and 'mail'")
            wire.put(b"reminder", delay=2)
            wire.put(b"mail")
        worker.join()

    def produce(self, wire):
        while time.monotonic() < self.end:
            self.put.add(wire.put(b"x" * 100, delay=random.randrange(2)))

    def work(self, wire):
        """Until the producers have ended and no job is left."""
        while True:
            got = wire.reserve(1)
            if got:
                self.delete(wire, got[0])
            elif time.monotonic() > self.end and self.is_empty(wire):
                return

    def delete(self, wire, job):
        if job in self.deleted:
            self.back.add(job)
        self.unanswered.add(job)  # until it is
        if wire.ask(f"delete {job}") == b"DELETED":
            self.deleted.add(job)
            self.unanswered.discard(job)

    def is_empty(self, wire):
        return all(wire.stat("stats", f"current-jobs-{state}") == "0" for state in ("ready", "delayed", "reserved"))

    def show_kill(self):
        self.end = time.monotonic() + SECONDS
        threads = [threading.Thread(target=self.persist, args=(act,)) for act in [self.produce, self.work] * CLIENTS]
        for thread in threads:
            thread.start()
        time.sleep(SECONDS / 2)
        print(f"  {len(self.put)} jobs are put, {len(self.deleted)} deleted. Now:\n\n$ kill -9 {self.server.process.pid}", flush=True)
        self.server.kill()
        self.start()
        for thread in threads:
            thread.join()

    def judge(self):
        lost, gone = self.put - self.deleted - self.unanswered, self.unanswered - self.deleted
        print("\nThe clients have connected again, and gone on until no job was left:\n\n"
              f"  {len(self.put)} jobs were put and acknowledged (INSERTED); {len(lost)} of them are lost\n"
              f"  {len(self.deleted)} jobs were deleted and acknowledged (DELETED); {len(self.back)} of them came back\n"
              f"  put, but the kill took the answer: {len((self.deleted | gone) - self.put)}; "
              f"deleted, but it took the answer: {len(gone)}\n", flush=True)
        return not lost and not self.back


def main():
    with tempfile.TemporaryDirectory(prefix="htw-demo-") as folder:
        demo = Demo(os.path.join(folder, "jobs"))
        try:
            print("\nThe clients speak the protocol of beanstalkd. A worker waits:\n")
            demo.show_delays()
            print(f"\nNow {CLIENTS} clients put jobs, half of them with a delay of 1 s, and {CLIENTS} workers delete them.")
            demo.show_kill()
            is_well = demo.judge()
            print(f"$ kill {demo.server.process.pid}")
            demo.server.stop()
            return 0 if is_well else 1
        finally:
            demo.server.kill()


signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))
sys.exit(main())
