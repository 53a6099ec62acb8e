# SPDX-License-Identifier: MIT
"""The scheduler: timers whose callbacks run in threads of the library, or in a loop of yours."""
from __future__ import annotations

import atexit
import enum
import errno
import os
import sys
import threading
import warnings
import weakref
from types import FrameType, TracebackType
from typing import Any, Callable, NamedTuple, Optional

from htw._base import (
    NEVER_NS,
    Bound,
    Closing,
    Duration,
    Key,
    Lease,
    Stats,
    checked,
    enter,
    fail,
    report,
    sized,
    stats_of,
    text_of,
    to_bytes,
    to_ns,
    to_seconds,
)
from htw._native import ffi, lib


class Outcome(enum.IntEnum):
    """The outcome of a cancel or a reschedule."""

    GONE = 0  #: the timer has ended
    CANCELLED = 1  #: the timer was pending; its callback does not run (again)
    RUNNING = 2  #: the callback is running; after a cancel, this is its last run
    MOVED = 3  #: the timer has its new deadline or period


_OUTCOMES = tuple(Outcome)


class Clock(enum.IntEnum):
    """The clock of a scheduler, or of one of its timers."""

    DEFAULT = lib.HTW_CLOCK_DEFAULT  #: of a scheduler: MONOTONIC; of a timer: that of its scheduler
    MONOTONIC = lib.HTW_CLOCK_MONOTONIC  #: never set; stops while the machine is suspended
    BOOTTIME = lib.HTW_CLOCK_BOOTTIME  #: never set; continues while the machine is suspended
    REALTIME = lib.HTW_CLOCK_REALTIME  #: the wall clock, in time since 1970; deadlines follow when it is set
    #: changes only in ``advance()`` and ``set_clock()``: for tests; then the other clocks of timers
    #: are manual, too
    MANUAL = lib.HTW_CLOCK_MANUAL


class Observe(enum.IntFlag):
    """What is observed of a scheduler."""

    NOTHING = 0
    SITES = 1  #: counts, by callback and the place of the call that has armed a timer
    EVENTS = 2  #: the last events of its timers


class Repeat(enum.IntEnum):
    """How a timer repeats. Its runs never overlap."""

    SKIP = 0  #: fixed rate; periods that passed during a run are skipped
    BURST = 1  #: fixed rate; overdue runs follow one another until they have caught up
    DELAY = 2  #: fixed rate; if a run was overdue, later periods count from its end
    AFTER = 3  #: fixed delay, from the end of a run to the start of the next one


class Unexpired(NamedTuple):
    """A timer that a stop or the cancel of a group has ended without a run."""

    timer: Timer
    callback: Callable[..., object]
    args: tuple[Any, ...]
    deadline: float  # in seconds of its clock


_new_handle = ffi.new_handle
_from_handle = ffi.from_handle
_schedule = lib.py_schedule
_cancel = lib.htw_cancel

_PACKAGE = os.path.dirname(__file__)
_sites: dict[tuple[str, int, str, Optional[str]], Any] = {}  # they stay until the process ends


def _site_of(callback: Callable[..., object]) -> Any:
    """The site of the call from outside of the package; NULL: there are too many."""
    frame: Optional[FrameType] = sys._getframe(2)
    while frame is not None and frame.f_code.co_filename.startswith(_PACKAGE):
        frame = frame.f_back
    if frame is None:
        return ffi.NULL
    code = frame.f_code
    name = getattr(callback, "__qualname__", None)
    place = code.co_filename, frame.f_lineno, code.co_name, name
    site = _sites.get(place)
    if site is None:
        if len(_sites) >= lib.HTW_SITES_MAX:
            return ffi.NULL
        site = lib.py_site(_text(name), _text(code.co_filename), _text(code.co_name),
                           frame.f_lineno or 0)
        if site != ffi.NULL:
            _sites[place] = site
    return site


def _text(text: object) -> Any:
    return text.encode(errors="replace") if isinstance(text, str) else ffi.NULL


class Timer(Bound):
    """A timer of a scheduler, as its methods return it.

    The scheduler keeps the timer, its callback and its arguments until the timer has ended; then it
    drops them all, also where the Timer itself lives on. To drop the Timer changes nothing.
    """

    __slots__ = ("_scheduler", "_group", "_callback", "_args", "_pass_timer", "_reference",
                 "_handle", "_deadline_ns", "_late_ns", "_missed", "__weakref__")

    def __init__(self, scheduler: Scheduler, group: Optional[Group],
                 callback: Callable[..., object], args: tuple[Any, ...], pass_timer: bool) -> None:
        self._scheduler = scheduler
        self._group = group
        self._callback: Optional[Callable[..., object]] = callback
        self._args = args
        self._pass_timer = pass_timer
        self._reference: Any = None
        self._handle = 0
        self._deadline_ns = NEVER_NS
        self._late_ns = 0
        self._missed = 0

    def cancel(self) -> Outcome:
        """Cancels the timer, and returns the outcome. Does not wait for a callback."""
        result: int = _cancel(self._scheduler._pointer, self._handle)
        return _OUTCOMES[result] if result >= 0 else Outcome(checked(result))

    def cancel_remaining(self) -> tuple[Outcome, Optional[float]]:
        """Cancels the timer; returns the outcome and, if CANCELLED, how much of the delay was left.

        That is in seconds: 0 if the timer was due, ``math.inf`` if it never was to run. Of a paused
        timer it is the rest that it kept.
        """
        left = ffi.new("int64_t *")
        outcome = Outcome(checked(lib.htw_cancel_remaining(self._scheduler._pointer, self._handle,
                                                           left)))
        return outcome, to_seconds(left[0]) if outcome == Outcome.CANCELLED else None

    def cancel_wait(self) -> Outcome:
        """Cancels the timer, waits until its callback is not running, and returns the outcome.

        Raises DeadlockError inside this very callback: the timer is cancelled even so.
        """
        return Outcome(checked(enter(lib.htw_cancel_wait, self._scheduler._pointer, self._handle)))

    def reschedule(self, delay: Duration) -> Outcome:
        """Gives the timer a new delay from now. In its own callback it runs again.

        Returns MOVED, RUNNING (nothing has changed: the callback is running) or GONE.
        """
        return Outcome(checked(lib.htw_reschedule(self._scheduler._pointer, self._handle,
                                                  to_ns(delay))))

    def reschedule_at(self, deadline: Duration) -> Outcome:
        """As reschedule(), with a deadline of the timer's clock."""
        return Outcome(checked(lib.htw_reschedule_at(self._scheduler._pointer, self._handle,
                                                     to_ns(deadline))))

    def set_period(self, period: Duration) -> Outcome:
        """Gives a repeating timer another period from its next run on."""
        return Outcome(checked(lib.htw_set_period(self._scheduler._pointer, self._handle,
                                                  to_ns(period))))

    @property
    def scheduler(self) -> Scheduler:
        """The scheduler of the timer."""
        return self._scheduler

    @property
    def pending(self) -> bool:
        """Whether the timer waits for a run. False while its callback is running."""
        return bool(lib.htw_is_pending(self._scheduler._pointer, self._handle))

    @property
    def deadline(self) -> Optional[float]:
        """The deadline in seconds of the timer's clock; None if the timer has ended."""
        info = self._info()
        return None if info is None else to_seconds(info.deadline_ns)

    @property
    def clock(self) -> Optional[Clock]:
        """The clock of the timer; None if the timer has ended."""
        info = self._info()
        return None if info is None else Clock(info.clock)

    def _info(self) -> Any:
        info = ffi.new("struct htw_timer_info *")
        result = lib.htw_scheduler_timer_info(self._scheduler._pointer, self._handle, info)
        return info if result == 0 else None

    @property
    def run_deadline(self) -> float:
        """The deadline of the latest run, in seconds; ``math.inf`` before the first one."""
        return to_seconds(self._deadline_ns)

    @property
    def late(self) -> float:
        """How long after its deadline the latest run started, in seconds."""
        return self._late_ns / 1e9

    @property
    def missed(self) -> int:
        """Periods that were skipped before the latest run (Repeat.SKIP)."""
        return self._missed

    def __repr__(self) -> str:
        state = "ended" if self._callback is None else repr(self._callback)
        return f"<htw.Timer {self._handle:#x} {state}>"


# ---- what the library calls; see native/shim.c


def _lost_run(kind: Any, exception: BaseException, traceback: TracebackType) -> None:
    report(exception, None)


def _lost_end(kind: Any, exception: BaseException, traceback: TracebackType) -> None:
    """A signal handler has raised in the few lines of py_ended(): they are done here again."""
    names = traceback.tb_frame.f_locals
    # Without a name for it the timer has its reference still.
    _end(names["timer"] if "timer" in names else _from_handle(names["object"]))
    report(exception, None)


def _end(timer: Timer) -> None:
    timer._scheduler._timers.discard(timer)
    timer._callback = None
    timer._args = ()
    timer._group = None
    timer._reference = None


@ffi.def_extern(onerror=_lost_run)
def py_expired(object: Any, handle: int, deadline_ns: int, late_ns: int, missed: int) -> None:
    timer: Timer = _from_handle(object)
    timer._handle = handle  # the call that schedules it may not have returned
    timer._deadline_ns = deadline_ns
    timer._late_ns = late_ns
    timer._missed = missed
    callback = timer._callback
    assert callback is not None
    try:
        if timer._pass_timer:
            callback(timer, *timer._args)
        else:
            callback(*timer._args)
    except BaseException as exception:
        timer._scheduler._report(timer, callback, exception)


@ffi.def_extern(onerror=_lost_end)
def py_ended(object: Any) -> None:
    timer: Timer = _from_handle(object)
    _end(timer)


@ffi.def_extern(onerror=_lost_run)
def py_handed_back(list: Any, object: Any, deadline_ns: int) -> None:
    timer: Timer = _from_handle(object)
    assert timer._callback is not None
    _from_handle(list).append(Unexpired(timer, timer._callback, timer._args, to_seconds(deadline_ns)))


# ---- the end of the interpreter

_live: weakref.WeakSet[Scheduler] = weakref.WeakSet()
_live_lock = threading.RLock()
_exiting = False


def _stop_all() -> None:
    """Stops all schedulers: a thread of theirs that needed the GIL later would find none."""
    global _exiting
    with _live_lock:
        _exiting = True
        schedulers = list(_live)
    for scheduler in schedulers:
        try:
            scheduler.close()
        except Exception as exception:
            report(exception, scheduler)


atexit.register(_stop_all)
os.register_at_fork(before=_live_lock.acquire, after_in_parent=_live_lock.release,
                    after_in_child=_live_lock.release)

ErrorHandler = Callable[[Timer, BaseException], object]


class Scheduler(Closing):
    """Runs callbacks at their time.

    >>> with Scheduler() as scheduler:
    ...     timer = scheduler.schedule(0.05, print, "hello")

    Callbacks run in threads of the library, two by default, one at a time as the GIL has it; with
    ``embedded=True`` in the thread that calls process(), with ``clock=Clock.MANUAL, workers=0`` in
    the one that calls advance(). The GIL is free while the library works or waits.

    Any thread may call any method at any time, also in a callback, except that close(), stop(),
    advance(), set_clock() and process() raise DeadlockError in a callback of the same scheduler.

    An exception of a callback goes to ``on_error(timer, exception)`` if that is given, otherwise to
    sys.unraisablehook. KeyboardInterrupt, SystemExit and others that are no Exception are raised by
    the method in which the callback runs, once that is done, if it runs in one.

    Close a scheduler, or use it as a context manager. One that is dropped open is stopped when it
    is collected, with a ResourceWarning. One that is open when the interpreter ends is stopped
    then: what is pending does not run, but callbacks that are running are waited for.

    Options, all by keyword (htw/scheduler.h has their ranges):

    ``tick``
        the length of a tick in seconds; a callback is late by up to a tick.
    ``workers``, ``expirers``, ``shards``, ``wheel_size``
        how many threads run callbacks, how many wait for deadlines, how many parts with a lock of
        their own, how many buckets a level has; 0 workers: those that wait run them. One shard is
        enough here, unless many threads schedule while others are in C.
    ``clock``
        a Clock.
    ``embedded``
        no threads: a loop waits for fileno() to become readable, and calls process().
    ``start_threads``
        start all threads now, not when they are needed.
    ``max_pending``
        the most timers that may be pending; then FullError. 0: no limit.
    ``timer_slack``, ``late_threshold``
        in seconds: how much longer threads may sleep; what counts as late in the statistics.
    ``manual_start``
        the first value of the manual clock, in seconds.
    ``thread_name``
        the prefix of the names of threads.
    ``observe``
        what is observed from the beginning: a set of Observe; see observe().
    ``on_error``
        see above.
    """

    _closed = True  # until there is one

    def __init__(self, *, tick: Duration = 0.001, workers: int = 2, expirers: int = 0,
                 shards: int = 1, wheel_size: int = 0, clock: Clock = Clock.DEFAULT,
                 embedded: bool = False, start_threads: bool = False, max_pending: int = 0,
                 timer_slack: Duration = 0, late_threshold: Duration = 0, manual_start: Duration = 0,
                 thread_name: Optional[str] = None, observe: Observe = Observe.NOTHING,
                 on_error: Optional[ErrorHandler] = None) -> None:
        self._begin()
        self._timers: set[Timer] = set()
        self._on_error = on_error
        options = sized("struct htw_scheduler_options")
        options.tick_ns = to_ns(tick)
        options.workers = workers or lib.HTW_NO_WORKERS
        options.expirers = expirers
        options.shards = shards
        options.wheel_size = wheel_size
        options.embedded = embedded
        options.start_threads = start_threads
        options.max_pending = max_pending
        options.timer_slack_ns = to_ns(timer_slack)
        options.late_threshold_ns = to_ns(late_threshold)
        options.manual_start_ns = to_ns(manual_start)
        options.observe = int(observe)
        options.clock = int(clock)
        name = None if thread_name is None else ffi.new("char[]", thread_name.encode())
        if name is not None:
            options.thread_name = name
        pointer = ffi.new("struct htw_scheduler **")
        with _live_lock:
            if _exiting:
                raise RuntimeError("no scheduler can be created while the interpreter ends")
            checked(lib.htw_scheduler_create(pointer, options), takes_struct=True)
            # Freed with the last reference, never while a thread is in a call of a method.
            self._pointer = pointer[0]
            self._lease = Lease(self._pointer, lib.htw_scheduler_destroy, None)
            self._closed = False
            _live.add(self)

    # ---- life

    def stop(self) -> list[Unexpired]:
        """Stops the scheduler, and returns the timers that have not run, in no particular order.

        No callback starts any more. Waits for those that are running: so hold no lock that one of
        them needs. Afterwards scheduling raises StoppedError. A second call returns [].
        """
        unexpired: list[Unexpired] = []
        reference = ffi.new_handle(unexpired)
        checked(enter(lib.py_scheduler_stop, self._pointer, reference))
        self._closed = True
        return unexpired

    def close(self) -> None:
        """Stops the scheduler, and drops what is pending. Does nothing if it was stopped.

        The memory is freed with the last reference to the scheduler or to one of its timers.
        """
        if not self._closed:
            result = enter(lib.py_scheduler_stop, self._pointer, ffi.NULL)
            if result != -errno.EOWNERDEAD:  # nothing of it runs in a child process
                checked(result)
            self._closed = True

    def __del__(self, is_finalizing: Callable[[], bool] = sys.is_finalizing) -> None:
        if self._closed or is_finalizing():
            return
        result = lib.py_scheduler_stop(self._pointer, ffi.NULL)
        if result == -errno.EOWNERDEAD:
            return
        warnings.warn(f"unclosed scheduler {self!r}", ResourceWarning, stacklevel=2, source=self)
        if result == -errno.EDEADLK:
            # The collector runs in a thread of this scheduler, which is about to run a callback:
            # the scheduler and its timers live on until that has returned.
            threading.Thread(target=self.close, name="htw-close").start()

    def _report(self, timer: Timer, callback: object, exception: BaseException) -> None:
        if self._on_error is None or not isinstance(exception, Exception):
            report(exception, callback)
            return
        try:
            self._on_error(timer, exception)
        except BaseException as second:
            report(second, self._on_error)

    # ---- time

    def now(self, clock: Clock = Clock.DEFAULT) -> float:
        """The time of the scheduler's clock, or of another one of its timers, in seconds."""
        return int(lib.htw_scheduler_now_by(self._pointer, clock)) / 1e9

    # ---- scheduling

    def schedule(self, delay: Duration, callback: Callable[..., object], *args: Any,
                 latest: Optional[Duration] = None, key: Optional[Key] = None,
                 keep_existing: bool = False, group: Optional[Group] = None,
                 pass_timer: bool = False, clock: Clock = Clock.DEFAULT) -> Timer:
        """Calls ``callback(*args)`` once, `delay` from now; never early.

        Times are seconds, as int or float, or a timedelta.

        ``latest``
            the longest allowed delay: the callback runs somewhere between, together with
            others where possible.
        ``key``
            at most one timer of a group, or of those without a group, is pending under a key: a new
            one replaces it, or with ``keep_existing`` raises KeyExistsError.
        ``group``
            the group of the timer.
        ``pass_timer``
            call ``callback(timer, *args)``.
        ``clock``
            the clock of the timer, if it is another than that of the scheduler.

        A delay of 0 or less means now, but never inside this call; ``math.inf`` means never, until
        the timer is rescheduled.
        """
        return self._start(delay, latest, False, 0, 0, callback, args, key, keep_existing,
                           group, clock, pass_timer)

    def schedule_at(self, deadline: Duration, callback: Callable[..., object], *args: Any,
                    latest: Optional[Duration] = None, key: Optional[Key] = None,
                    keep_existing: bool = False, group: Optional[Group] = None,
                    pass_timer: bool = False, clock: Clock = Clock.DEFAULT) -> Timer:
        """As schedule(), with deadlines of the timer's clock, as now(clock) returns."""
        return self._start(deadline, latest, True, 0, 0, callback, args, key, keep_existing,
                           group, clock, pass_timer)

    def repeat(self, period: Duration, callback: Callable[..., object], *args: Any,
               first: Optional[Duration] = None, policy: Repeat = Repeat.SKIP,
               key: Optional[Key] = None, keep_existing: bool = False,
               group: Optional[Group] = None, pass_timer: bool = False,
               clock: Clock = Clock.DEFAULT) -> Timer:
        """Calls ``callback(*args)`` every `period` until the timer is cancelled.

        ``first``
            the delay of the first run; without it, a period.
        ``policy``
            how late runs are treated.

        The other options are those of schedule().
        """
        period_ns = to_ns(period)
        if period_ns <= 0:
            raise ValueError("the period must be more than 0")
        return self._start(period if first is None else first, None, False, period_ns,
                           Repeat(policy).value, callback, args, key, keep_existing, group, clock,
                           pass_timer)

    def _start(self, when: Duration, latest: Optional[Duration], absolute: bool, period_ns: int,
               repeat: int, callback: Callable[..., object], args: tuple[Any, ...],
               key: Optional[Key], keep_existing: bool, group: Optional[Group], clock: Clock,
               pass_timer: bool) -> Timer:
        when_ns = to_ns(when)
        if key is None and group is None and latest is None and not absolute \
                and not period_ns and clock == 0:
            return self._keep(None, callback, args, pass_timer, _schedule, when_ns,
                              _site_of(callback))
        latest_ns = when_ns if latest is None else to_ns(latest)
        if latest_ns < when_ns:
            raise ValueError("the latest time is earlier than the first")
        spec = sized("struct htw_spec")
        spec.when_ns = when_ns
        spec.latest_ns = latest_ns
        spec.absolute = absolute
        spec.period_ns = period_ns
        spec.repeat = repeat
        spec.clock = clock and Clock(clock)
        key_bytes = None if key is None else to_bytes(key)
        fill_common(spec, key_bytes, keep_existing, group, callback)
        return self._keep(group, callback, args, pass_timer, lib.py_schedule_spec, spec)

    def _keep(self, group: Optional[Group], callback: Callable[..., object], args: tuple[Any, ...],
              pass_timer: bool, schedule: Callable[..., int], *properties: Any) -> Timer:
        """Makes a Timer, and schedules it by a function of C, which takes such `properties`."""
        if not callable(callback):
            raise TypeError(f"the callback {callback!r} is not callable")
        timer = Timer(self, group, callback, args, pass_timer)
        reference = timer._reference = _new_handle(timer)
        self._timers.add(timer)
        # From here on nothing raises but a signal handler, and when it does the timer is in the
        # set, as long as the library knows it.
        handle = schedule(self._pointer, *properties, reference)
        if handle == 0:
            number = ffi.errno
            _end(timer)
            fail(-number)
        timer._handle = handle
        return timer

    # ---- keys

    def cancel_key(self, key: Key, group: Optional[Group] = None) -> Outcome:
        """Cancels the timer that is pending or repeats under a key, and returns the outcome."""
        key_bytes = to_bytes(key)
        return Outcome(checked(lib.htw_cancel_key(self._pointer, pointer_of(group), key_bytes,
                                                  len(key_bytes), ffi.NULL)))

    def has_key(self, key: Key, group: Optional[Group] = None) -> bool:
        """Whether a timer is pending or repeats under a key."""
        key_bytes = to_bytes(key)
        return bool(lib.htw_find_key(self._pointer, pointer_of(group), key_bytes, len(key_bytes)))

    def group(self, name: Optional[str] = None) -> Group:
        """Creates a group of timers. `name`: of it in dump()."""
        return Group(self, name)

    # ---- embedded, and manual time

    def fileno(self) -> int:
        """The file descriptor that is readable when process() has something to do (embedded)."""
        return checked(lib.htw_scheduler_fd(self._pointer))

    def next(self) -> float:
        """When process() has something to do, in seconds of the scheduler's clock; ``math.inf``: never."""
        return to_seconds(lib.htw_scheduler_next(self._pointer))

    def process(self, budget: int = 0) -> bool:
        """Runs callbacks that are due, in this thread; returns whether to call it again (embedded).

        `budget`: the most callbacks to run; 0: all that are due at the start of the call. A call
        that uses it up returns True, even if nothing is left.
        """
        return bool(checked(enter(lib.htw_scheduler_process, self._pointer, budget, ffi.NULL)))

    def advance(self, duration: Duration) -> None:
        """Advances the manual clock, and runs all that becomes due, in order."""
        checked(enter(lib.htw_scheduler_advance, self._pointer, to_ns(duration)))

    def set_clock(self, time: Duration, clock: Clock = Clock.DEFAULT) -> None:
        """Sets the manual clock in one step, forward or back; or another one of the timers."""
        checked(enter(lib.htw_scheduler_set_clock, self._pointer, Clock(clock), to_ns(time)))

    # ---- statistics

    def __len__(self) -> int:
        """How many timers are pending."""
        return int(lib.htw_pending(self._pointer))

    def __bool__(self) -> bool:
        return True

    def stats(self) -> Stats:
        """The statistics since the scheduler was created; htw/observe.h explains each."""
        stats = sized("struct htw_scheduler_stats")
        checked(lib.htw_scheduler_get_stats(self._pointer, stats))
        return stats_of(stats[0])

    def prometheus(self) -> str:
        """The statistics in the text format of Prometheus."""
        return text_of(lib.py_scheduler_prometheus(self._pointer))

    def observe(self, what: Observe) -> None:
        """Sets what is observed: ``Observe.SITES`` counts by the place of the call that has armed a
        timer, for dump(); ``Observe.EVENTS`` records the last events, for ``htw replay``."""
        checked(lib.htw_scheduler_observe(self._pointer, int(what)))

    @property
    def observed(self) -> Observe:
        """What is observed."""
        return Observe(lib.htw_scheduler_observed(self._pointer))

    def dump(self) -> str:
        """What is pending, for people: by callback and the place of the call that has armed it, and
        the next ten timers; with ``Observe.SITES`` also what was counted."""
        return text_of(lib.py_scheduler_dump(self._pointer))


def pointer_of(group: Optional[Group]) -> Any:
    """The pointer of a group, for functions of C: of None it is NULL."""
    if group is None:
        return ffi.NULL
    if not isinstance(group, Group):
        raise TypeError(f"{group!r} is not a Group")
    return group._pointer


def fill_common(spec: Any, key: Optional[bytes], keep_existing: bool, group: Optional[Group],
                callback: Callable[..., object]) -> None:
    """Fills in what the specs of all timers have. The caller keeps `key` until the timer is scheduled."""
    if key is not None:
        spec.key = ffi.from_buffer(key)
        spec.key_size = len(key)
    spec.keep_existing = bool(keep_existing)
    spec.group = pointer_of(group)
    spec.site = _site_of(callback)


class Group(Bound):
    """Timers that are cancelled, paused and resumed together. Its pending timers keep it alive."""

    __slots__ = ("_scheduler", "_pointer", "_lease", "__weakref__")

    def __init__(self, scheduler: Scheduler, name: Optional[str] = None) -> None:
        self._begin()
        pointer = ffi.new("struct htw_group **")
        checked(lib.htw_group_create(scheduler._pointer, pointer))
        self._scheduler = scheduler
        self._pointer = pointer[0]
        self._lease = Lease(self._pointer, lib.htw_group_destroy, scheduler._lease)
        checked(lib.htw_group_set_name(self._pointer, _text(name)))

    def cancel(self) -> list[Unexpired]:
        """Cancels all timers of the group, and returns those that were pending."""
        unexpired: list[Unexpired] = []
        reference = ffi.new_handle(unexpired)
        checked(enter(lib.py_group_cancel, self._pointer, reference))
        return unexpired

    def pause(self) -> None:
        """Pauses the group: no callback of it starts until it is resumed."""
        checked(lib.htw_group_pause(self._pointer))

    def resume(self) -> None:
        """Resumes the group: each timer continues with the rest of its delay."""
        checked(lib.htw_group_resume(self._pointer))

    def __len__(self) -> int:
        """How many timers of the group are pending, paused or running."""
        return int(lib.htw_group_count(self._pointer))

    def __bool__(self) -> bool:
        return True
