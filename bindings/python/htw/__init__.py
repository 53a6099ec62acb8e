# SPDX-License-Identifier: MIT
"""htw: hierarchical timing wheels, for programs that have very many timeouts.

Scheduler   timers whose callbacks run in threads, or in a loop of yours
aio         the scheduler in an asyncio event loop (``import htw.aio``)
Backoff     how long to wait before the next attempt

Times are seconds, as int or float, or a timedelta where one is taken; ``math.inf`` is never.
"""
from htw._backoff import Backoff
from htw._base import (
    BusyError,
    DeadlockError,
    Error,
    ForkedError,
    FullError,
    Key,
    KeyExistsError,
    Stats,
    StoppedError,
)
from htw._native import ffi as _ffi
from htw._native import lib as _lib
from htw._scheduler import (
    Clock,
    Group,
    Observe,
    Outcome,
    Repeat,
    Scheduler,
    Timer,
    Unexpired,
)

#: The version of the library that runs.
library_version: str = _ffi.string(_lib.htw_version()).decode()

__all__ = [
    "Backoff", "BusyError", "Clock", "DeadlockError", "Error", "ForkedError", "FullError",
    "Group", "Key", "KeyExistsError", "Observe", "Outcome", "Repeat", "Scheduler", "Stats", "StoppedError",
    "Timer", "Unexpired", "library_version",
]
