# SPDX-License-Identifier: MIT
"""Journals, and leases that are ended once. The clock stands still where it can."""
import asyncio
import copy
import errno
import gc
import math
import os
import sqlite3
import subprocess
import sys
import threading
import time

import pytest

import htw
import htw.aio
from conftest import in_child, run_python, wait_until

if os.environ.get("HTW_PYTHON_JOURNAL") == "0":  # build_native.py has left it out
    with pytest.raises(ImportError, match="needs the library SQLite"):
        import htw.journal
    pytest.skip("built without the journal", allow_module_level=True)
from htw.journal import Change, Journal, JobState, Later, LeaseEndedError, QueuePolicy, Step, Synchronous, put_in


@pytest.fixture
def journal(manual, tmp_path):
    with Journal(tmp_path / "jobs", manual) as journal:
        yield journal


def states(journal, queue="mail"):
    queue = journal.queue(queue)
    return queue.delayed, queue.ready, queue.leased, queue.buried


def settle(manual, journal):
    """What is due now has been handed out, and what that has changed is durable."""
    manual.advance(0)
    journal.sync()


# ---- putting, delivering


def test_job_is_delivered_at_its_time_and_ended_by_its_lease(manual, tmp_path):
    got = []

    def deliver(lease):
        got.append((lease.payload, lease.key, lease.queue, lease.attempt, lease.end, lease.late))
        lease.done_later()

    with Journal(tmp_path / "jobs", manual, deliver=deliver) as journal:
        assert journal.put("later", delay=1, key="k") > 0
        manual.advance(0.999)
        assert not got
        manual.advance(0.001)
        journal.sync()
        assert got == [(b"later", b"k", None, 1, math.inf, 0)] and journal.stats().jobs == 0
        at = journal.now() + 5
        journal.put(at=at)
        journal.put("never", delay=math.inf)
        manual.advance(5)
        assert got[1][0] == b"" and len(got) == 2


def test_delivery_that_raises_goes_to_on_error_and_the_job_comes_again(manual, tmp_path):
    calls, errors = [], []

    def deliver(lease):
        calls.append(lease.id)
        if len(calls) == 1:
            raise RuntimeError("no network")
        lease.done_later()

    with Journal(tmp_path / "jobs", manual, deliver=deliver,
                 on_error=lambda error: errors.append(str(error))) as journal:
        journal.put("mail")
        manual.advance(1)
        gc.collect()
        journal.sync()
        settle(manual, journal)
        assert len(calls) == 2 and errors == ["no network"] and journal.stats().jobs == 0


def test_lease_of_a_closed_journal_is_refused_unless_it_is_durable(manual, tmp_path):
    with Journal(tmp_path / "jobs", manual) as journal:
        journal.put("mail", queue="mail")
        lease = journal.lease("mail")
        journal.put("kept", queue="kept")
        kept = journal.lease("kept", durable=True, lasts=60)
    assert not kept.ended
    with pytest.raises(htw.StoppedError):
        lease.done()
    with Journal(tmp_path / "jobs", manual) as journal:
        assert journal.lease("mail").done() and states(journal, "kept") == (0, 0, 1, 0)


def test_change_is_made_wholly_or_not_at_all_and_ends_its_leases(journal):
    journal.put("first", queue="mail")
    lease = journal.lease("mail")
    change = Change().done(lease).put("next", queue="mail").put("last", delay=5, key=b"k")
    ids = journal.apply(change)
    assert lease.ended and len(ids) == 2
    assert journal.peek(ids[1]).state == JobState.DELAYED
    with pytest.raises(htw.KeyExistsError):
        journal.put("third", key="k", if_absent=True)
    lease = journal.lease("mail")
    with pytest.raises(htw.Error) as raised:
        journal.apply(Change().put("never").done(lease).add(Step.cancel(12345)))
    assert raised.value.errno == errno.ENOENT and not lease.ended and journal.stats().jobs == 2
    assert lease.done() and journal.apply(Change()) == [] and journal.cancel_key("k") and not journal.cancel(ids[1])


# ---- leases


def test_leases_come_by_priority_and_end_once(manual, journal):
    journal.put("slow", queue="mail", priority=7)
    journal.put("first", queue="mail")
    first, second = journal.lease("none", "mail"), journal.lease("mail")
    assert (first.payload, second.payload, second.priority) == (b"first", b"slow", 7)
    assert first.done() and first.ended
    with pytest.raises(LeaseEndedError):
        first.done()
    assert second.extend(3600)
    manual.advance(3599)
    assert states(journal) == (0, 0, 1, 0)
    manual.advance(2)
    journal.sync()
    assert not second.done() and second.ended
    third = journal.lease("mail")
    assert third.attempt == 2 and journal.done(third.id) and not third.done()
    assert not journal.lease("mail")


def test_lease_that_is_dropped_or_released_is_leased_again(manual, journal):
    id = journal.put("mail", queue="mail")
    assert journal.lease("mail").id == id  # dropped at once
    journal.sync()
    with pytest.raises(RuntimeError):
        with journal.lease("mail") as lease:
            raise RuntimeError
    journal.sync()
    assert lease.ended
    lease = journal.lease("mail")
    assert lease.attempt == 3 and lease.release(60, priority=4) and not journal.lease("mail")
    manual.advance(60)
    with journal.lease("mail") as lease:
        lease.bury()
    assert states(journal) == (0, 0, 0, 1) and journal.kick("mail", 5) == 1
    info = journal.peek(id)
    assert (info.attempts, info.releases, info.buries, info.kicks, info.priority) == (4, 3, 1, 1, 4)
    lease = journal.lease_id(id)
    assert not journal.lease_id(id) and not journal.lease_id(12345)
    assert journal.update(Step.release(id)) and not lease.done()
    with journal.lease("mail"):
        pass
    assert journal.peek(id) is None


def test_lease_waits_for_a_job_of_another_thread(threaded, tmp_path):
    with Journal(tmp_path / "jobs", threaded) as journal:
        thread = threading.Thread(target=lambda: (time.sleep(0.02), journal.put("mail", queue="mail")))
        thread.start()
        with journal.lease("mail", timeout=None) as lease:
            assert lease.payload == b"mail"
        thread.join()
        with journal.lease("mail", timeout=0.01) as none, journal.lease_id(12345) as neither:
            assert none is None and neither is None


def test_close_ends_the_requests_that_wait(manual, tmp_path):
    journal = Journal(tmp_path / "jobs", manual)
    later = journal.lease_later("mail")
    failures = []

    def wait():
        try:
            journal.lease("mail", timeout=None)
        except htw.StoppedError as error:
            failures.append(error)

    thread = threading.Thread(target=wait)
    thread.start()
    wait_until(lambda: journal.queue("mail").waiting == 2)
    journal.close()
    thread.join()
    assert isinstance(later.exception(), htw.StoppedError) and len(failures) == 1
    assert journal.closed and journal.close() is None
    for call in (journal.sync, journal.stats, lambda: journal.put("x"),
                 lambda: journal.put_later("x"), lambda: journal.lease("mail"), journal.prometheus):
        with pytest.raises(htw.StoppedError):
            call()


# ---- later


def test_later_has_the_result_of_the_change(journal):
    in_notice = []

    def try_to_wait(later):
        for call in (journal.sync, journal.close, lambda: journal.lease("mail")):
            with pytest.raises(htw.DeadlockError):
                call()
        in_notice.append(journal.put_later("from a notice"))

    later = journal.put_later("mail", queue="mail")
    later.add_done_callback(try_to_wait)
    id = later.result()
    assert isinstance(later, Later) and journal.peek(id).payload == b"mail" and not later.cancel()
    journal.sync()
    assert in_notice[0].result() > 0
    assert journal.update_later(Step.bury(id)).result() is True
    assert journal.kick_later("mail", 5).result() == 1
    assert journal.apply_later(Change().put("a").put("b")).result()[1] > 0
    failure = journal.update_later(Step.cancel(12345)).exception()
    assert failure.errno == errno.ENOENT
    lease = journal.lease("mail")
    assert lease.done_later().result() is True and lease.ended
    with pytest.raises(ValueError):
        journal.put_later("x", queue="")
    assert not htw.journal._notices


def test_request_that_is_cancelled_gets_no_job(journal):
    later = journal.lease_later("mail")
    assert later.cancel() and later.cancelled()
    journal.put("mail", queue="mail")
    assert journal.lease("mail").attempt == 1
    waiting = journal.lease_later("other", timeout=60)
    journal.put("other", queue="other")
    assert waiting.result().payload == b"other"
    journal.sync()
    assert journal.queue("mail").waiting == 0


def test_asyncio_awaits_changes_and_leases(tmp_path):
    async def main():
        got = []
        async with htw.aio.Scheduler() as scheduler:
            with Journal(tmp_path / "jobs", scheduler, deliver=got.append) as journal:
                worker = asyncio.create_task(work(journal))
                await journal.put_later("mail", queue="mail")
                await journal.put_later("delayed", delay=0.01)
                assert await worker == b"mail"
                while not got:
                    await asyncio.sleep(0.001)
                assert got[0].payload == b"delayed"
                await got[0].done_later()
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(wait(journal), 0.01)
                journal.sync()
                assert journal.stats().jobs == 0 and journal.queue("mail") is None

    async def wait(journal):
        await journal.lease_later("mail")

    async def work(journal):
        lease = await journal.lease_later("mail")
        await lease.done_later()
        return lease.payload

    asyncio.run(main())


# ---- looking, policies


def test_jobs_and_queues_are_shown_and_obey_policy_and_pause(manual, journal):
    policy = QueuePolicy(attempts_max=1, initial=60, cap=3600, jitter=0)
    journal.set_policy("mail", policy)
    ids = journal.apply(Change().put("one", queue="mail").put("two", queue="mail"))
    journal.lease("mail").release()
    assert states(journal) == (0, 1, 0, 1)
    assert [job.id for job in journal.jobs("mail", JobState.BURIED)] == ids[:1]
    journal.pause("mail", 60)
    assert journal.queue("mail").paused_until == journal.now() + 60 and not journal.lease("mail")
    journal.resume("mail")
    manual.advance(0)
    assert journal.lease("mail").done()
    default, mail = journal.queues()
    assert default.name is None and mail.name == "mail" and mail.policy == policy
    assert mail.paused_until is None and journal.queue("none") is None
    change = Change()
    for i in range(250):
        change.put(str(i), queue="many")
    many = journal.apply(change)
    assert [job.id for job in journal.jobs("many", JobState.READY)] == many


def test_statistics_are_those_of_the_library(journal):
    journal.put("mail", queue="mail")
    stats = journal.stats()
    assert stats.put == stats.jobs == 1 and stats.commit.count >= 1
    assert "htw_journal_put_total 1\n" in journal.prometheus()


# ---- life


def test_journal_that_cannot_be_opened_says_why(journal, manual, tmp_path):
    with pytest.raises(htw.BusyError, match=str(tmp_path / "jobs")):
        Journal(tmp_path / "jobs")
    with pytest.raises(htw.Error) as raised:
        Journal("/nowhere/jobs")
    assert raised.value.errno == errno.ENOENT
    with pytest.raises(ValueError, match="near_ns"):
        Journal(tmp_path / "other", manual, near=10 * 86400)
    with pytest.raises(ValueError):
        Journal(tmp_path / "other", manual, synchronous=7)
    with Journal(tmp_path / "other", synchronous=Synchronous.NORMAL) as without:
        without.put("mail")
        with pytest.raises(ValueError):
            without.lease("mail")
    with pytest.raises(TypeError):
        copy.copy(journal)
    with pytest.raises(ValueError):
        journal.put("x", delay=1, at=1)
    with pytest.raises(TypeError):
        htw.journal.Lease()
    assert not htw.journal._notices and len(htw.journal._hooks) == 1


def test_journal_that_is_dropped_open_is_closed(manual, tmp_path):
    journal = Journal(tmp_path / "jobs", manual)
    journal.put_later("mail")
    with pytest.warns(ResourceWarning, match="unclosed journal"):
        del journal
    with Journal(tmp_path / "jobs") as journal:
        assert journal.stats().found == 1


def test_journal_that_is_dropped_in_its_own_callback_is_closed_by_another_thread(manual, tmp_path):
    gate, kept = threading.Event(), [Journal(tmp_path / "jobs", manual)]

    def drop(later):
        gate.wait()
        kept.clear()

    later = kept[0].put_later("mail")
    later.add_done_callback(drop)
    with pytest.warns(ResourceWarning, match="unclosed journal"):
        gate.set()
        wait_until(lambda: not kept and not htw.journal._hooks)
    with Journal(tmp_path / "jobs") as journal:
        assert journal.stats().found == 1


def test_lease_keeps_the_memory_of_its_journal(manual, tmp_path):
    journal = Journal(tmp_path / "jobs", manual)
    journal.put("mail", queue="mail")
    lease = journal.lease("mail")
    journal.close()
    del journal
    assert repr(lease).endswith("of job %d>" % lease.id)
    del lease


def test_end_of_the_interpreter_closes_journals_before_schedulers(tmp_path):
    program = """
import sys, htw
from htw.journal import Journal
journal = Journal(sys.argv[1], htw.Scheduler(), deliver=lambda lease: lease.done_later())
for i in range(100):
    journal.put_later(str(i), delay=0.001 * i)
waiting = journal.lease_later("mail")
"""
    ended = run_python(program, str(tmp_path / "jobs"))
    assert ended.returncode == 0 and "Error" not in ended.stderr, ended.stderr


def test_child_process_can_use_nothing_of_its_parent(journal):
    def child():
        for call in (journal.sync, lambda: journal.put("x")):
            with pytest.raises(htw.ForkedError):
                call()
        journal.close()

    journal.put("mail", queue="mail")
    in_child(child)
    assert journal.stats().jobs == 1


def test_package_works_without_the_extension():
    program = "import sys; sys.modules['htw._journal_native'] = None; import htw.aio, htw.journal"
    ended = run_python(program)
    assert "needs the library SQLite" in ended.stderr


def test_job_queue_of_the_examples_sends_all_mails():
    example = os.path.join(os.path.dirname(__file__), "..", "examples", "job_queue.py")
    ended = subprocess.run([sys.executable, example], capture_output=True, text=True, timeout=60,
                           env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    assert ended.returncode == 0 and "3 of 3 mails were sent" in ended.stdout, ended.stderr


# ---- guests


def test_transaction_of_a_program_puts_jobs(manual, tmp_path):
    program = sqlite3.connect(tmp_path / "shop", timeout=60)
    program.execute("CREATE TABLE orders (job INTEGER)")
    with Journal(tmp_path / "shop", manual, guest=True, inbox=math.inf) as journal:
        with program:
            id = put_in(program, "mail", at=0, queue="mail", key="k", priority=3, lease=9)
            program.execute("INSERT INTO orders VALUES (?)", (id,))
        with pytest.raises(htw.KeyExistsError):
            put_in(program, "mail", key="k", if_absent=True)
        program.rollback()
        with pytest.raises(ZeroDivisionError), program:
            put_in(program, "not put", queue="mail")
            1 / 0
        while program.execute("SELECT count(*) FROM htw_inbox").fetchone() != (0,):
            journal.wake()
            journal.sync()
        with journal.lease("mail") as job:
            assert (job.id, job.payload, job.key, job.priority) == (id, b"mail", b"k", 3)
        assert not journal.lease("mail")
        with pytest.raises(ValueError):
            put_in(program, at=0, delay=0)
    program.close()
