# SPDX-License-Identifier: MIT
"""htw: hierarchical timing wheels, for programs that have very many timeouts.

Scheduler   timers whose callbacks run in threads, or in a loop of yours
aio         the scheduler in an asyncio event loop (``import htw.aio``)
Wheel       the engine alone: ticks of your own, no clock, no callback
Purgatory   requests that wait for an event or for their timeout
Backoff     how long to wait before the next attempt

Times are seconds, as float or int; methods and names that end in ``_ns`` take nanoseconds.
"""
from htw._backoff import Backoff
from htw._base import (
    NEVER_NS,
    BusyError,
    DeadlockError,
    Error,
    ForkedError,
    FullError,
    Key,
    KeyExistsError,
    StoppedError,
)
from htw._native import ffi as _ffi
from htw._native import lib as _lib
from htw._purgatory import Purgatory, PurgatoryStats, Reason, Request, Threshold
from htw._scheduler import (
    Clock,
    Distribution,
    Group,
    Observe,
    Outcome,
    Repeat,
    Scheduler,
    SchedulerStats,
    Timer,
    Unexpired,
)
from htw._wheel import NEVER_TICK, Wheel, WheelStats, WheelTimer

#: The version of the library that runs.
library_version: str = _ffi.string(_lib.htw_version()).decode()

__all__ = [
    "NEVER_NS", "NEVER_TICK", "Backoff", "BusyError", "Clock", "DeadlockError", "Distribution",
    "Error", "ForkedError", "FullError", "Group", "Key", "KeyExistsError", "Observe", "Outcome",
    "Purgatory", "PurgatoryStats", "Reason", "Repeat", "Request", "Scheduler", "SchedulerStats", "StoppedError",
    "Threshold", "Timer", "Unexpired", "Wheel", "WheelStats", "WheelTimer", "library_version",
]
