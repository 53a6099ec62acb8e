# SPDX-License-Identifier: MIT
"""What all modules of the package use: errors, units of time, exceptions of callbacks."""
from __future__ import annotations

import errno
import math
import operator
import sys
import threading
from datetime import timedelta
from types import SimpleNamespace, TracebackType
from typing import Any, Callable, NoReturn, Optional, Type, TypeVar, Union

from htw._native import ffi, lib

#: A delay or deadline in nanoseconds that never comes. In seconds it is ``math.inf``.
NEVER_NS: int = 2**63 - 1

Key = Union[bytes, bytearray, memoryview, str]
_Closing = TypeVar("_Closing", bound="Closing")


class Stats(SimpleNamespace):
    """Statistics: the members of a struct of C as integers; of a distribution, as Stats. ``vars()`` makes a dictionary."""


def stats_of(native: Any) -> Stats:
    """What a struct of C has."""
    values = {name: getattr(native, name) for name, _ in ffi.typeof(native).fields if name != "struct_size"}
    return Stats(**{name: value if isinstance(value, int) else stats_of(value) for name, value in values.items()})


class Error(OSError):
    """An error of the library. ``errno`` is its number, ``strerror`` what it means here."""


class StoppedError(Error):
    """The scheduler was stopped, or the purgatory or journal closed."""


class FullError(Error):
    """``max_pending`` timers are pending, or a limit of a journal is reached."""


class KeyExistsError(Error):
    """A timer or job has the key, and ``keep_existing`` or ``if_absent`` was given."""


class DeadlockError(Error):
    """The call would wait for itself: it is inside a callback or hook that it would wait for."""


class BusyError(Error):
    """Another thread is in this function, the request is already submitted, or the file is in use."""


class ForkedError(Error):
    """The object belongs to the parent of this process, which has forked."""


_ERRORS: dict[int, Type[Error]] = {
    errno.ESHUTDOWN: StoppedError,
    errno.EAGAIN: FullError,
    errno.EEXIST: KeyExistsError,
    errno.EDEADLK: DeadlockError,
    errno.EBUSY: BusyError,
    errno.EOWNERDEAD: ForkedError,
}


def error_of(number: int, text: str) -> Exception:
    """The exception for an errno."""
    if number == errno.ENOMEM:
        return MemoryError(text)
    if number == errno.EINVAL:
        return ValueError(text)
    return _ERRORS.get(number, Error)(number, text)


def fail(result: int, takes_struct: bool = False) -> NoReturn:
    """Raises what a negative result of the library means, with the member that was refused of a struct."""
    number = -result
    text: str = ffi.string(lib.htw_strerror(result)).decode()
    member = lib.htw_invalid_member() if takes_struct and number == errno.EINVAL else ffi.NULL
    if member != ffi.NULL:
        text = f"{ffi.string(member).decode()}: {text}"
    raise error_of(number, text)


def checked(result: int, takes_struct: bool = False) -> int:
    """Returns a result of the library, or raises what it means."""
    if result < 0:
        fail(result, takes_struct)
    return result


def sized(name: str) -> Any:
    """A struct of C with all members 0 but its size, as the macros HTW_..._INIT make it."""
    value = ffi.new(name + " *")
    value.struct_size = ffi.sizeof(name)
    return value


#: A length of time: seconds, or a timedelta.
Duration = Union[float, timedelta]


def to_ns(seconds: Duration) -> int:
    """A time as nanoseconds, rounded to the nearest; what is too great is never."""
    if isinstance(seconds, timedelta):
        return limit_ns(seconds // timedelta(microseconds=1) * 1000)
    if isinstance(seconds, int):
        return limit_ns(seconds * 1_000_000_000)
    nanoseconds = seconds * 1e9
    if abs(nanoseconds) >= NEVER_NS:  # infinite, perhaps
        return NEVER_NS if nanoseconds > 0 else -NEVER_NS
    return round(nanoseconds)


def limit_ns(nanoseconds: int) -> int:
    """Nanoseconds within 64 bits: what is too great is never, what is too small is now."""
    if nanoseconds >= NEVER_NS:
        return NEVER_NS
    return nanoseconds if nanoseconds > -NEVER_NS else -NEVER_NS


def to_seconds(nanoseconds: int) -> float:
    """Nanoseconds as seconds; never is ``math.inf``."""
    return math.inf if nanoseconds == NEVER_NS else nanoseconds / 1e9


def to_index(number: int) -> int:
    """An int: so that what is given to a function of the library never fails to convert."""
    return number if type(number) is int else operator.index(number)


def to_bytes(key: Key) -> bytes:
    """The bytes of a key; text is encoded as UTF-8."""
    return key.encode() if isinstance(key, str) else bytes(key)


def text_of(memory: Any) -> str:
    """The text that a function of shim.c has allocated, or raises what ffi.errno means."""
    if memory == ffi.NULL:
        fail(-ffi.errno)
    try:
        text: str = ffi.string(memory).decode()
        return text
    finally:
        lib.py_free(memory)


# ---- exceptions of callbacks


class _Entered(threading.local):
    depth = 0
    raised: Optional[BaseException] = None


_entered = _Entered()


def enter(function: Callable[..., int], *args: object) -> int:
    """Enters the library by a function that may run callbacks in this thread.

    A KeyboardInterrupt, SystemExit or other exception that is no Exception cannot pass through C:
    it is raised here, when the function has returned.
    """
    local = _entered
    local.depth += 1
    try:
        result = function(*args)
    finally:
        local.depth -= 1
        if local.depth == 0 and local.raised is not None:
            raised, local.raised = local.raised, None
            raise raised
    return result


def report(exception: BaseException, source: object) -> None:
    """Reports what a callback or hook has raised: to enter() above, or to sys.unraisablehook."""
    if not isinstance(exception, Exception) and _entered.depth > 0:
        if _entered.raised is None:
            _entered.raised = exception
        return
    lib.py_unraisable(id(exception), id(source))


# ---- objects of the library


class Bound:
    """An object that stands for one of the library: a copy would stand for the same one."""

    __slots__ = ()

    def __reduce_ex__(self, protocol: Any) -> NoReturn:
        raise TypeError(f"cannot copy or pickle {type(self).__name__!r} object")

    def _begin(self) -> None:
        """Refuses a second __init__(), which would lose the first object."""
        if hasattr(self, "_pointer"):
            raise RuntimeError(f"{type(self).__name__!r} object is initialised already")


class Lease:
    """Destroys an object of the library when the last reference to the lease goes.

    `function` does that; `owner` is the lease of an object that must last longer.

    The collector of cycles does not see a lease (as it sees a cdata of ffi.gc()). So it goes after
    all finalizers of a cycle have run and none has brought its holder back, and never while a
    thread is in a method of the holder.
    """

    __slots__ = ("_function", "_pointer", "_owner")

    def __init__(self, pointer: Any, function: Callable[[Any], Any],
                 owner: Optional[Lease]) -> None:
        self._function = function
        self._pointer = pointer
        self._owner = owner
        lib.py_untrack(id(self))

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing,
                thread: Type[threading.Thread] = threading.Thread,
                deadlock: int = -errno.EDEADLK) -> None:
        if is_finalizing():
            return  # nothing runs any more, and the process ends
        # The last reference may go in a callback of this very object, which it would wait for.
        if self._function(self._pointer) == deadlock:
            thread(target=_destroy, args=(self._function, self._pointer, self._owner),
                   name="htw-destroy").start()


def _destroy(function: Callable[[Any], object], pointer: Any, owner: Optional[Lease]) -> None:
    function(pointer)


class Closing(Bound):
    """What is closed by ``close()``, or at the end of a ``with``."""

    _closed: bool

    def close(self) -> Any:
        """Closes it."""
        raise NotImplementedError

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def __enter__(self: _Closing) -> _Closing:
        return self

    def __exit__(self, kind: Optional[Type[BaseException]], value: Optional[BaseException],
                 traceback: Optional[TracebackType]) -> None:
        self.close()
