# SPDX-License-Identifier: MIT
import random
import sys
import weakref

import pytest

import htw
from conftest import in_threads
from htw import NEVER_TICK, Backoff, Wheel, WheelTimer


@pytest.mark.parametrize("strict", [False, True])
@pytest.mark.parametrize("seed", range(6))
def test_random_history_agrees_with_a_sorted_list(seed, strict):
    rng = random.Random(seed)
    wheel, oracle, now = Wheel(size=4, strict_fifo=strict), {}, 0
    timers = [WheelTimer(i) for i in range(60)]
    for _ in range(3000):
        timer = rng.choice(timers)
        action = rng.random()
        if action < 0.5:
            deadline = now + int(rng.expovariate(1 / 200))
            assert wheel.schedule(timer, deadline) is timer
            oracle[timer] = deadline
        elif action < 0.75:
            assert wheel.cancel(timer) == (oracle.pop(timer, None) is not None)
        else:
            now += int(rng.expovariate(1 / 50))
            expired = list(wheel.expire(now))
            due = sorted(d for d in oracle.values() if d <= now)
            assert [oracle.pop(timer) for timer in expired] == due, f"seed {seed}"
            assert wheel.now == now
        assert timer.pending == (timer in oracle) == (timer in wheel)
        assert len(wheel) == len(oracle) and set(wheel) == oracle.keys()
    assert wheel.check() == 0
    stats = wheel.stats()
    assert stats.scheduled == stats.cancelled + stats.expired + stats.drained + stats.pending


def test_wheel_keeps_pending_timers_and_drops_them_when_they_end():
    wheel = Wheel()
    references = [weakref.ref(wheel.schedule(i, i)) for i in range(4)]
    assert all(reference() is not None for reference in references)
    assert wheel.poll(0).value == 0
    assert wheel.cancel(references[1]())
    assert wheel.poll_batch(2)[0][0].value == 2
    assert wheel.drain().value == 3 and wheel.drain() is None
    assert all(reference() is None for reference in references), "without a collection"


def test_dropped_wheel_leaves_its_timers_free():
    wheel = Wheel()
    timer = wheel.schedule("a", 5)
    reference = weakref.ref(wheel)
    del wheel
    assert reference() is None and not timer.pending, "without a collection"
    assert Wheel().schedule(timer, 7) is timer


def test_timer_of_another_wheel_is_refused():
    a, b = Wheel(), Wheel()
    timer = a.schedule("a", 5)
    with pytest.raises(ValueError):
        b.schedule(timer, 5)
    assert not b.cancel(timer) and a.cancel(timer)
    b.schedule(timer, 6)
    assert timer.deadline == 6


def test_ticks_out_of_range_are_refused():
    wheel = Wheel()
    for tick in (-1, 2**64):
        for call in (lambda: wheel.schedule(1, tick), lambda: wheel.poll(tick),
                     lambda: wheel.reserve(tick), lambda: wheel.poll_batch(tick)):
            with pytest.raises(ValueError):
                call()
    with pytest.raises(TypeError):
        wheel.schedule(1, 0.5)
    with pytest.raises(ValueError):
        wheel.schedule(1, 6, latest=5)
    with pytest.raises(ValueError):
        Wheel(size=3)
    with pytest.raises(ValueError):
        wheel.poll_batch(1, max=0)
    assert len(wheel) == 0 and list(wheel) == []


def test_never_stays_until_drained():
    wheel = Wheel()
    timer = wheel.schedule("a", NEVER_TICK)
    assert wheel.next() == NEVER_TICK and wheel.poll(NEVER_TICK) is None
    assert wheel.drain() is timer


def test_slack_chooses_a_tick_of_the_range():
    wheel = Wheel()
    timer = wheel.schedule("a", 1000, latest=1100)
    assert timer.deadline == 1024 and wheel.next() == 1024


def test_batches_hand_out_all_in_order():
    wheel = Wheel()
    for i in range(300):
        wheel.schedule(i, 1 + i // 3)
    got, more = [], True
    while more:
        batch, more = wheel.poll_batch(1000, max=1000, budget=7)
        assert len(batch) <= 64
        got += [timer.deadline for timer in batch]
    assert got == sorted(got) and len(got) == 300


def test_loop_over_expired_timers_may_change_the_wheel():
    wheel, seen = Wheel(), []
    second = None
    for timer in [wheel.schedule(i, 5) for i in range(4)]:
        second = timer
    for timer in wheel.expire(5):
        seen.append(timer.value)
        if len(seen) == 1:
            wheel.cancel(next(other for other in wheel))
            wheel.schedule("later", 5)
    assert len(seen) == 3 and [timer.value for timer in wheel.expire(5)] == ["later"]
    assert not second.pending


def test_threads_may_share_a_wheel_and_its_timers():
    wheels = [Wheel(), Wheel()]
    timers = [WheelTimer(i) for i in range(20)]

    def work(seed):
        rng = random.Random(seed)
        for _ in range(15_000):
            wheel = rng.choice(wheels)
            try:
                wheel.schedule(rng.choice(timers), rng.randrange(100))
            except ValueError:
                pass
            wheel.cancel(rng.choice(timers))
            wheel.next()

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    try:
        in_threads(4, work)
    finally:
        sys.setswitchinterval(interval)
    assert [wheel.check() for wheel in wheels] == [0, 0]
    assert sum(len(wheel) for wheel in wheels) == sum(timer.pending for timer in timers)


def test_dump_is_text():
    wheel = Wheel()
    wheel.schedule(1, 700)
    assert "700" in wheel.dump()


# ---- backoff


def test_backoff_grows_to_its_limit_and_resets():
    backoff = Backoff(initial=1, cap=5, jitter=0)
    assert list(backoff.delays(4)) == [1, 2, 4, 5] and backoff.attempts == 4
    backoff.reset()
    assert backoff.next_ns() == 1_000_000_000


def test_backoff_repeats_with_its_seed():
    assert list(Backoff(seed=3).delays(9)) == list(Backoff(seed=3).delays(9))
    assert list(Backoff(seed=3).delays(9)) != list(Backoff(seed=4).delays(9))


@pytest.mark.parametrize("options", [{"initial": 0}, {"cap": 0.01}, {"multiplier": 0.5},
                                     {"jitter": 2}, {"jitter": float("nan")}])
def test_backoff_option_out_of_range_is_refused(options):
    with pytest.raises(ValueError):
        Backoff(**options)
