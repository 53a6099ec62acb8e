# SPDX-License-Identifier: MIT
"""How long to wait before the next attempt at something that fails."""
from __future__ import annotations

import threading
from typing import Iterator, Optional

from htw._base import Duration, checked, sized, to_ns
from htw._native import ffi, lib


class Backoff:
    """Delays that grow from attempt to attempt up to a limit, and are random in part.

    >>> backoff = Backoff(initial=0.1, cap=30)
    >>> delay = backoff.next()  # after a failure
    >>> backoff.reset()         # after a success

    ``initial``, ``cap``
        the first and the longest delay before jitter, in seconds.
    ``multiplier``
        each delay is this many times the one before; at least 1.
    ``jitter``
        the part of each delay that is random, from 0 to 1.
    ``seed``
        of the random numbers, 64 bits; the same seed gives the same delays. Give each client
        another one.

    Any thread may use it.
    """

    def __init__(self, *, initial: Duration = 0.1, cap: Duration = 30, multiplier: float = 2,
                 jitter: float = 0.5, seed: int = 0) -> None:
        options = sized("struct htw_backoff_options")
        options.initial_ns = to_ns(initial)
        options.cap_ns = to_ns(cap)
        options.multiplier = multiplier
        options.jitter = jitter or -1.0  # HTW_NO_JITTER
        options.seed = seed
        self._lock = threading.Lock()
        self._backoff = ffi.new("struct htw_backoff *")
        checked(lib.htw_backoff_init(self._backoff, options), takes_struct=True)

    def next(self) -> float:
        """The delay before the next attempt, in seconds; counts the attempt."""
        with self._lock:
            return checked(lib.htw_backoff_next(self._backoff)) / 1e9

    def reset(self) -> None:
        """Starts again from the initial delay, after a success."""
        with self._lock:
            lib.htw_backoff_reset(self._backoff)

    @property
    def attempts(self) -> int:
        """How many delays were returned since the start or the last reset."""
        return int(lib.htw_backoff_attempts(self._backoff))

    def delays(self, attempts: Optional[int] = None) -> Iterator[float]:
        """The next delays in seconds, without end or `attempts` of them."""
        while attempts is None or attempts > 0:
            yield self.next()
            if attempts is not None:
                attempts -= 1
