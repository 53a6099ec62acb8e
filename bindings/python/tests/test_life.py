# SPDX-License-Identifier: MIT
"""How timers and schedulers end: references, exceptions, fork, the end of the interpreter."""
import copy
import gc
import os
import pickle
import signal
import sys
import threading
import time
import weakref

import pytest

import htw
from conftest import advance_interrupted, collected, in_child, run_python, wait_until
from htw import Clock, Outcome


class Payload:
    def __call__(self, *args):
        pass


# ---- references


def run_and_fail(scheduler, timer, group):
    Payload.__call__ = lambda *args: 1 / 0
    try:
        scheduler.advance(1)
    finally:
        Payload.__call__ = lambda *args: None


ENDS = {
    "run": lambda scheduler, timer, group: scheduler.advance(1),
    "cancel": lambda scheduler, timer, group: timer.cancel(),
    "cancel_wait": lambda scheduler, timer, group: timer.cancel_wait(),
    "cancel_key": lambda scheduler, timer, group: scheduler.cancel_key("key", group),
    "replace": lambda scheduler, timer, group: scheduler.schedule(float("inf"), int, key="key", group=group),
    "cancel_group": lambda scheduler, timer, group: group.cancel(),
    "stop": lambda scheduler, timer, group: scheduler.stop(),
    "close": lambda scheduler, timer, group: scheduler.close(),
    "run_and_fail": run_and_fail,
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_ended_timer_keeps_neither_callback_nor_arguments(manual, unraisable, end):
    group = manual.group()
    callback, argument = Payload(), Payload()
    references = weakref.ref(callback), weakref.ref(argument)
    timer = manual.schedule(1, callback, argument, key="key", group=group)
    del callback, argument
    gc.collect()
    assert all(reference() is not None for reference in references)
    end(manual, timer, group)
    unraisable.clear()
    assert all(reference() is None for reference in references), "without a collection"
    kept = weakref.ref(timer)
    del timer
    assert kept() is None, "without a collection"


def test_memory_of_many_rounds_does_not_grow(manual):
    import tracemalloc
    tracemalloc.start()
    try:
        def rounds(count):
            for i in range(count):
                manual.schedule(1, Payload(), i)
                manual.schedule(1, Payload(), i, key="k").cancel()
                manual.repeat(1, int, key="k")
                manual.cancel_key("k")
                manual.advance(1)
            return tracemalloc.get_traced_memory()[0]

        before = rounds(200)
        assert rounds(5000) - before < 20_000
    finally:
        tracemalloc.stop()


def test_dropped_scheduler_is_collected_with_its_cycle_and_warns():
    class Owner:
        def __init__(self):
            self.scheduler = htw.Scheduler(start_threads=True)
            self.scheduler.schedule(1000, self.work)
            self.scheduler.repeat(0.001, self.work)

        def work(self):
            pass

    threads = len(os.listdir("/proc/self/task"))
    owner = weakref.ref(Owner())
    time.sleep(0.01)
    with pytest.warns(ResourceWarning, match="unclosed scheduler"):
        assert collected(owner) or (time.sleep(0.1), collected(owner))[1]
    wait_until(lambda: len(os.listdir("/proc/self/task")) <= threads)


def test_last_reference_dropped_in_a_callback_of_the_scheduler():
    """The scheduler cannot be destroyed in its own thread: another one does it."""
    threads = len(os.listdir("/proc/self/task"))
    for _ in range(30):
        done = threading.Event()
        holder = [htw.Scheduler()]
        reference = weakref.ref(holder[0])

        def callback(holder):
            holder.clear()
            done.set()

        import warnings
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ResourceWarning)
            holder[0].schedule(0, callback, holder)
            assert done.wait(20)
            wait_until(lambda: collected(reference))
    wait_until(lambda: len(os.listdir("/proc/self/task")) <= threads)


def test_scheduler_collected_in_its_own_callback_is_closed_by_another_thread():
    """As when the collector runs there: the scheduler and its timers live on until it is closed."""
    scheduler, outcome = htw.Scheduler(), []
    pending = scheduler.schedule(1000, print)

    def callback():
        scheduler.__del__()
        outcome.append(pending.cancel())

    scheduler.schedule(0, callback)
    wait_until(lambda: scheduler.closed)
    assert len(outcome) == 1 and scheduler._timers == set()
    assert pending.cancel() is Outcome.GONE


def test_lease_has_no_part_in_collections(manual):
    """Otherwise it would go before the finalizers of its cycle have run."""
    for owner in (manual, manual.group()):
        assert not gc.is_tracked(owner._lease)


def test_copies_and_second_initialisations_are_refused(manual):
    """Both would free something twice."""
    owners = [manual, manual.group()]
    for thing in [*owners, manual.schedule(1, int)]:
        for refused in (copy.copy, copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError):
                refused(thing)
    for owner, args in zip(owners, [(), (manual,)]):
        with pytest.raises(RuntimeError):
            owner.__init__(*args)
    with pytest.raises(TypeError):
        manual.schedule(1, int, group=manual)
    with pytest.raises(ValueError):
        manual.repeat(1, int, policy=9)
    assert len(manual._timers) == 1


def test_objects_that_were_never_initialised_end_quietly(unraisable):
    for kind in (htw.Scheduler, htw.Group):
        kind.__new__(kind)
    for refused, member in ((lambda: htw.Scheduler(tick=-1), "^tick_ns: "), (lambda: htw.Backoff(cap=-1), "^cap_ns: "),
                            (lambda: htw.Scheduler(workers=10**30), "")):
        with pytest.raises((ValueError, OverflowError), match=member):
            refused()
    gc.collect()
    assert unraisable == []


def test_finalizers_of_one_cycle_may_use_everything():
    """In whatever order the collector runs them."""
    class Node:
        def __init__(self):
            self.scheduler = htw.Scheduler(clock=Clock.MANUAL, workers=0)
            self.group = self.scheduler.group()
            self.timer = self.scheduler.schedule(1, self.work, group=self.group)

        def work(self):
            pass

        def __del__(self):
            used.append(self)
            self.timer.cancel()
            self.group.cancel()
            self.scheduler.close()
            self.scheduler.now()

    used = []
    nodes = []
    for _ in range(50):
        node = Node()
        node.scheduler.node = node
        # The order of the list of the collector is that in which objects were made.
        node.other = Node()
        nodes.append(weakref.ref(node))
    import warnings
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        del node
        gc.collect()
        assert len(used) == 100
        del used[:]
        gc.collect()
    assert all(reference() is None for reference in nodes)


def test_collections_while_dropped_schedulers_still_run():
    """The collector may run in a thread of the very scheduler that it finds."""
    program = """
import gc, htw, time, warnings
warnings.simplefilter("ignore")
gc.set_threshold(3)
for i in range(40):
    scheduler = htw.Scheduler(tick=0.0001, workers=2)
    for j in range(3):
        scheduler.repeat(0.0001, lambda: [[] for _ in range(20)])
    time.sleep(0.001)
    del scheduler
    [[] for _ in range(50)]
gc.collect()
print("end")
"""
    ended = run_python(program)
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


# ---- exceptions


def test_exception_goes_to_the_handler_and_its_own_to_the_hook(unraisable):
    received = []

    def on_error(timer, exception):
        received.append((timer, exception))
        raise RuntimeError("in the handler")

    with htw.Scheduler(clock=Clock.MANUAL, workers=0, on_error=on_error) as scheduler:
        timer = scheduler.schedule(1, lambda: 1 / 0)
        scheduler.advance(1)
    assert received[0][0] is timer and type(received[0][1]) is ZeroDivisionError
    assert type(unraisable[0][0]) is RuntimeError and unraisable[0][1] is on_error


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_exception_that_is_none_of_exception_leaves_the_call_that_runs_it(manual, unraisable, kind):
    ran = []

    def callback():
        raise kind

    manual.schedule(1, callback)
    manual.schedule(1, ran.append, 1)
    with pytest.raises(kind):
        manual.advance(1)
    assert ran == [1] and unraisable == [] and manual._timers == set()
    manual.advance(1)  # raised once


def test_system_exit_in_a_thread_of_the_library_is_reported(threaded, unraisable):
    threaded.schedule(0, sys.exit)
    wait_until(lambda: unraisable)
    assert type(unraisable[0][0]) is SystemExit


def test_hook_that_raises_ends_nothing():
    program = """
import htw, sys
def hook(args): raise RuntimeError("the hook")
sys.unraisablehook = hook
with htw.Scheduler(clock=htw.Clock.MANUAL, workers=0) as scheduler:
    for i in range(10): scheduler.schedule(i, lambda: 1 / 0)
    scheduler.schedule(20, print, "end")
    scheduler.advance(30)
"""
    ended = run_python(program)
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


@pytest.mark.parametrize("function", ["py_ended", "_end"])
def test_interrupt_while_a_timer_ends_leaves_nothing(manual, unraisable, function):
    payload = Payload()
    reference = weakref.ref(payload)
    timer = manual.schedule(1, payload)
    del payload
    advance_interrupted(manual, function)
    assert manual._timers == set() and timer.cancel() is Outcome.GONE
    assert collected(reference) and unraisable == []


def test_signals_in_the_middle_of_callbacks_lose_no_timer():
    """A handler may raise at any instruction, also where the library calls Python."""
    program = """
import gc, htw, signal, sys
class Tick(BaseException): pass
armed = False
def handler(*_):
    global armed
    if armed:
        armed = False
        raise Tick
signal.signal(signal.SIGALRM, handler)
reported = []
sys.unraisablehook = reported.append
scheduler = htw.Scheduler(clock=htw.Clock.MANUAL, workers=0)
raised = 0
signal.setitimer(signal.ITIMER_REAL, 0.0005, 0.0003)
while raised < 300:
    try:
        armed = True
        for i in range(50):
            scheduler.schedule(1, int)
            scheduler.schedule(2, int, key="k")
            scheduler.schedule(2, int).cancel()
        scheduler.advance(3)
        armed = False
    except Tick:
        raised += 1
signal.setitimer(signal.ITIMER_REAL, 0)
scheduler.advance(10)
stats = scheduler.stats()
assert stats.pending == 0, stats
# What was interrupted before the library knew of it stays in the set.
assert len(scheduler._timers) <= raised, len(scheduler._timers)
scheduler.close()
print("end")
"""
    ended = run_python(program)
    assert (ended.returncode, ended.stdout) == (0, "end\n"), ended.stderr


# ---- the end of the interpreter


@pytest.mark.parametrize("program", [
    # pending timers, and callbacks that run all the time
    "import htw\ns = htw.Scheduler()\nfor i in range(1000): s.schedule(1000, print)\n"
    "s.repeat(0.001, int)",
    # a busy scheduler, left by sys.exit
    "import htw, sys, time\ns = htw.Scheduler(tick=0.0001, workers=4)\n"
    "for i in range(20): s.repeat(0.0001, sorted, list(range(1000)))\ntime.sleep(0.05)\nsys.exit(0)",
    # a callback that sleeps when the interpreter ends
    "import htw, time\ns = htw.Scheduler()\ns.schedule(0, time.sleep, 0.3)\ntime.sleep(0.1)",
    # a scheduler in a cycle, and one in a module that goes early
    "import htw\nclass A: pass\na = A(); a.s = htw.Scheduler(); a.s.schedule(9, print, a)\n"
    "htw.mine = htw.Scheduler(); htw.mine.repeat(0.001, int)",
    # embedded ones have no threads, manual ones no clock
    "import htw\na = htw.Scheduler(embedded=True); a.schedule(0, print)\n"
    "b = htw.Scheduler(clock=htw.Clock.MANUAL); b.schedule(5, print)",
    # a thread that is not a daemon schedules while the main thread ends
    "import htw, threading, time\ns = htw.Scheduler()\n"
    "def work():\n    for i in range(3000): s.schedule(0.001, int).cancel()\n"
    "threading.Thread(target=work).start()",
    # a daemon thread goes on after the stop
    "import htw, threading, time\ns = htw.Scheduler()\n"
    "def work():\n    while True:\n        try: s.schedule(0.001, int)\n"
    "        except htw.StoppedError: time.sleep(0.001)\n"
    "threading.Thread(target=work, daemon=True).start()\ntime.sleep(0.02)",
], ids=["pending", "busy", "running", "cycle", "threadless", "thread", "daemon"])
def test_interpreter_ends_cleanly(program):
    for _ in range(3):
        ended = run_python(program, timeout=30)
        assert ended.returncode == 0, ended.stderr
        assert ended.stderr == "" and ended.stdout == ""


def test_scheduler_at_exit_is_refused():
    program = """
import atexit, sys
def late():
    try: htw.Scheduler()
    except RuntimeError as error: print(error)
atexit.register(late)
import htw
"""
    ended = run_python(program)
    assert ended.stdout == "no scheduler can be created while the interpreter ends\n", ended.stderr


def test_interrupt_while_threads_run_ends_the_program():
    program = """
import htw, signal, os, threading
signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell may start jobs without it
s = htw.Scheduler()
s.repeat(0.001, int)
s.schedule(0.05, os.kill, os.getpid(), signal.SIGINT)
threading.Event().wait()
"""
    ended = run_python(program)
    assert ended.returncode in (1, 130, -signal.SIGINT) and "KeyboardInterrupt" in ended.stderr


# ---- fork


def test_child_gets_errors_and_may_create_its_own(threaded):
    timer = threaded.schedule(1000, print)
    threaded.repeat(0.001, int)
    time.sleep(0.01)

    def child():
        for call in (lambda: threaded.schedule(1, print), timer.cancel, threaded.stop,
                     threaded.group):
            with pytest.raises(htw.ForkedError):
                call()
        assert not timer.pending
        threaded.close()  # does nothing
        with htw.Scheduler() as own:
            ran = threading.Event()
            own.schedule(0.001, ran.set)
            assert ran.wait(20)
        gc.collect()

    assert in_child(child) == 0
    assert timer.cancel() is Outcome.CANCELLED


def test_fork_while_other_threads_use_everything():
    """The locks of the package are free in the child."""
    with htw.Scheduler() as scheduler:
        end = threading.Event()

        def work():
            while not end.is_set():
                scheduler.schedule(1, int).cancel()
                scheduler.schedule(0.0001, int)
                htw.Scheduler().close()

        threads = [threading.Thread(target=work) for _ in range(2)]
        for thread in threads:
            thread.start()

        def child():
            with htw.Scheduler() as own:
                own.schedule(0, int)

        try:
            assert [in_child(child) for _ in range(20)] == [0] * 20
        finally:
            end.set()
            for thread in threads:
                thread.join()


def test_fork_in_a_with_block_leaves_it_quietly():
    program = """
import htw, os, sys, time, warnings
warnings.simplefilter("ignore")  # Python 3.12 warns of any fork beside threads
with htw.Scheduler() as s:
    s.repeat(0.001, int)
    time.sleep(0.02)
    pid = os.fork()
    if pid == 0:
        pass
if pid: sys.exit(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""
    ended = run_python(program, timeout=30)
    assert (ended.returncode, ended.stderr) == (0, "")
