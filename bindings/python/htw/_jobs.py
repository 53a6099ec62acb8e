# SPDX-License-Identifier: MIT
"""What a journal holds and is told: jobs, queues, steps and changes, and the words of C for these."""
from __future__ import annotations

import enum
import errno
import os
from dataclasses import dataclass
from typing import Any, Callable, Optional, Protocol

from htw._base import NEVER_NS, Error, Key, error_of, to_bytes, to_index, to_ns, to_seconds
from htw._native import lib as _library

try:
    from htw._journal_native import ffi, lib
except ImportError as error:
    raise ImportError("htw.journal needs the library SQLite, 3.31 or later, when the package is built and "
                      f"when it runs (Debian: libsqlite3-dev, libsqlite3-0): {error}") from error

lib.py_connect(_library.py_library())

NOW_NS = -NEVER_NS - 1  # to C: not at all, not known, as the policy says
LOST = (errno.ENOENT, errno.EALREADY, errno.ESTALE)


class LeaseEndedError(Error):
    """The lease of a job has ended: by its time, or because the job has."""


class Synchronous(enum.IntEnum):
    """When a change counts as durable."""

    FULL = 0  #: when the disk has confirmed it
    NORMAL = 1  #: when the operating system has it: a power cut may undo the last seconds


class JobState(enum.IntEnum):
    """The state of a job."""

    DELAYED = 0  #: its time is to come
    READY = 1  #: it waits to be leased
    LEASED = 2  #: leased, or delivered and not done
    BURIED = 3  #: put aside until it is kicked


@dataclass(frozen=True)
class JobInfo:
    """A job as it is; ``struct htw_job_info`` in htw/journal_inspect.h explains each."""

    id: int
    state: JobState
    payload: bytes
    key: Optional[bytes]
    queue: Optional[str]
    deadline: float
    put: Optional[float]
    lease: float
    priority: int
    attempts: int
    releases: int
    timeouts: int
    buries: int
    kicks: int


@dataclass(frozen=True)
class QueuePolicy:
    """What a queue does with a job whose attempt has failed: whose lease was released or has ended by itself.

    After `attempts_max` attempts (0: never) it is buried; before, it waits for `initial` seconds, times
    `multiplier` for each attempt, up to `cap`, less a random part of up to `jitter`.
    """

    attempts_max: int = 0
    initial: float = 0
    cap: float = 0
    multiplier: float = 2.0
    jitter: float = 0.5


@dataclass(frozen=True)
class QueueStats:
    """The numbers of a queue; the name of the default queue is None."""

    name: Optional[str]
    delayed: int
    ready: int
    leased: int
    buried: int
    waiting: int
    paused_until: Optional[float]
    policy: QueuePolicy


# ---- results

_TEXTS = {errno.ESHUTDOWN: "the journal is closed",
          errno.EOWNERDEAD: "the journal belongs to the parent of this process"}


def failure_of(result: int) -> Exception:
    """The exception for a result that the calling thread has just got."""
    number = -result
    text: str = _TEXTS.get(number) or ffi.string(lib.htw_journal_error()).decode(errors="replace")
    if number == errno.ESTALE:
        return LeaseEndedError(number, text)
    return error_of(number, text or os.strerror(number))


def checked(result: int) -> int:
    if result < 0:
        raise failure_of(result)
    return result


def is_made(result: int) -> bool:
    """Whether a step was made; False: it does not apply to the job as it is."""
    if -result in LOST:
        return False
    checked(result)
    return True


def bytes_of(memory: Any, size: int) -> Optional[bytes]:
    return None if memory == ffi.NULL else bytes(ffi.buffer(memory, size))


def name_of(text: Any) -> Optional[str]:
    return None if text == ffi.NULL else ffi.string(text).decode(errors="surrogateescape")


def name_to_c(queue: Optional[str]) -> Any:
    if queue is None:
        return ffi.NULL
    if "\0" in queue:
        raise ValueError("a name of a queue has no NUL")
    return ffi.new("char[]", queue.encode(errors="surrogateescape"))


# ---- changes


class Step:
    """What is done with a job that exists, for Journal.update() and Change.add(). Made by these methods:"""

    __slots__ = ("_id", "_key", "_kind", "_deadline", "_priority", "_attempt")

    def __init__(self, kind: int, id: int, *, key: Optional[bytes] = None,
                 deadline: Optional[float] = None, priority: Optional[int] = None,
                 attempt: int = 0) -> None:
        self._kind = kind
        self._id = to_index(id)
        self._key = key
        self._deadline = deadline
        self._priority = priority
        self._attempt = attempt

    @classmethod
    def done(cls, id: int) -> Step:
        """Ends the job, in any state."""
        return cls(lib.HTW_JOB_END, id)

    @classmethod
    def cancel(cls, id: int) -> Step:
        """Ends the job, unless it is leased or was delivered."""
        return cls(lib.HTW_JOB_CANCEL, id)

    @classmethod
    def cancel_key(cls, key: Key) -> Step:
        """The same for the job that has a key."""
        return cls(lib.HTW_JOB_CANCEL, 0, key=to_bytes(key))

    @classmethod
    def release(cls, id: int, at: Optional[float] = None, *, priority: Optional[int] = None) -> Step:
        """Gives a leased job back until an instant; without one as the policy of its queue says, or now."""
        return cls(lib.HTW_JOB_RELEASE, id, deadline=at, priority=priority)

    @classmethod
    def bury(cls, id: int, *, priority: Optional[int] = None) -> Step:
        """Puts the job aside until it is kicked."""
        return cls(lib.HTW_JOB_BURY, id, priority=priority)

    @classmethod
    def kick(cls, id: int, *, priority: Optional[int] = None) -> Step:
        """Makes a job ready that is buried or delayed."""
        return cls(lib.HTW_JOB_KICK, id, priority=priority)

    @classmethod
    def move(cls, id: int, at: float, *, priority: Optional[int] = None) -> Step:
        """Gives a job that is not leased another instant."""
        return cls(lib.HTW_JOB_MOVE, id, deadline=at, priority=priority)

    @classmethod
    def extend(cls, id: int, at: float) -> Step:
        """The lease of the job ends at that instant."""
        return cls(lib.HTW_JOB_EXTEND, id, deadline=at)

    def _of(self, lease: Leased) -> Step:
        """The step fails if that lease has ended."""
        self._attempt = lease.attempt
        return self

    def _fill(self, update: Any, kept: list[Any]) -> None:
        lib.htw_job_update_init(ffi.addressof(update))
        update.id = self._id
        update.step = self._kind
        update.attempt = self._attempt
        if self._key is not None:
            kept.append(ffi.from_buffer(self._key))
            update.key = kept[-1]
            update.key_size = len(self._key)
        if self._deadline is not None:
            update.deadline_ns = to_ns(self._deadline)
        if self._priority is not None:
            update.has_priority = True
            update.priority = self._priority


class Leased(Protocol):
    """A Lease, as a change sees it."""

    id: int
    attempt: int
    _ended: bool


class Change:
    """Changes that are made together or not at all, by Journal.apply(). Each method returns the change.

    First steps are made, then jobs are put. A lease whose job it ends is ended when the change was made.
    """

    def __init__(self) -> None:
        self._jobs: list[dict[str, Any]] = []
        self._steps: list[Step] = []
        self._leases: list[Leased] = []

    def put(self, payload: Key = b"", **properties: Any) -> Change:
        """Puts a job, as Journal.put()."""
        self._jobs.append(job_of(payload, **properties))
        return self

    def done(self, lease: Leased) -> Change:
        """Ends the job of a lease."""
        self._leases.append(lease)
        return self.add(Step.done(lease.id)._of(lease))

    def add(self, step: Step) -> Change:
        """Makes a step."""
        self._steps.append(step)
        return self


def job_of(payload: Key, *, delay: Optional[float] = None, at: Optional[float] = None,
           key: Optional[Key] = None, if_absent: bool = False, queue: Optional[str] = None,
           priority: int = 0, lease: float = 0) -> dict[str, Any]:
    if delay is not None and at is not None:
        raise ValueError("a job has a delay or an instant, not both")
    return {"payload": to_bytes(payload), "delay": delay, "at": at, "queue": name_to_c(queue),
            "key": None if key is None else to_bytes(key), "priority": to_index(priority),
            "flags": lib.HTW_JOB_IF_ABSENT if if_absent else 0, "lease_ns": to_ns(lease)}


def fill_job(native: Any, job: dict[str, Any]) -> None:
    native.payload = ffi.from_buffer(job["payload"])
    native.payload_size = len(job["payload"])
    if job["key"] is not None:
        native.key = ffi.from_buffer(job["key"])
        native.key_size = len(job["key"])
    native.queue = job["queue"]
    native.priority = job["priority"]
    native.flags = job["flags"]
    native.lease_ns = job["lease_ns"]


class NativeChange:
    """A change in the words of C. ``after(delay)`` is an instant, in nanoseconds."""

    def __init__(self, change: Change, after: Callable[[float], int]) -> None:
        self.kept: list[Any] = []
        self.jobs = ffi.new("struct htw_job[]", len(change._jobs))
        for native, job in zip(self.jobs, change._jobs):
            self._fill(after, native, job)
        updates = ffi.new("struct htw_job_update[]", len(change._steps))
        for native, step in zip(updates, change._steps):
            step._fill(native, self.kept)
        self.change = ffi.new("struct htw_journal_change *")
        lib.htw_journal_change_init(self.change)
        self.change.jobs = self.jobs
        self.change.job_count = len(change._jobs)
        self.change.updates = updates
        self.change.update_count = len(change._steps)
        self.kept += [updates, change]

    def _fill(self, after: Callable[[float], int], native: Any, job: dict[str, Any]) -> None:
        lib.htw_job_init(ffi.addressof(native))
        fill_job(native, job)
        if job["at"] is not None:
            native.deadline_ns = to_ns(job["at"])
        elif job["delay"] is not None:
            native.deadline_ns = after(job["delay"])

    def ids(self) -> list[int]:
        return [job.id for job in self.jobs]


def queue_of(name: Optional[str], stats: Any) -> QueueStats:
    policy = stats.policy
    return QueueStats(name, stats.delayed, stats.ready, stats.leased, stats.buried, stats.waiting,
                      None if stats.paused_until_ns == NOW_NS else to_seconds(stats.paused_until_ns),
                      QueuePolicy(policy.attempts_max, to_seconds(policy.initial_ns),
                                  to_seconds(policy.cap_ns), policy.multiplier, policy.jitter))
