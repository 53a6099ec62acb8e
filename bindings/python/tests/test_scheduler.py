# SPDX-License-Identifier: MIT
import math
import sys
import threading
import time
from datetime import timedelta

import pytest

import htw
from conftest import in_threads, wait_until
from htw import Clock, Outcome, Repeat


def test_schedule_runs_at_its_time_and_not_before(manual):
    ran = []
    timer = manual.schedule(0.05, ran.append, 1)
    manual.advance(0.049)
    assert ran == [] and timer.pending and len(manual) == 1
    manual.advance(0.001)
    assert ran == [1] and not timer.pending and len(manual) == 0
    assert timer.run_deadline == 0.05 and timer.late == 0


def test_seconds_and_timedeltas_agree(manual):
    a = manual.schedule(1.5, print)
    b = manual.schedule(timedelta(milliseconds=1500), print)
    c = manual.schedule_at(timedelta(seconds=1, microseconds=500_000), print)
    d = manual.schedule(9, print)
    d.reschedule(timedelta(seconds=1.5))
    assert {t.deadline for t in (a, b, c, d)} == {1.5}
    assert manual.schedule(timedelta.max, print).deadline == math.inf


@pytest.mark.parametrize("delay", [0, -math.inf, -(10**40)])
def test_delay_of_the_past_means_now_but_not_inside_the_call(manual, delay):
    ran = []
    manual.schedule(delay, ran.append, 1)
    assert ran == []
    manual.advance(0)
    assert ran == [1]


@pytest.mark.parametrize("delay", [math.nan, "1", None, b"1", 1j])
def test_delay_that_is_none_is_refused_and_leaves_nothing(manual, delay):
    with pytest.raises((TypeError, ValueError)):
        manual.schedule(delay, print)
    assert manual._timers == set()


def test_callback_that_is_not_callable_is_refused(manual):
    with pytest.raises(TypeError):
        manual.schedule(1, None)
    with pytest.raises(TypeError):
        manual.repeat(1, 7)


def test_latest_is_the_end_of_a_range(manual):
    assert 1 <= manual.schedule(1, print, latest=1.2).deadline <= 1.2
    with pytest.raises(ValueError):
        manual.schedule(1, print, latest=0.5)


def test_cancel_says_what_it_found(manual):
    outcomes = []
    timer = manual.schedule(1, lambda t: outcomes.append(t.cancel()), pass_timer=True)
    other = manual.schedule(2, print)
    assert other.cancel() is Outcome.CANCELLED
    assert other.cancel() is Outcome.GONE
    manual.advance(1)
    assert outcomes == [Outcome.RUNNING] and timer.cancel() is Outcome.GONE


def test_cancel_remaining_tells_what_was_left_of_the_delay(manual):
    timer = manual.schedule(5, print)
    never = manual.schedule(math.inf, print)
    manual.advance(2)
    assert timer.cancel_remaining() == (Outcome.CANCELLED, 3.0)
    assert timer.cancel_remaining() == (Outcome.GONE, None)
    assert never.cancel_remaining() == (Outcome.CANCELLED, math.inf)


def test_cancel_wait_inside_its_own_callback_raises(manual):
    errors = []

    def callback(timer):
        with pytest.raises(htw.DeadlockError) as raised:
            timer.cancel_wait()
        errors.append(raised.value)

    manual.schedule(0, callback, pass_timer=True)
    manual.advance(0)
    assert len(errors) == 1 and "wait" in str(errors[0]).lower()


def test_cancel_wait_waits_for_the_callback_without_the_gil(threaded):
    started, leave, ended = threading.Event(), threading.Event(), []

    def callback():
        started.set()
        leave.wait()
        ended.append(1)

    timer = threaded.schedule(0, callback)
    started.wait()
    threading.Timer(0.02, leave.set).start()
    assert timer.cancel_wait() is Outcome.RUNNING
    assert ended == [1]


def test_reschedule_moves_a_timer_and_starts_it_again_in_its_callback(manual):
    runs = []

    def callback(timer):
        runs.append(manual.now())
        if len(runs) < 3:
            assert timer.reschedule(1) is Outcome.MOVED

    timer = manual.schedule(5, callback, pass_timer=True)
    assert timer.reschedule_at(2) is Outcome.MOVED
    manual.advance(10)
    assert runs == [2, 3, 4]
    assert timer.reschedule(1) is Outcome.GONE


def test_repeat_runs_until_cancelled_and_takes_another_period(manual):
    runs = []
    timer = manual.repeat(1, lambda timer: runs.append((manual.now(), timer.missed)), first=0.5, pass_timer=True,
                          policy=Repeat.SKIP)
    manual.advance(2)
    assert timer.set_period(0.5) is Outcome.MOVED
    manual.set_clock(3.75)
    assert timer.run_deadline == 2.5 and timer.late == 1.25
    manual.advance(0.25)
    assert runs == [(0.5, 0), (1.5, 0), (3.75, 0), (4, 2)]
    assert timer.cancel() is Outcome.CANCELLED
    manual.advance(5)
    assert len(runs) == 4
    with pytest.raises(ValueError):
        manual.repeat(0, print)
    with pytest.raises(ValueError):
        manual.schedule(1, print).set_period(1)


def test_key_is_replaced_or_kept(manual):
    ran = []
    manual.schedule(1, ran.append, "first", key="k")
    manual.schedule(1, ran.append, "second", key=b"k")
    with pytest.raises(htw.KeyExistsError):
        manual.schedule(1, ran.append, "third", key="k", keep_existing=True)
    assert manual.has_key("k") and not manual.has_key("") and len(manual._timers) == 1
    manual.advance(1)
    assert ran == ["second"] and not manual.has_key("k")
    manual.schedule(1, ran.append, "empty", key="")
    assert manual.has_key(b"") and manual.cancel_key("") is Outcome.CANCELLED
    assert manual.cancel_key("") is Outcome.GONE


def test_group_is_cancelled_paused_and_resumed(manual):
    ran = []
    group = manual.group()
    for i in range(3):
        manual.schedule(i + 1, ran.append, i, group=group, key="k%d" % i)
    assert len(group) == 3 and manual.has_key("k0", group) and not manual.has_key("k0")
    group.pause()
    manual.advance(10)
    assert ran == []
    group.resume()
    manual.advance(1)
    assert ran == [0]
    ended = group.cancel()
    assert sorted(item.args for item in ended) == [(1,), (2,)] and len(group) == 0
    assert all(item.callback == ran.append and not item.timer.pending for item in ended)
    manual.schedule(1, ran.append, 3, group=group)
    group.pause()
    del group  # its timer keeps it
    manual.advance(5)
    assert ran == [0]


def test_group_has_a_name(manual):
    group = manual.group(name="tenant")
    manual.schedule(10, print, group=group)
    assert manual.dump().endswith("  of 1 group\n         1  tenant\n")


def test_group_of_another_scheduler_is_refused(manual):
    with htw.Scheduler(clock=Clock.MANUAL) as other:
        with pytest.raises(ValueError):
            manual.schedule(1, print, group=other.group())
    assert manual._timers == set()


def test_stop_hands_back_what_has_not_run(manual):
    manual.schedule(1, print, "a")
    never = manual.schedule(math.inf, print, "b")
    unexpired = manual.stop()
    assert sorted(item.args for item in unexpired) == [("a",), ("b",)]
    assert {item.deadline for item in unexpired} == {1, math.inf}
    assert manual.stop() == [] and manual.closed
    assert never.cancel() is Outcome.GONE and never.deadline is None
    with pytest.raises(htw.StoppedError):
        manual.schedule(1, print)
    with pytest.raises(htw.StoppedError):
        manual.repeat(1, print, key="k")
    assert manual._timers == set()


def test_stop_in_a_callback_raises(threaded, unraisable):
    errors = []

    def callback():
        for method in (threaded.stop, threaded.close):
            try:
                method()
            except htw.DeadlockError as error:
                errors.append(error)

    threaded.schedule(0, callback)
    wait_until(lambda: len(errors) == 2)
    assert not threaded.closed and unraisable == []


def test_max_pending_refuses_and_recovers():
    with htw.Scheduler(clock=Clock.MANUAL, workers=0, max_pending=2) as scheduler:
        timer = scheduler.schedule(1, print)
        scheduler.schedule(1, print)
        for _ in range(100):
            with pytest.raises(htw.FullError):
                scheduler.schedule(1, print)
        assert scheduler.stats().refused == 100 and len(scheduler._timers) == 2
        timer.cancel()
        scheduler.schedule(1, print)


@pytest.mark.parametrize("options", [
    {"tick": 0.0000001}, {"tick": 1e9}, {"shards": 5000}, {"wheel_size": 3},
    {"timer_slack": -1}, {"manual_start": -1}, {"expirers": 100}])
def test_option_out_of_range_is_refused(options):
    with pytest.raises(ValueError):
        htw.Scheduler(**options)


@pytest.mark.parametrize("options", [{"workers": -1}, {"workers": "2"}, {"max_pending": 2**64},
                                     {"thread_name": 7}, {"unknown": 1}])
def test_option_of_a_wrong_type_is_refused(options):
    with pytest.raises((TypeError, OverflowError, AttributeError)):
        htw.Scheduler(**options)


def test_statistics_balance(manual):
    for i in range(20):
        manual.schedule(i, int)
    manual.advance(9)
    manual.schedule(100, int).cancel()
    stats = manual.stats()
    assert stats.scheduled == stats.fired + stats.cancelled + stats.pending == 21
    assert stats.runs == stats.lateness.count == 10
    assert vars(stats.callback).keys() >= {"count", "sum_ns", "max_ns"} and "struct_size" not in vars(stats)
    text = manual.prometheus()
    assert "htw_" in text and text.endswith("\n")


def test_timers_know_where_they_were_armed(manual):
    for _ in range(3):
        manual.schedule(1, math.floor, 0)
    line = sys._getframe().f_lineno - 1
    function = "test_timers_know_where_they_were_armed"
    manual.schedule_at(1000, int, key="key")
    manual.repeat(60, lambda: None, first=2000)
    text = manual.dump()
    assert f"         3   1000 ms   floor {function}() {__file__}:{line}\n" in text
    assert f"int {function}() {__file__}:{line + 3}\n" in text
    assert f"<locals>.<lambda> {function}() {__file__}:{line + 4}\n" in text


def test_what_is_observed_can_be_changed(manual):
    assert manual.observed == htw.Observe.NOTHING
    manual.observe(htw.Observe.SITES | htw.Observe.EVENTS)
    assert manual.observed == htw.Observe.SITES | htw.Observe.EVENTS
    with pytest.raises(ValueError):
        manual.observe(0x80000000)
    with htw.Scheduler(clock=Clock.MANUAL, observe=htw.Observe.SITES) as scheduler:
        assert scheduler.observed == htw.Observe.SITES


def test_timer_of_another_clock_follows_that_clock(manual):
    ran = []
    noon = 1_700_000_000
    manual.set_clock(noon, Clock.REALTIME)
    date = manual.schedule_at(noon + 60, ran.append, "date", clock=Clock.REALTIME)
    own = manual.schedule(5, ran.append, "own")
    assert (date.clock, own.clock, date.deadline) == (Clock.REALTIME, Clock.MANUAL, noon + 60)
    manual.set_clock(noon + 60, Clock.REALTIME)
    assert ran == ["date"] and date.clock is None
    assert (manual.now(), manual.now(Clock.REALTIME)) == (0, noon + 60)
    with pytest.raises(ValueError):
        manual.schedule(1, ran.append, clock=99)


def test_clock_reads_as_time_does():
    with htw.Scheduler(clock=Clock.REALTIME) as scheduler:
        assert abs(scheduler.now() - time.time()) < 5
    with htw.Scheduler() as scheduler:
        assert abs(scheduler.now() - time.monotonic()) < 5


def test_methods_of_another_mode_are_refused(manual, threaded):
    for call in (manual.fileno, threaded.fileno, manual.process, threaded.process,
                 lambda: threaded.advance(1)):
        with pytest.raises(htw.Error):
            call()
    with pytest.raises(ValueError):
        manual.advance(-1)


def test_embedded_scheduler_runs_in_the_thread_that_processes():
    import select
    with htw.Scheduler(embedded=True) as scheduler:
        threads = []
        for i in range(5):  # of several ticks, so that any call may run the last one
            scheduler.schedule(0.01 + i * 0.002, lambda: threads.append(threading.get_ident()))
        assert scheduler.next() != math.inf
        poll = select.poll()
        poll.register(scheduler, select.POLLIN)
        more = False
        while len(threads) < 5 or more:
            assert poll.poll(10_000)
            more = scheduler.process(budget=2)
        assert set(threads) == {threading.get_ident()}
        assert scheduler.next() == math.inf


# ---- threads


def test_close_while_threads_schedule_and_cancel():
    """No call may touch memory that close() frees: the methods keep the scheduler alive."""
    for _ in range(20):
        scheduler = htw.Scheduler()
        stopped = []

        def work(i):
            if i == 0:
                time.sleep(0.005)
                scheduler.close()
                return
            try:
                while True:
                    scheduler.schedule(0.001, int).cancel()
                    scheduler.schedule(0.0, int)
                    scheduler.stats()
            except htw.StoppedError:
                stopped.append(i)

        in_threads(4, work)
        assert len(stopped) == 3 and scheduler._timers == set()
