# SPDX-License-Identifier: MIT
"""The scheduler in an asyncio event loop: callbacks run in the thread of the loop."""
from __future__ import annotations

import asyncio
import contextvars
import math
from types import TracebackType
from typing import Any, Callable, Optional, Type

from htw._base import Duration, checked, to_ns, to_seconds
from htw._native import ffi, lib
from htw._scheduler import Group, Timer
from htw._scheduler import Scheduler as _Scheduler

__all__ = ["Scheduler", "left", "timeout"]


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
        self._outer = _scheduler.get()
        _scheduler.set(self)
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        _scheduler.set(self._outer)  # no reset(), which fails in another context
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


# ---- scopes

_scheduler: contextvars.ContextVar[Optional[Scheduler]] = contextvars.ContextVar("htw.aio.scheduler", default=None)
_innermost: contextvars.ContextVar[Optional[timeout]] = contextvars.ContextVar("htw.aio.timeout", default=None)
_entered: dict[Any, timeout] = {}  # by the scope of C, which they keep


class timeout:
    """Ends a block, and all that it awaits, at a deadline that propagates; see htw/scope.h.

    >>> async def main():
    ...     async with Scheduler():
    ...         async with timeout(0.05):
    ...             async with timeout(10):  # has no more than the 50 ms, and arms no timer
    ...                 print(left() <= 0.05)
    ...                 await asyncio.sleep(60)
    >>> asyncio.run(main())
    Traceback (most recent call last):
    TimeoutError

    The deadline of a block is its own or that of the block around it, whichever is earlier, also in
    tasks that were created inside: their blocks end with it. The task is cancelled in the block
    whose deadline has passed, which raises TimeoutError, as asyncio.timeout() does.

    ``delay``
        in seconds or a timedelta; ``math.inf``: no deadline of its own.
    ``scheduler``
        by default that of the block around it, otherwise the one whose `async with` is around it.
        If it is given, the deadline is that of this block alone, whatever is around it.

    Use it in the thread of the loop.
    """

    def __init__(self, delay: Duration, *, scheduler: Optional[Scheduler] = None) -> None:
        self._delay_ns = to_ns(delay)
        self._given = scheduler
        self._interrupts = self._exited = False
        self._scope: Any = ffi.new("struct htw_scope *")

    async def __aenter__(self) -> timeout:
        task = asyncio.current_task()
        if task is None or hasattr(self, "_task"):
            raise RuntimeError("a timeout is for a task, and for one block")
        parent = None if self._given is not None else _innermost.get()
        scheduler = parent._scheduler if parent is not None else self._given or _scheduler.get()
        if scheduler is None:
            raise RuntimeError("there is no scheduler around this timeout")
        self._scheduler: Scheduler = scheduler
        self._task: asyncio.Task[Any] = task
        self._parent = parent
        self._cancels = task.cancelling() if hasattr(task, "cancelling") else 0
        _entered[self._scope] = self
        why = lib.py_scope_enter(self._scope, scheduler._pointer,
                                 ffi.NULL if parent is None else parent._scope, self._delay_ns)
        if why < 0:
            del _entered[self._scope]
        if checked(why) != lib.HTW_SCOPE_OPEN:
            self._end(why)
        self._token = _innermost.set(self)
        return self

    async def __aexit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                        traceback: Optional[TracebackType]) -> None:
        self._exited = True
        _innermost.reset(self._token)
        lib.htw_scope_exit(self._scope)
        del _entered[self._scope]
        if self._interrupts and lib.htw_scope_cause(self._scope) == lib.HTW_SCOPE_DEADLINE:
            cancels = self._task.uncancel() if hasattr(self._task, "uncancel") else 0
            if kind is asyncio.CancelledError and cancels <= self._cancels:
                raise asyncio.TimeoutError from value

    def _end(self, why: int) -> None:
        # If the parent has ended it and is in the same task, that is cancelled already.
        if why != lib.HTW_SCOPE_PARENT or self._parent is None or self._parent._task is not self._task:
            self._task.get_loop().call_soon_threadsafe(self._interrupt)

    def _interrupt(self) -> None:
        if not self._exited:
            self._interrupts = True
            self._task.cancel()

    def left(self) -> float:
        """How much time is left, in seconds; 0 when the block has ended."""
        return to_seconds(lib.htw_scope_left_ns(self._scope))

    def shorten(self, delay: Duration) -> None:
        """Gives the block, and those in it, a deadline that is not later than `delay` from now."""
        checked(lib.htw_scope_shorten(self._scope, to_ns(delay)))

    @property
    def expired(self) -> bool:
        """Whether a deadline has ended the block: its own, or that of a block around it."""
        return bool(lib.htw_scope_cause(self._scope) == lib.HTW_SCOPE_DEADLINE)


def left() -> float:
    """How much time the innermost timeout has left, in seconds: to pass on to a peer; ``math.inf`` without one."""
    innermost = _innermost.get()
    return math.inf if innermost is None else innermost.left()


@ffi.def_extern()
def py_scope_ended(scope: Any, why: int) -> None:
    _entered[scope]._end(why)
