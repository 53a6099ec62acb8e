# SPDX-License-Identifier: MIT
"""The scheduler in an asyncio event loop: callbacks run in the thread of the loop."""
from __future__ import annotations

import asyncio
import contextvars
import math
from types import TracebackType
from typing import Any, Callable, Optional, Type

from htw._scheduler import Group, Timer
from htw._scheduler import Scheduler as _Scheduler

__all__ = ["Scheduler"]


class Scheduler(_Scheduler):
    """A scheduler whose callbacks run in an asyncio event loop, as those of call_later() do.

    >>> async def main():
    ...     async with Scheduler() as scheduler:
    ...         scheduler.schedule(0.05, print, "hello")
    ...         await scheduler.sleep(0.1)
    >>> asyncio.run(main())
    hello

    The loop watches one file descriptor for all timers, however many there are. Create and close a
    scheduler in the thread of its loop; other threads may schedule and cancel. A callback runs in
    the context in which its timer was scheduled. What it raises goes to the exception handler of
    the loop, unless `on_error` is given.

    ``loop``
        the loop; by default the running one.
    ``budget``
        the most callbacks that run before the loop serves something else.

    The other options are those of htw.Scheduler, except that it is embedded.
    """

    def __init__(self, loop: Optional[asyncio.AbstractEventLoop] = None, *, budget: int = 256,
                 **options: Any) -> None:
        if budget < 1:
            raise ValueError("the budget must be at least 1")
        self._loop = asyncio.get_running_loop() if loop is None else loop
        self._budget = budget
        super().__init__(embedded=True, **options)
        self._fd = self.fileno()
        self._loop.add_reader(self._fd, self._process)

    def _process(self) -> None:
        # What is left keeps the descriptor readable.
        if not self.closed:
            self.process(self._budget)

    def stop(self) -> Any:
        if not self.closed and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        return super().stop()

    stop.__doc__ = _Scheduler.stop.__doc__

    def close(self) -> None:
        if not self.closed and not self._loop.is_closed():
            self._loop.remove_reader(self._fd)
        super().close()

    close.__doc__ = _Scheduler.close.__doc__

    async def __aenter__(self) -> Scheduler:
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        self.close()

    def _keep(self, group: Optional[Group], callback: Callable[..., object], args: tuple[Any, ...],
              pass_timer: bool, schedule: Callable[..., int], *properties: Any) -> Timer:
        if not callable(callback) or asyncio.iscoroutinefunction(callback):
            raise TypeError(f"the callback {callback!r} must be a function, not a coroutine's")
        context = contextvars.copy_context()
        if not pass_timer:
            return super()._keep(group, context.run, (callback, *args), False, schedule,
                                 *properties)

        def run(timer: Timer, *args: Any) -> None:  # the timer comes first among the arguments
            context.run(callback, timer, *args)

        return super()._keep(group, run, args, True, schedule, *properties)

    def _report(self, timer: Timer, callback: object, exception: BaseException) -> None:
        if self._on_error is not None or not isinstance(exception, Exception):
            super()._report(timer, callback, exception)
            return
        self._loop.call_exception_handler({
            "message": f"Exception in callback of {timer!r}",
            "exception": exception,
            "timer": timer,
        })

    async def sleep(self, delay: float) -> None:
        """Waits for `delay` seconds, at least; cancelled like any await. math.inf: for ever."""
        future: asyncio.Future[None] = self._loop.create_future()
        if delay <= 0:
            await asyncio.sleep(0)
            return
        timer = None if delay == math.inf else self.schedule(delay, _wake, future)
        try:
            await future
        finally:
            if timer is not None:
                timer.cancel()


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
