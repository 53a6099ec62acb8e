# SPDX-License-Identifier: MIT
"""Times of the calendar: "03:00 every day", cron expressions, in a time zone; timers by them.

>>> berlin = Zone("Europe/Berlin")
>>> nightly = Calendar("0 3 * * mon-fri")
>>> next = nightly.next(zone=berlin)                     # seconds since 1970, as time.time()
>>> timer = nightly.schedule(scheduler, back_up, zone=berlin)

docs/calendar.md of the library explains expressions, daylight saving, and what happens to runs that
were missed. Instants are whole seconds since 1970 UTC, as time.time() counts them;
``datetime.fromtimestamp(instant, timezone)`` makes a date of one.

This is an optional part of the package: importing it raises ImportError where the package was built
without the library cctz, or that is not installed.
"""
from __future__ import annotations

import enum
import time
from typing import Any, Callable, Optional

from htw._base import (
    Duration,
    NEVER_NS,
    Bound,
    Key,
    Lease,
    checked,
    to_bytes,
    to_index,
    to_ns,
    to_seconds,
)
from htw._native import lib as _library
from htw._scheduler import Group, Scheduler, Timer, fill_common

try:
    from htw._calendar_native import ffi, lib
except ImportError as error:
    raise ImportError("htw.calendar needs the library cctz, when the package is built and when it "
                      f"runs (Debian: libcctz-dev, libcctz2): {error}") from error

__all__ = ["Calendar", "Weekday", "Zone"]

lib.py_connect(_library.py_library())


class Weekday(enum.IntFlag):
    """The days of the week, to be combined with ``|``."""

    SUNDAY = 1
    MONDAY = 2
    TUESDAY = 4
    WEDNESDAY = 8
    THURSDAY = 16
    FRIDAY = 32
    SATURDAY = 64
    WEEKDAYS = 62  #: Monday to Friday
    EVERY_DAY = 127


class Zone(Bound):
    """The rules of a time zone, by its name of tzdata; without a name the local time zone.

    Raises Error with the errno ENOENT if there is no such zone. Rules are read once in a process. A
    zone does not change, and threads may share it.
    """

    __slots__ = ("_name", "_pointer", "_lease", "__weakref__")

    def __init__(self, name: Optional[str] = None) -> None:
        self._begin()
        if name is not None and "\0" in name:
            raise ValueError("a name of a zone has no NUL")
        pointer = ffi.new("struct htw_zone **")
        checked(lib.htw_zone_create(pointer, ffi.NULL if name is None else name.encode()))
        self._name = name
        self._pointer = pointer[0]
        self._lease = Lease(self._pointer, lib.htw_zone_destroy, None)

    def offset(self, instant: Optional[float] = None) -> int:
        """By how many seconds local time is ahead of UTC at an instant; without one, now."""
        return int(lib.htw_zone_offset(self._pointer, _instant_ns(instant)))

    def __repr__(self) -> str:
        return f"{type(self).__name__}({'' if self._name is None else repr(self._name)})"


class Calendar:
    """A set of local times, made of a cron expression. Does not change.

    Raises ValueError, which says where in the expression the error is.
    """

    __slots__ = ("_native",)

    def __init__(self, expression: str) -> None:
        position = ffi.new("size_t *")
        self._native = ffi.new("struct htw_calendar *")
        if "\0" in expression:
            position[0] = expression.index("\0")
        elif lib.htw_calendar_cron(self._native, expression.encode(), position) == 0:
            return
        raise ValueError(f"no cron expression: {expression!r}, at position {position[0]}")

    @classmethod
    def daily(cls, hour: int, minute: int = 0, second: int = 0) -> Calendar:
        """One local time every day."""
        return cls._made(lib.htw_calendar_daily, hour, minute, second)

    @classmethod
    def weekly(cls, weekdays: Weekday, hour: int, minute: int = 0, second: int = 0) -> Calendar:
        """One local time on days of the week."""
        return cls._made(lib.htw_calendar_weekly, weekdays, hour, minute, second)

    @classmethod
    def monthly(cls, day: int, hour: int, minute: int = 0, second: int = 0) -> Calendar:
        """One local time on a day of each month: 1 to 31; -1: the last day."""
        return cls._made(lib.htw_calendar_monthly, day, hour, minute, second)

    @classmethod
    def _made(cls, function: Callable[..., int], *numbers: int) -> Calendar:
        calendar = cls.__new__(cls)
        calendar._native = ffi.new("struct htw_calendar *")
        try:
            result = function(calendar._native, *numbers)
        except OverflowError as error:
            raise ValueError(str(error)) from None
        checked(result)
        return calendar

    def next(self, after: Optional[float] = None, zone: Optional[Zone] = None) -> Optional[float]:
        """The first instant after another one, or after now; None: there is none until 2262.

        ``zone``: the time zone; without it UTC.
        """
        instant_ns: int = lib.htw_calendar_next(self._native, _zone_pointer(zone), _instant_ns(after))
        return None if instant_ns == NEVER_NS else to_seconds(instant_ns)

    def previous(self, before: Optional[float] = None,
                 zone: Optional[Zone] = None) -> Optional[float]:
        """The last instant before another one, or before now; None: there is none since 1678."""
        instant_ns: int = lib.htw_calendar_previous(self._native, _zone_pointer(zone),
                                                    _instant_ns(before))
        return None if instant_ns == -NEVER_NS - 1 else to_seconds(instant_ns)

    def schedule(self, scheduler: Scheduler, callback: Callable[..., object], *args: Any,
                 zone: Optional[Zone] = None, after: Optional[float] = None, jitter: Duration = 0,
                 jitter_key: Optional[Key] = None, grace: Duration = 60, catch_up: int = 1,
                 key: Optional[Key] = None, keep_existing: bool = False,
                 group: Optional[Group] = None, pass_timer: bool = False) -> Timer:
        """Calls ``callback(*args)`` at each instant, until the timer is cancelled.

        The clock of the timer is Clock.REALTIME, whatever that of the scheduler is.
        ``timer.run_deadline`` is the instant of a run, ``timer.missed`` the number of instants
        since the previous run for which nothing ran.

        ``zone``
            the time zone; without it UTC.
        ``after``
            the first run is for an instant after this one; without it, after now.
        ``jitter``, ``jitter_key``
            each run is later by the same part of this time, in seconds, which the key selects: so
            that the machines of a fleet spread.
        ``grace``
            an instant is missed if the timer runs more than this later, in seconds.
        ``catch_up``
            how many missed instants run late: 0: none; 1: one run for all of them; N: the last N.

        The other options are those of Scheduler.schedule().
        """
        if not 0 <= catch_up <= lib.HTW_CALENDAR_CATCH_UP_MAX:
            raise ValueError(f"catch_up is from 0 to {lib.HTW_CALENDAR_CATCH_UP_MAX}")
        spec = ffi.new("struct htw_calendar_spec *")
        spec.struct_size = ffi.sizeof(spec[0])
        spec.calendar = self._native[0]
        spec.zone = _zone_pointer(zone)
        spec.after_ns = 0 if after is None else to_ns(after) or 1  # to C 0 means now
        spec.jitter_ns = to_ns(jitter)
        spread = None if jitter_key is None else to_bytes(jitter_key)
        if spread is not None:
            spec.jitter_key = ffi.from_buffer(spread)
            spec.jitter_key_size = len(spread)
        spec.grace_ns = to_ns(grace) or 1  # to C 0 means a minute
        spec.catch_up = to_index(catch_up) or lib.HTW_CALENDAR_NO_CATCH_UP
        key_bytes = None if key is None else to_bytes(key)
        fill_common(spec, key_bytes, keep_existing, group, callback)
        return scheduler._keep(group, callback, args, pass_timer, lib.py_schedule_calendar, spec)

    def __str__(self) -> str:
        """The calendar as a cron expression."""
        text = ffi.new("char[]", lib.HTW_CALENDAR_TEXT_MAX)
        checked(lib.htw_calendar_format(self._native, text, lib.HTW_CALENDAR_TEXT_MAX))
        string: str = ffi.string(text).decode()
        return string

    def __repr__(self) -> str:
        return f"Calendar({str(self)!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Calendar) and str(self) == str(other)

    def __hash__(self) -> int:
        return hash(str(self))

    def __reduce__(self) -> Any:
        return Calendar, (str(self),)


def _instant_ns(instant: Optional[float]) -> int:
    return time.time_ns() if instant is None else to_ns(instant)


def _zone_pointer(zone: Optional[Zone]) -> Any:
    if zone is None:
        return ffi.NULL
    if not isinstance(zone, Zone):
        raise TypeError(f"{zone!r} is not a Zone")
    return zone._pointer
