# SPDX-License-Identifier: MIT
"""Jobs that survive a crash: delays, each handed out at its time, and queues whose jobs are leased.

>>> with Scheduler() as scheduler, Journal("shop.journal", scheduler) as journal:
...     journal.put("to ada", queue="mail")                 # it is on the disk
...     while job := journal.lease("mail", timeout=1):
...         with job:                                       # done at its end; an exception gives it back
...             send(job.payload)

docs/journal.md of the library explains what is promised: a job is handed out at least once, so what it does
must do no harm the second time. Methods that change something wait for the disk, with the GIL released; those
named ``..._later`` return a Later, a ``concurrent.futures.Future`` that can be awaited.

Instants are seconds since 1970, as time.time() counts them; with Clock.MANUAL those of that clock.

This is an optional part of the package: importing it raises ImportError where the package was built
without SQLite, or that is not installed.
"""
from __future__ import annotations

import asyncio
import atexit
import concurrent.futures
import errno
import itertools
import math
import os
import sqlite3
import sys
import threading
import time
import warnings
import weakref
from types import TracebackType
from typing import Any, Callable, Generator, Iterator, Literal, Optional, Type, TypeVar, Union

from htw import _base
from htw._base import (
    NEVER_NS,
    Bound,
    Closing,
    Error,
    Key,
    KeyExistsError,
    Stats,
    limit_ns,
    report,
    stats_of,
    text_of,
    to_bytes,
    to_index,
    to_ns,
    to_seconds,
)
from htw._jobs import (
    LOST,
    NOW_NS,
    Change,
    JobInfo,
    JobState,
    LeaseEndedError,
    NativeChange,
    QueuePolicy,
    QueueStats,
    Step,
    Synchronous,
    bytes_of,
    checked,
    failure_of,
    fill_job,
    is_made,
    job_of,
    name_of,
    name_to_c,
    queue_of,
)
from htw._journal_native import ffi, lib
from htw._scheduler import Clock, Scheduler

__all__ = ["Change", "JobInfo", "JobState", "Journal", "Later", "Lease", "LeaseEndedError",
           "NoLease", "QueuePolicy", "QueueStats", "Step", "Synchronous", "put_in"]

T = TypeVar("T")


class Later(concurrent.futures.Future[T]):
    """The result of a change that is made later: ``result()`` waits for it, and so does ``await``.

    It is set in the thread that writes, in which callbacks of the future run: these must not call methods that
    wait. A change cannot be cancelled; a request for a lease can.
    """

    _journal: Optional[Journal] = None
    _request: Optional[int] = None  # of a lease

    def cancel(self) -> bool:
        """Ends a request for a lease, if no job was leased yet. Of a change: returns False."""
        journal, request = self._journal, self._request
        if journal is None or request is None or self.done():
            return self.cancelled()
        is_cancelled = super().cancel()
        lib.py_lease_cancel(journal._pointer, request)
        return is_cancelled

    def __await__(self) -> Generator[Any, None, T]:
        return (yield from asyncio.wrap_future(self).__await__())


# ---- what the library calls; see native/journal.c

_numbers = itertools.count(1)


class _Hooks:
    """What the hooks of a journal use. Does not keep it alive."""

    def __init__(self, journal: Journal, deliver: Optional[Callable[[Lease], object]],
                 stopped: Optional[Callable[[str], object]],
                 on_error: Optional[Callable[[BaseException], object]]) -> None:
        self.journal = weakref.ref(journal)
        self.deliver = deliver
        self.stopped = stopped
        self.on_error = on_error

    def call(self, function: Callable[..., object], *args: object) -> None:
        try:
            function(*args)
        except BaseException as exception:
            if self.on_error is None or not isinstance(exception, Exception):
                report(exception, function)
                return
            try:
                self.on_error(exception)
            except BaseException as second:
                report(second, self.on_error)


_hooks: dict[int, _Hooks] = {}
_notices: dict[int, tuple[Later[Any], Optional[Callable[[], Any]]]] = {}
_visits: dict[int, list[Any]] = {}


def _lost(kind: Any, exception: BaseException, traceback: TracebackType) -> None:
    report(exception, None)


@ffi.def_extern(onerror=_lost)
def py_deliver(arg: int, delivery: Any) -> None:
    hooks = _hooks[arg]
    journal = hooks.journal()
    if journal is not None and hooks.deliver is not None:
        hooks.call(hooks.deliver, Lease._of(journal, delivery))


@ffi.def_extern(onerror=_lost)
def py_stopped(arg: int, why: Any) -> None:
    hooks = _hooks[arg]
    if hooks.stopped is not None:
        hooks.call(hooks.stopped, ffi.string(why).decode(errors="replace"))


@ffi.def_extern(onerror=_lost)
def py_durable(arg: int, result: int) -> None:
    later, value = _notices.pop(arg)
    if result < 0:
        later.set_exception(failure_of(result))
    else:
        later.set_result(result if value is None else value())


@ffi.def_extern(onerror=_lost)
def py_leased(arg: int, result: int, delivery: Any) -> None:
    later, _ = _notices.pop(arg)
    journal = later._journal
    assert journal is not None
    lease = Lease._of(journal, delivery) if result == 0 else _no_lease
    if not later.set_running_or_notify_cancel():
        return  # and a job is given back, when the lease goes
    if result in (0, -errno.ETIMEDOUT):
        later.set_result(lease)
    else:
        later.set_exception(failure_of(result))


@ffi.def_extern(onerror=_lost)
def py_visit(arg: int, info: Any) -> bool:
    _visits[arg].append(JobInfo(
        info.id, JobState(info.state), bytes_of(info.payload, info.payload_size) or b"",
        bytes_of(info.key, info.key_size), name_of(info.queue), to_seconds(info.deadline_ns),
        None if info.put_ns == NOW_NS else to_seconds(info.put_ns), to_seconds(info.lease_ns),
        info.priority, info.attempts, info.releases, info.timeouts, info.buries, info.kicks))
    return True



# ---- leases


class Lease(Bound):
    """A job that is handed out, and the right to say what becomes of it, once.

    A lease that is dropped and was not ended gives its job back. As a context manager it ends the job, or gives
    it back where an exception passes. The methods that end it return False if it had ended before: by its
    time, or because another one has ended the job.
    """

    __slots__ = ("_journal", "_ended", "id", "payload", "key", "queue", "priority", "attempt",
                 "deadline", "late", "end", "__weakref__")

    _journal: Journal
    _ended: bool
    id: int
    payload: bytes
    key: Optional[bytes]
    queue: Optional[str]
    priority: int
    attempt: int  #: which attempt this is: 1, 2, ...
    deadline: float
    late: float  #: seconds from the deadline until it was handed out
    end: float  #: when the lease ends by itself; math.inf: it was delivered, and does not

    @classmethod
    def _of(cls, journal: Journal, delivery: Any) -> Lease:
        self = cls.__new__(cls)
        self._journal = journal
        self.id = delivery.id
        self.attempt = delivery.attempt
        self._ended = False
        self.payload = bytes_of(delivery.payload, delivery.payload_size) or b""
        self.key = bytes_of(delivery.key, delivery.key_size)
        self.queue = name_of(delivery.queue)
        self.priority = delivery.priority
        self.deadline = to_seconds(delivery.deadline_ns)
        self.late = to_seconds(delivery.late_ns)
        self.end = to_seconds(delivery.lease_end_ns)
        return self

    def __init__(self) -> None:
        raise TypeError("a lease is made by Journal.lease()")

    @property
    def ended(self) -> bool:
        """Whether this object has ended the lease, or found that it had ended."""
        return self._ended

    def done(self) -> bool:
        """Ends the job, and waits until that is durable."""
        return self._finish(Step.done(self.id))

    def done_later(self) -> Later[bool]:
        """Ends the job, without waiting. Its exception is LeaseEndedError if the lease had ended."""
        return self._finish_later(Step.done(self.id))

    def release(self, delay: Optional[float] = None, *, priority: Optional[int] = None) -> bool:
        """Gives the job back for `delay` seconds; without it as the policy of its queue says, or now."""
        return self._finish(self._release(delay, priority))

    def release_later(self, delay: Optional[float] = None, *,
                      priority: Optional[int] = None) -> Later[bool]:
        """The same, without waiting."""
        return self._finish_later(self._release(delay, priority))

    def bury(self, *, priority: Optional[int] = None) -> bool:
        """Puts the job aside until it is kicked."""
        return self._finish(Step.bury(self.id, priority=priority))

    def bury_later(self, *, priority: Optional[int] = None) -> Later[bool]:
        """The same, without waiting."""
        return self._finish_later(Step.bury(self.id, priority=priority))

    def extend(self, seconds: float) -> bool:
        """The lease ends in `seconds` from now. Returns False if it has ended."""
        end = to_seconds(self._journal._after(seconds))
        result = self._journal._update(self._own(Step.extend(self.id, end)))
        if result == 0:
            self.end = end
        elif -result in (errno.ENOENT, errno.ESTALE):  # EALREADY: what was delivered has no end
            self._ended = True
        return is_made(result)

    def _release(self, delay: Optional[float], priority: Optional[int]) -> Step:
        at = None if delay is None else to_seconds(self._journal._after(delay))
        return Step.release(self.id, at, priority=priority)

    def _own(self, step: Step) -> Step:
        if self._ended:
            raise LeaseEndedError(errno.ESTALE, "the lease has ended")
        return step._of(self)

    def _finish(self, step: Step) -> bool:
        result = self._journal._update(self._own(step))
        self._ended = result == 0 or -result in LOST
        return is_made(result)

    def _finish_later(self, step: Step) -> Later[bool]:
        later: Later[bool] = self._journal._later(Change().add(self._own(step)), lambda native: True)
        self._ended = True
        return later

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        if not self._ended:
            if kind is None:
                self.done()
            else:
                self._give_back()

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if not getattr(self, "_ended", True) and not is_finalizing():
            self._give_back()

    def _give_back(self) -> None:
        self._ended = True
        lib.py_give_back(self._journal._pointer, self.id, self.attempt)

    def __repr__(self) -> str:
        return f"<htw.journal.Lease of job {self.id}{', ended' if self._ended else ''}>"


class NoLease:
    """In place of a lease: no job has come in time, or it cannot be leased. It is false, and ``with`` gives None of it."""

    __slots__ = ()

    def __bool__(self) -> Literal[False]:
        return False

    def __enter__(self) -> None:
        return None

    def __exit__(self, *exception: object) -> None:
        return None


_no_lease = NoLease()


# ---- journals

_live: weakref.WeakSet[Journal] = weakref.WeakSet()


def _close_all() -> None:
    """Before the schedulers: a thread of a journal that needed the GIL later would find none."""
    for journal in list(_live):
        try:
            journal.close()
        except Exception as exception:
            report(exception, journal)


atexit.register(_close_all)


class Journal(Closing):
    """Jobs in a file. One journal may have it open.

    ``path``
        the file; it is created for its owner alone.
    ``scheduler``
        hands out what is due; without one jobs can be put, cancelled and looked at. Close the journal
        before it.
    ``deliver(lease)``
        receives the jobs of the default queue, in a thread of the scheduler or in the loop of
        htw.aio.Scheduler; without it they are leased, as those of the other queues.
    ``stopped(why)``
        is called if the journal stops by itself, as the disk has failed.
    ``on_error(exception)``
        receives what `deliver` and `stopped` raise; without it sys.unraisablehook does.

    The other options are those of ``struct htw_journal_options`` in htw/journal.h, with times in seconds; 0
    means the default there. Any thread may call any method, also while another one closes the journal,
    which then raises StoppedError. `deliver` and callbacks of a Later may call all methods named ``..._later``;
    those that wait raise DeadlockError in a callback.

    Close a journal, or use it as a context manager. One that is dropped open is closed, with a
    ResourceWarning; one that is open when the interpreter ends is closed then.
    """

    _closed = True  # until there is one

    def __init__(self, path: Union[str, os.PathLike[str]], scheduler: Optional[Scheduler] = None, *,
                 deliver: Optional[Callable[[Lease], object]] = None,
                 stopped: Optional[Callable[[str], object]] = None,
                 on_error: Optional[Callable[[BaseException], object]] = None,
                 synchronous: Synchronous = Synchronous.FULL, parallel: int = 0, near: float = 0,
                 max_memory: int = 0, max_jobs: int = 0, max_in_flight: int = 0, gather: float = 0,
                 lease: float = 0, guest: bool = False,
                 inbox: float = 0) -> None:
        self._begin()
        name = os.fsencode(path)
        if b"\0" in name:
            raise ValueError("a path has no NUL")
        options = ffi.new("struct htw_journal_options *")
        lib.htw_journal_options_init(options)
        options.synchronous = Synchronous(synchronous)
        options.parallel = parallel
        options.near_ns = to_ns(near)
        options.max_memory = max_memory
        options.max_jobs = max_jobs
        options.max_in_flight = max_in_flight
        options.gather_ns = to_ns(gather)
        options.lease_ns = to_ns(lease)
        options.is_guest = guest
        options.inbox_ns = to_ns(inbox)
        self._number = next(_numbers)
        self._scheduler = scheduler
        _hooks[self._number] = _Hooks(self, deliver, stopped, on_error)
        pointer = ffi.new("struct py_journal **")
        try:
            checked(lib.py_journal_open(
                pointer, ffi.NULL if scheduler is None else scheduler._pointer, name, options,
                deliver is not None, stopped is not None, self._number))
        except BaseException:
            del _hooks[self._number]
            raise
        # Freed with the last reference, never while a thread is in a call of a method.
        self._pointer = pointer[0]
        self._lease = _base.Lease(self._pointer, lib.py_journal_destroy,
                                  None if scheduler is None else scheduler._lease)
        self._closed = False
        _live.add(self)

    # ---- life

    def close(self) -> None:
        """Stops to hand out jobs, waits for `deliver`, and makes durable what was changed before.

        Requests for leases that wait fail with StoppedError. Leases that are not ended end: their jobs are
        ready when the file is opened again. Raises Error if changes without a Later were lost.
        """
        result = lib.py_journal_close(self._pointer)
        if result == -errno.EDEADLK:
            raise _base.DeadlockError(errno.EDEADLK, "a hook of the journal must not close it")
        if result == -errno.EALREADY:
            return
        self._closed = True
        if result != -errno.EOWNERDEAD:  # nothing of it runs in a child process
            _hooks.pop(self._number, None)
            checked(result)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._closed or is_finalizing():
            return
        warnings.warn(f"unclosed journal {self!r}", ResourceWarning, stacklevel=2, source=self)
        result = lib.py_journal_close(self._pointer)
        if result == -errno.EDEADLK:  # the last reference has gone in a hook of it
            threading.Thread(target=self.close, name="htw-close").start()
        elif result != -errno.EOWNERDEAD:
            _hooks.pop(self._number, None)

    def now(self) -> float:
        """The present time of instants, in seconds."""
        return self._after(0) / 1e9

    def _after(self, delay: float) -> int:
        now_ns = time.time_ns()
        if self._scheduler is not None and lib.htw_scheduler_clock(self._scheduler._pointer) == Clock.MANUAL:
            now_ns = lib.htw_scheduler_now(self._scheduler._pointer)
        return limit_ns(now_ns + to_ns(delay))

    # ---- changes

    def put(self, payload: Key = b"", *, delay: Optional[float] = None, at: Optional[float] = None,
            key: Optional[Key] = None, if_absent: bool = False, queue: Optional[str] = None,
            priority: int = 0, lease: float = 0) -> int:
        """Puts a job, waits until it is durable, and returns its id.

        ``delay``, ``at``
            when it is handed out: so many seconds from now, or an instant; without them now.
            math.inf: never.
        ``key``
            at most one job has a key: the new job replaces the one that has it. With ``if_absent`` that one
            stays, and KeyExistsError is raised.
        ``queue``, ``priority``
            which queue it is in, None: the default one; 0 comes first.
        ``lease``
            how long its leases last, in seconds; 0: as the options of the journal say.
        """
        return self.apply(Change().put(payload, delay=delay, at=at, key=key, if_absent=if_absent,
                                       queue=queue, priority=priority, lease=lease))[0]

    def put_later(self, payload: Key = b"", **properties: Any) -> Later[int]:
        """As put(), without waiting."""
        return self._later(Change().put(payload, **properties), lambda native: native.ids()[0])

    def cancel(self, id: int) -> bool:
        """Cancels a job. Returns False if it was delivered or leased, or has ended."""
        return self.update(Step.cancel(id))

    def cancel_key(self, key: Key) -> bool:
        """The same for the job that has a key."""
        return self.update(Step.cancel_key(key))

    def done(self, id: int) -> bool:
        """Ends a job in any state. Returns False if there is none."""
        return self.update(Step.done(id))

    def update(self, step: Step) -> bool:
        """Makes a step. Returns False if it does not apply to the job as it is, or there is none."""
        return is_made(self._update(step))

    def update_later(self, step: Step) -> Later[bool]:
        """As update(), without waiting. Where that returns False, the exception says why."""
        return self._later(Change().add(step), lambda native: True)

    def apply(self, change: Change) -> list[int]:
        """Makes a change, waits until it is durable, and returns the ids of the jobs that were put."""
        native = NativeChange(change, self._after)
        checked(lib.py_apply(self._pointer, native.change, 0))
        for lease in change._leases:
            lease._ended = True
        return native.ids()

    def apply_later(self, change: Change) -> Later[list[int]]:
        """As apply(), without waiting."""
        return self._later(change, lambda native: native.ids())

    def _update(self, step: Step) -> int:
        native = NativeChange(Change().add(step), self._after)
        result: int = lib.py_apply(self._pointer, native.change, 0)
        return result

    def _later(self, change: Change, value_of: Callable[[NativeChange], T]) -> Later[T]:
        native = NativeChange(change, self._after)
        later: Later[T] = Later()
        number = self._expect(later, lambda: value_of(native))
        self._submitted(number, lib.py_apply(self._pointer, native.change, number))
        for lease in change._leases:
            lease._ended = True
        return later

    def kick(self, queue: Optional[str], count: int) -> int:
        """Makes jobs of a queue ready, and returns how many: those that were buried first, or, if none is
        buried, the delayed ones that would come first."""
        return checked(lib.py_kick(self._pointer, name_to_c(queue), count, 0))

    def kick_later(self, queue: Optional[str], count: int) -> Later[int]:
        """As kick(), without waiting."""
        later: Later[int] = Later()
        number = self._expect(later, None)
        self._submitted(number, lib.py_kick(self._pointer, name_to_c(queue), count, number))
        return later

    def sync(self) -> None:
        """Waits until all is durable that was changed before, by any thread."""
        checked(lib.py_sync(self._pointer))

    def wake(self) -> None:
        """A transaction of the program was committed that has put jobs (put_in()): they are taken in at once."""
        checked(lib.py_wake(self._pointer))

    def _expect(self, later: Later[Any], value: Optional[Callable[[], Any]]) -> int:
        number = next(_numbers)
        _notices[number] = later, value
        return number

    def _submitted(self, number: int, result: int) -> None:
        if result < 0:
            del _notices[number]
            raise failure_of(result)

    # ---- leases

    def lease(self, *queues: Optional[str], timeout: Optional[float] = 0, lasts: float = 0,
              durable: bool = False) -> Union[Lease, NoLease]:
        """Leases the first ready job of some queues; a NoLease: there was none in time.

        ``timeout``
            how long to wait, in seconds of the clock of the journal; None: for ever.
        ``lasts``
            how long the lease lasts; 0: as the job or the options say. Then the job is ready again.
        ``durable``
            the lease survives a crash.
        """
        return self._wait(self._lease_of(queues, timeout, lasts, durable, True))

    def lease_later(self, *queues: Optional[str], timeout: Optional[float] = None, lasts: float = 0,
                    durable: bool = False) -> Later[Union[Lease, NoLease]]:
        """As lease(), without waiting for a job. To cancel the Later ends the request."""
        return self._lease_of(queues, timeout, lasts, durable, False)

    def _lease_of(self, queues: tuple[Optional[str], ...], timeout: Optional[float], lasts: float,
                  durable: bool, waits: bool) -> Later[Union[Lease, NoLease]]:
        names = [name_to_c(queue) for queue in queues]
        lease = self._wanted(timeout, lasts, durable)
        pointers = ffi.new("char *[]", names)
        lease.queues = ffi.cast("const char *const *", pointers)
        lease.queue_count = len(names)
        return self._request(lease, waits)

    def lease_id(self, id: int, *, lasts: float = 0, durable: bool = False) -> Union[Lease, NoLease]:
        """Leases the job with an id, ready or not; a NoLease: it is leased, or there is none."""
        lease = self._wanted(0, lasts, durable)
        lease.id = id
        try:
            return self._wait(self._request(lease, True))
        except Error as failure:
            if failure.errno not in LOST:
                raise
            return _no_lease

    def _wanted(self, timeout: Optional[float], lasts: float, durable: bool) -> Any:
        lease = ffi.new("struct htw_lease *")
        lib.htw_lease_init(lease)
        lease.lease_ns = to_ns(lasts)
        lease.is_durable = durable
        if timeout is None:
            lease.wait_until_ns = NEVER_NS
        elif timeout > 0:
            lease.wait_until_ns = self._after(timeout)
        return lease

    def _request(self, lease: Any, waits: bool) -> Later[Union[Lease, NoLease]]:
        if waits and lib.py_is_in_notice(self._pointer):
            raise _base.DeadlockError(errno.EDEADLK, "a callback of the journal must not wait for it")
        later: Later[Union[Lease, NoLease]] = Later()
        later._journal = self
        number = self._expect(later, None)
        request = ffi.new("uint64_t *")
        self._submitted(number, lib.py_lease_later(self._pointer, lease, number, request))
        later._request = request[0]
        return later

    def _wait(self, later: Later[Union[Lease, NoLease]]) -> Union[Lease, NoLease]:
        try:
            return later.result()
        except BaseException:
            later.cancel()  # as of KeyboardInterrupt
            raise

    # ---- looking

    def peek(self, id: int) -> Optional[JobInfo]:
        """The job with an id, if there is one."""
        jobs = self._visit(lambda number: lib.py_peek(self._pointer, to_index(id), number))
        return jobs[0] if jobs else None

    def jobs(self, queue: Optional[str], state: JobState) -> Iterator[JobInfo]:
        """The jobs of a queue in a state: delayed ones by time, ready ones by priority, buried ones in the order
        of burying. Jobs that change meanwhile may be missed or come twice."""
        place = ffi.new("struct htw_list_place *")
        name = name_to_c(queue)
        while True:
            jobs = self._visit(lambda number: lib.py_list(self._pointer, name, JobState(state), place,
                                                          100, number))
            yield from jobs
            if len(jobs) < 100:
                return

    def _visit(self, look: Callable[[int], Any]) -> list[Any]:
        number = next(_numbers)
        _visits[number] = []
        try:
            result = look(number)
            if result != -errno.ENOENT:
                checked(result)
            return _visits[number]
        finally:
            del _visits[number]

    def queue(self, name: Optional[str]) -> Optional[QueueStats]:
        """The numbers of a queue, if it exists."""
        stats = ffi.new("struct htw_queue_stats *")
        lib.htw_queue_stats_init(stats)
        result = lib.py_get_queue(self._pointer, name_to_c(name), stats)
        if result == -errno.ENOENT:
            return None
        checked(result)
        return queue_of(name, stats)

    def queues(self) -> list[QueueStats]:
        """The numbers of all queues, the default queue first."""
        stats = ffi.new("struct htw_queue_stats **")
        count = checked(lib.py_list_queues(self._pointer, stats))
        try:
            return [queue_of(name_of(stats[0][i].name), stats[0][i]) for i in range(count)]
        finally:
            lib.py_free_queues(stats[0], count)

    def set_policy(self, queue: Optional[str], policy: QueuePolicy) -> None:
        """Gives a queue a policy, and waits until that is durable; QueuePolicy() is none."""
        native = ffi.new("struct htw_queue_policy *")
        lib.htw_queue_policy_init(native)
        native.attempts_max = policy.attempts_max
        native.initial_ns = to_ns(policy.initial)
        native.cap_ns = to_ns(policy.cap)
        native.multiplier = policy.multiplier
        native.jitter = policy.jitter
        checked(lib.py_set_policy(self._pointer, name_to_c(queue), native))

    def pause(self, queue: Optional[str], seconds: float = math.inf) -> None:
        """None of the jobs of a queue is leased for so long, or until resume()."""
        checked(lib.py_pause(self._pointer, name_to_c(queue), self._after(seconds)))

    def resume(self, queue: Optional[str]) -> None:
        """Ends a pause."""
        checked(lib.py_pause(self._pointer, name_to_c(queue), NOW_NS))

    # ---- the rest

    def stats(self) -> Stats:
        """The statistics since the journal was opened; htw/journal_inspect.h explains each."""
        stats = ffi.new("struct htw_journal_stats *")
        lib.htw_journal_stats_init(stats)
        checked(lib.py_get_stats(self._pointer, stats))
        return stats_of(stats[0])

    def prometheus(self) -> str:
        """The statistics in the text format of Prometheus."""
        memory = lib.py_prometheus(self._pointer)
        if memory == ffi.NULL:
            raise failure_of(-ffi.errno)
        return text_of(memory)


def put_in(connection: sqlite3.Connection, payload: Key = b"", *, delay: Optional[float] = None,
           at: Optional[float] = None, key: Optional[Key] = None, if_absent: bool = False,
           queue: Optional[str] = None, priority: int = 0, lease: float = 0) -> int:
    """Puts a job in a transaction of the program, as Journal.put() with the clock of the system, and returns its id.

    The file must have been opened by a Journal with ``guest``. The job is there when the transaction is
    committed; Journal.wake() tells of it. See htw_journal_put_in().
    """
    if delay is not None and at is not None:
        raise ValueError("a job has a delay or an instant, not both")
    deadline = to_ns(at) if at is not None else limit_ns(time.time_ns() + to_ns(delay or 0))
    cursor = connection.execute(
        "INSERT OR REPLACE INTO htw_inbox (deadline, key, payload, queue, priority, lease) "
        "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT (?7 AND (EXISTS (SELECT 1 FROM htw_job WHERE key = ?2) "
        "OR EXISTS (SELECT 1 FROM htw_inbox WHERE key = ?2)))",
        (deadline, None if key is None else to_bytes(key), to_bytes(payload), queue, to_index(priority),
         to_ns(lease), if_absent))
    if cursor.rowcount == 0:
        raise KeyExistsError(errno.EEXIST, "another job has the key")
    return int(cursor.lastrowid or 0)
