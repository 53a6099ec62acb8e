# SPDX-License-Identifier: MIT
"""The purgatory: requests that wait for an event or for their timeout."""
from __future__ import annotations

import enum
import errno
import sys
import threading
import time
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Callable, Iterable, Optional, Type, TypeVar, Union

from htw._base import (
    NEVER_NS,
    Bound,
    BusyError,
    Closing,
    Key,
    Lease,
    checked,
    enter,
    limit_ns,
    report,
    text_of,
    to_bytes,
    to_index,
    to_ns,
)
from htw._native import ffi, lib
from htw._scheduler import Scheduler

R = TypeVar("R", bound="Request")


class Reason(enum.IntEnum):
    """Why a request has ended."""

    COMPLETED = 0  #: ``try_complete()`` returned True, ``complete()``, or a threshold
    EXPIRED = 1  #: the timeout has ended
    CANCELLED = 2  #: ``cancel()`` or ``cancel_key()``
    CLOSED = 3  #: the purgatory was closed


_REASONS = tuple(Reason)


@dataclass(frozen=True)
class PurgatoryStats:
    """Counters since the purgatory was created; htw/purgatory.h explains each."""

    submitted: int
    completed: int
    expired: int
    cancelled: int
    closed: int
    pending: int
    delayed: int
    watched: int
    keys: int
    alarms: int
    memory_bytes: int
    waits: tuple[int, ...]
    waited_ms: int


class Request(Bound):
    """A request. Derive your own from it, and override try_complete() and on_complete().

    Both run in the thread that causes them: the one that watches, checks or cancels, or for a
    timeout one of the scheduler; never two at the same time for one request. What they raise is
    reported to sys.unraisablehook, and try_complete() then counts as False.

    The purgatory keeps a request alive while it waits. When `pending` is False again, the request
    may be submitted again.
    """

    _memory: Any
    _reference: Any
    _claim: threading.Lock
    _purgatory: Optional[Purgatory]
    _threshold: Optional[Threshold]

    def __new__(cls: Type[R], *args: Any, **kwargs: Any) -> R:
        self = super().__new__(cls)
        self._memory = ffi.new("struct py_request *")
        self._reference = None
        self._claim = threading.Lock()
        self._purgatory = None
        self._threshold = None
        return self

    def try_complete(self) -> bool:
        """Returns whether the request can be completed now, which is final then.

        Is called more often than there are events: be quick, and read the state of the program.
        """
        return False

    def on_complete(self, reason: Reason) -> None:
        """Is called once, when the request has ended."""

    @property
    def pending(self) -> bool:
        """Whether the request was submitted, and the purgatory still uses it."""
        return self._claim.locked()

    def complete(self) -> bool:
        """Ends the request as completed; returns whether this call ends it."""
        return self._finish(lib.htw_request_complete)

    def cancel(self) -> bool:
        """Ends the request as cancelled; returns whether this call ends it."""
        return self._finish(lib.htw_request_cancel)

    def _finish(self, function: Callable[..., int]) -> bool:
        purgatory = self._purgatory
        if purgatory is None:
            return False
        return bool(enter(function, purgatory._pointer, ffi.addressof(self._memory, "request")))

    def set_timeout(self, timeout: Optional[float]) -> bool:
        """Gives the request another timeout, in seconds from now; None: never.

        Returns False if no timeout of it is running: it has ended, or was submitted without one.
        """
        purgatory = self._purgatory
        if purgatory is None:
            return False
        result = enter(lib.htw_request_set_timeout, purgatory._pointer,
                       ffi.addressof(self._memory, "request"),
                       NEVER_NS if timeout is None else to_ns(timeout))
        if result == -errno.ENOENT:
            return False
        checked(result)
        return True


# ---- what the library calls; see native/shim.c


def _lost(kind: Any, exception: BaseException, traceback: TracebackType) -> None:
    report(exception, None)


def _lost_end(kind: Any, exception: BaseException, traceback: TracebackType) -> None:
    """A signal handler has raised in the few lines of py_request_ended(): done here again."""
    names = traceback.tb_frame.f_locals
    request: Request = names["request"] if "request" in names \
        else ffi.from_handle(names["object"])
    _end(request)
    report(exception, None)


def _end(request: Request) -> None:
    purgatory = request._purgatory
    if purgatory is not None:
        purgatory._requests.discard(request)
    request._purgatory = None
    request._threshold = None
    request._reference = None
    if request._claim.locked():
        request._claim.release()


@ffi.def_extern(onerror=_lost)
def py_try_complete(object: Any) -> bool:
    request: Request = ffi.from_handle(object)
    try:
        return bool(request.try_complete())
    except BaseException as exception:
        report(exception, request)
        return False


@ffi.def_extern(onerror=_lost)
def py_on_complete(object: Any, reason: int) -> None:
    request: Request = ffi.from_handle(object)
    try:
        request.on_complete(_REASONS[reason])
    except BaseException as exception:
        report(exception, request)


@ffi.def_extern(onerror=_lost_end)
def py_request_ended(object: Any) -> None:
    request: Request = ffi.from_handle(object)
    _end(request)


class Purgatory(Closing):
    """Holds requests that wait on keys or on a threshold, each until an event or its timeout.

    >>> class Fetch(Request):
    ...     def try_complete(self): return bool(items)
    ...     def on_complete(self, reason): print(reason.name)
    >>> items = []
    >>> with Scheduler() as scheduler, Purgatory(scheduler) as purgatory:
    ...     waits = purgatory.watch(Fetch(), "orders-3", timeout=5)
    ...     items.append(1)
    ...     purgatory.check("orders-3")
    COMPLETED
    1

    `scheduler` keeps the timeouts; close the purgatory before it. `shards`: a power of two; each
    takes 512 bytes. `name`: of its timers in ``Scheduler.dump()``. Any thread may
    call any method, also in a hook.
    """

    _closed = True  # until there is one

    def __init__(self, scheduler: Scheduler, *, shards: int = 16,
                 name: str = "purgatory") -> None:
        self._begin()
        self._requests: set[Request] = set()
        self._scheduler = scheduler
        pointer = ffi.new("struct htw_purgatory **")
        checked(lib.py_purgatory_create(pointer, scheduler._pointer, shards, name.encode()))
        # Freed with the last reference, never while a thread is in a call of a method.
        self._pointer = pointer[0]
        self._lease = Lease(self._pointer, lib.htw_purgatory_destroy, scheduler._lease)
        self._closed = False

    def close(self) -> int:
        """Ends all requests with Reason.CLOSED, and returns how many.

        Does not wait for a hook that another thread is in. Afterwards watch() raises StoppedError.
        The memory is freed with the last reference to the purgatory.
        """
        result = enter(lib.py_purgatory_close, self._pointer)
        self._closed = True
        if result == -errno.EOWNERDEAD:  # nothing of it runs in a child process
            return 0
        return checked(result)

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if is_finalizing() or not hasattr(self, "_pointer"):
            return
        if lib.py_purgatory_close(self._pointer) >= 0 and self._requests:
            # A thread is about to run a hook of one: the requests live on until it has ended.
            threading.Thread(target=self._wait, name="htw-close").start()

    def _wait(self) -> None:
        while self._requests:
            time.sleep(0.001)

    def watch(self, request: Request, keys: Union[Key, Iterable[Key]], *,
              timeout: Optional[float] = None, timeout_ns: Optional[int] = None) -> bool:
        """Submits a request: completes it now, or lets it wait on one or more keys.

        `timeout`: in seconds, or `timeout_ns`; without one it waits for ever. Returns whether it
        waits; False: it has ended inside this call. Raises BusyError if it is submitted already,
        StoppedError if the purgatory is closed.
        """
        if isinstance(keys, (bytes, bytearray, memoryview, str)):
            keys = [keys]
        key_bytes = [to_bytes(key) for key in keys]
        array = ffi.new("struct htw_key[]", len(key_bytes))
        buffers = [ffi.from_buffer(key) for key in key_bytes]
        for i, key in enumerate(key_bytes):
            array[i].bytes = buffers[i]
            array[i].size = len(key)
        return self._submit(request, None, _timeout_ns(timeout, timeout_ns),
                            lib.htw_purgatory_try_complete_else_watch, self._pointer, array,
                            len(key_bytes))

    def _submit(self, request: Request, threshold: Optional[Threshold], timeout_ns: int,
                function: Callable[..., int], pointer: Any, *args: Any) -> bool:
        if not isinstance(request, Request):
            raise TypeError(f"{request!r} is not a Request")
        if not request._claim.acquire(blocking=False):
            raise BusyError(errno.EBUSY, ffi.string(lib.htw_strerror(-errno.EBUSY)).decode())
        request._memory.object = request._reference = ffi.new_handle(request)
        request._threshold = threshold
        request._purgatory = self
        self._requests.add(request)
        submitted = ffi.addressof(request._memory, "request")
        result: int = 0

        def submit() -> int:
            nonlocal result
            result = function(pointer, submitted, *args, timeout_ns)
            if result < 0:
                _end(request)
            return result

        return checked(enter(submit)) == 0

    def check(self, key: Key, at_most: Optional[int] = None) -> int:
        """Reports an event: asks the requests that wait on a key, and returns how many ended.

        `at_most`: stop when so many have ended.
        """
        key_bytes = to_bytes(key)
        if at_most is None:
            return checked(enter(lib.htw_purgatory_check, self._pointer, key_bytes,
                                 len(key_bytes)))
        return checked(enter(lib.htw_purgatory_check_at_most, self._pointer, key_bytes,
                             len(key_bytes), at_most))

    def check_later(self, key: Key) -> None:
        """Lets the scheduler check a key: for callers that hold locks which hooks take."""
        key_bytes = to_bytes(key)
        checked(lib.htw_purgatory_check_later(self._pointer, key_bytes, len(key_bytes)))

    def cancel_key(self, key: Key) -> int:
        """Ends all requests that wait on a key as cancelled, and returns how many."""
        key_bytes = to_bytes(key)
        return checked(enter(lib.py_purgatory_cancel_key, self._pointer, key_bytes,
                             len(key_bytes)))

    def count_key(self, key: Key) -> int:
        """How many requests wait on a key."""
        key_bytes = to_bytes(key)
        return checked(lib.htw_purgatory_count_key(self._pointer, key_bytes, len(key_bytes)))

    def threshold(self, initial: int = 0) -> Threshold:
        """Creates a threshold, for requests that wait until a value is reached."""
        return Threshold(self, initial)

    def __len__(self) -> int:
        """How many requests wait."""
        return self.stats().pending

    def __bool__(self) -> bool:
        return True

    def stats(self) -> PurgatoryStats:
        """The statistics."""
        stats = ffi.new("struct htw_purgatory_stats *")
        lib.htw_purgatory_stats_init(stats)
        checked(lib.htw_purgatory_get_stats(self._pointer, stats))
        return PurgatoryStats(**{name: tuple(stats.waits) if name == "waits"
                                 else getattr(stats, name)
                                 for name in PurgatoryStats.__dataclass_fields__})

    def prometheus(self) -> str:
        """The statistics in the text format of Prometheus."""
        return text_of(lib.py_purgatory_prometheus(self._pointer))


def _timeout_ns(timeout: Optional[float], timeout_ns: Optional[int]) -> int:
    if timeout is not None and timeout_ns is not None:
        raise TypeError("give timeout or timeout_ns, not both")
    if timeout_ns is not None:
        return limit_ns(to_index(timeout_ns))
    return NEVER_NS if timeout is None else to_ns(timeout)


class Threshold(Bound):
    """A value that grows, and requests that wait until it has reached theirs.

    try_complete() of these requests is not called. Waiting requests keep the threshold alive.
    """

    __slots__ = ("_purgatory", "_pointer", "_lease", "__weakref__")

    def __init__(self, purgatory: Purgatory, initial: int = 0) -> None:
        self._begin()
        pointer = ffi.new("struct htw_threshold **")
        checked(lib.htw_threshold_create(purgatory._pointer, initial, pointer))
        self._purgatory = purgatory
        self._pointer = pointer[0]
        self._lease = Lease(self._pointer, lib.htw_threshold_destroy, purgatory._lease)

    def wait(self, request: Request, value: int, *, timeout: Optional[float] = None,
             timeout_ns: Optional[int] = None) -> bool:
        """Submits a request that is completed when the value is reached; as Purgatory.watch()."""
        value = to_index(value)
        if not 0 <= value < 2**64:
            raise ValueError("a value has 64 bits")
        return self._purgatory._submit(request, self, _timeout_ns(timeout, timeout_ns),
                                       lib.htw_threshold_await, self._pointer, value)

    def advance(self, value: int) -> int:
        """Raises the value, and returns how many requests this completes."""
        return checked(enter(lib.htw_threshold_advance, self._pointer, value))

    def lower(self, value: int) -> None:
        """Lowers the value; ends no request."""
        checked(lib.htw_threshold_lower(self._pointer, value))

    def end_all(self, reason: Reason = Reason.CANCELLED) -> int:
        """Ends all requests that wait, with any reason but EXPIRED, and returns how many."""
        return checked(enter(lib.py_threshold_end_all, self._pointer, int(reason)))

    @property
    def value(self) -> int:
        """The value."""
        return int(lib.htw_threshold_value(self._pointer))
