# SPDX-License-Identifier: MIT
"""The wheel: timers in ticks of your own, without clock, thread or callback."""
from __future__ import annotations

import os
import sys
import threading
from dataclasses import dataclass
from typing import Any, Callable, Generic, Iterator, Optional, TypeVar, overload

from htw._base import Bound, checked, text_of, to_index
from htw._native import ffi, lib

#: A deadline in ticks that never comes.
NEVER_TICK: int = 2**64 - 1

T = TypeVar("T")

# A wheel belongs to one thread at a time, and so does a timer, which any wheel may get. The GIL is
# not enough, because cffi releases it. A lock for each wheel would not keep two threads from arming
# one timer in two wheels.
_lock = threading.RLock()
os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release,
                    after_in_child=_lock.release)


@dataclass(frozen=True)
class WheelStats:
    """Exact counters: scheduled = cancelled + expired + drained + pending."""

    scheduled: int
    moved: int
    cancelled: int
    expired: int
    drained: int
    demoted: int
    advances: int
    pending: int
    levels: int
    size: int
    queued_buckets: int
    memory_bytes: int


class WheelTimer(Bound, Generic[T]):
    """A timer for a wheel, with a value of yours. It may be armed again and again."""

    __slots__ = ("value", "_memory", "_timer", "_reference", "_wheel", "__weakref__")

    def __init__(self, value: T) -> None:
        self.value = value
        self._memory = ffi.new("struct py_timer *")
        self._timer = ffi.addressof(self._memory, "timer")
        self._reference: Any = None
        self._wheel: Optional[object] = None  # the token of the wheel in which it is pending

    @property
    def pending(self) -> bool:
        """Whether the timer is armed, and was neither handed out nor cancelled."""
        return self._wheel is not None

    @property
    def deadline(self) -> int:
        """The deadline in ticks with which the timer was last armed."""
        return int(lib.htw_timer_deadline(self._timer))

    def __repr__(self) -> str:
        return f"<htw.WheelTimer {self.value!r}>"


def _is_tick(tick: int) -> int:
    tick = to_index(tick)
    if not 0 <= tick <= NEVER_TICK:
        raise ValueError("a tick is from 0 to NEVER_TICK")
    return tick


class Wheel(Bound, Generic[T]):
    """A hierarchical timing wheel. Time is a number of ticks that you pass in.

    >>> wheel = Wheel()
    >>> timer = wheel.schedule("connection 7", 30_000)
    >>> [timer.value for timer in wheel.expire(now=30_000)]
    ['connection 7']

    ``size``
        the number of buckets in each level, a power of two from 2 to 4096.
    ``strict_fifo``
        whether timers of one tick are handed out in the order in which they were armed.
    ``start``
        the first value of the clock.

    Timers are handed out in order of deadline, never before the clock has reached it. A wheel keeps
    its pending timers alive. Any thread may call any method.
    """

    def __init__(self, size: int = 0, *, strict_fifo: bool = False, start: int = 0) -> None:
        self._begin()
        self._timers: set[WheelTimer[T]] = set()
        self._token = object()  # not the wheel itself: a timer does not keep it alive
        options = ffi.new("struct htw_wheel_options *")
        lib.htw_wheel_options_init(options)
        options.size = size
        options.strict_fifo = strict_fifo
        options.start = start
        pointer = ffi.new("struct htw_wheel **")
        checked(lib.htw_wheel_create(pointer, options), lambda: lib.htw_wheel_options_invalid(options))
        self._pointer = pointer[0]

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing,
                destroy: Callable[[Any], None] = lib.htw_wheel_destroy,
                null: Any = ffi.NULL) -> None:
        # The timers, which this writes to, must still exist. A finalizer in the same cycle may use
        # the wheel after this: NULL is refused.
        if hasattr(self, "_pointer") and not is_finalizing():
            with _lock:
                pointer, self._pointer = self._pointer, null
                destroy(pointer)
                for timer in self._timers:
                    timer._wheel = None
                    timer._reference = None
                self._timers.clear()

    @overload
    def schedule(self, timer: WheelTimer[T], deadline: int,
                 latest: Optional[int] = None) -> WheelTimer[T]: ...

    @overload
    def schedule(self, timer: T, deadline: int, latest: Optional[int] = None) -> WheelTimer[T]: ...

    def schedule(self, timer: Any, deadline: int, latest: Optional[int] = None) -> WheelTimer[T]:
        """Arms a timer, or moves it if it is pending, and returns it.

        `timer`: a WheelTimer, or a value for a new one. `deadline`: absolute, in ticks. `latest`:
        the wheel chooses a tick from `deadline` to `latest`, so that timers expire together.
        Raises ValueError if the timer is pending in another wheel.
        """
        deadline = _is_tick(deadline)
        last = deadline if latest is None else _is_tick(latest)
        own: WheelTimer[T] = timer if isinstance(timer, WheelTimer) else WheelTimer(timer)
        with _lock:
            if own._wheel is not None and own._wheel is not self._token:
                raise ValueError("the timer is pending in another wheel")
            is_new = own._wheel is None
            if is_new:
                own._memory.object = own._reference = ffi.new_handle(own)
                self._timers.add(own)
                own._wheel = self._token
            result = lib.htw_wheel_schedule(self._pointer, own._timer, deadline) \
                if latest is None else \
                lib.htw_wheel_schedule_within(self._pointer, own._timer, deadline, last)
            if result != 0 and is_new:
                self._forget(own)
        checked(result)
        return own

    def _forget(self, timer: WheelTimer[T]) -> None:
        self._timers.discard(timer)
        timer._wheel = None
        timer._reference = None

    def _handed_out(self, object: Any) -> Optional[WheelTimer[T]]:
        if object == ffi.NULL:
            return None
        timer: WheelTimer[T] = ffi.from_handle(object)
        self._forget(timer)
        return timer

    def cancel(self, timer: WheelTimer[T]) -> bool:
        """Cancels a timer, and returns whether it was pending in this wheel."""
        with _lock:
            was_pending = bool(lib.htw_wheel_cancel(self._pointer, timer._timer))
            if was_pending:
                self._forget(timer)
        return was_pending

    def poll(self, now: int) -> Optional[WheelTimer[T]]:
        """The next timer that is due at `now`; None: nothing is due any more."""
        now = _is_tick(now)
        with _lock:
            return self._handed_out(lib.py_wheel_poll(self._pointer, now))

    def expire(self, now: int) -> Iterator[WheelTimer[T]]:
        """The timers that are due at `now`, one after the other, as poll() hands them out.

        In the loop any timer may be armed, moved or cancelled. What is armed there for the present
        is handed out in the next round.
        """
        while (timer := self.poll(now)) is not None:
            yield timer

    def poll_batch(self, now: int, max: int = 64,
                   budget: int = 0) -> tuple[list[WheelTimer[T]], bool]:
        """Up to `max` timers (64 at most) that are due at `now`, and whether more work is left.

        `budget`: the most steps; 0: no limit. The list may be empty though work is left.
        """
        now = _is_tick(now)
        objects = ffi.new("void *[64]")
        count = ffi.new("size_t *")
        with _lock:
            more = checked(lib.py_wheel_poll_batch(self._pointer, now, objects, max, budget, count))
            timers: list[WheelTimer[T]] = [ffi.from_handle(objects[i]) for i in range(count[0])]
            for timer in timers:
                self._forget(timer)
        return timers, bool(more)

    def next(self) -> int:
        """The tick at which to poll next, never later than the earliest deadline; NEVER_TICK."""
        with _lock:
            return int(lib.htw_wheel_next(self._pointer))

    @property
    def now(self) -> int:
        """The clock: the tick up to which all timers were handed out."""
        with _lock:
            return int(lib.htw_wheel_now(self._pointer))

    def reserve(self, horizon: int) -> None:
        """Creates all levels for deadlines up to `horizon` ticks after the clock."""
        with _lock:
            checked(lib.htw_wheel_reserve(self._pointer, _is_tick(horizon)))

    def drain(self) -> Optional[WheelTimer[T]]:
        """Removes and returns any pending timer, whatever its deadline; None: there is none."""
        with _lock:
            return self._handed_out(lib.py_wheel_drain(self._pointer))

    def __len__(self) -> int:
        """How many timers are pending."""
        with _lock:
            return int(lib.htw_wheel_count(self._pointer))

    def __bool__(self) -> bool:
        return True

    def __iter__(self) -> Iterator[WheelTimer[T]]:
        """The pending timers at this moment, in no particular order."""
        with _lock:
            return iter(list(self._timers))

    def __contains__(self, timer: object) -> bool:
        return timer in self._timers

    def check(self) -> int:
        """Checks all invariants: 0, or the number of a broken one."""
        with _lock:
            return checked(lib.htw_wheel_check(self._pointer))

    def dump(self) -> str:
        """The state of the wheel as text."""
        with _lock:
            return text_of(lib.py_wheel_dump(self._pointer))

    def stats(self) -> WheelStats:
        """The counters."""
        stats = ffi.new("struct htw_wheel_stats *")
        lib.htw_wheel_stats_init(stats)
        with _lock:
            checked(lib.htw_wheel_get_stats(self._pointer, stats))
        return WheelStats(**{name: getattr(stats, name)
                             for name in WheelStats.__dataclass_fields__})
