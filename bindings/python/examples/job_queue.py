# SPDX-License-Identifier: MIT
"""A queue of mails that survives a crash: workers lease them by priority, one that fails is tried again after a
delay, and after three attempts it is put aside until someone looks at it."""
import pathlib
import sys
import tempfile
import threading

import htw
from htw.journal import Change, Journal, JobState, QueuePolicy

sent = []
server_is_up = threading.Event()


def send(lease):
    """May be called twice for a mail if the process crashes: lease.id is the same then."""
    if lease.payload == b"to eve" and not server_is_up.is_set():
        raise ConnectionError("no such server")
    sent.append(lease.payload)


def work(journal):
    """Until no mail has come for a second."""
    while lease := journal.lease("mail", timeout=1):
        try:
            with lease:  # done at its end; an exception gives it back
                send(lease)
        except ConnectionError as error:
            print(f"{lease.payload.decode()}, attempt {lease.attempt}: {error}")


def work_in_threads(journal):
    workers = [threading.Thread(target=work, args=(journal,)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()


with tempfile.TemporaryDirectory() as folder, htw.Scheduler() as scheduler, \
        Journal(pathlib.Path(folder, "queue"), scheduler) as journal:
    journal.set_policy("mail", QueuePolicy(attempts_max=3, initial=0.02, cap=1))
    mails = Change()  # all or none
    for mail in "to ada", "to eve", "to bob":
        mails.put(mail, queue="mail")
    journal.apply(mails)
    work_in_threads(journal)
    for job in journal.jobs("mail", JobState.BURIED):
        print(f"{job.payload.decode()} was put aside after {job.attempts} attempts")
    server_is_up.set()
    journal.kick("mail", 10)
    work_in_threads(journal)
    print(f"{len(sent)} of 3 mails were sent")
    left = journal.stats().jobs
sys.exit(left > 0 or len(sent) != 3)
