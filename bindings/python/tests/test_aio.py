# SPDX-License-Identifier: MIT
import asyncio
import contextvars
import gc
import math
import threading
import warnings
import weakref

import pytest

import htw
import htw.aio


def test_callbacks_run_in_the_thread_of_the_loop_and_in_order():
    async def main():
        ran = []
        async with htw.aio.Scheduler() as scheduler:
            for i in range(5):
                scheduler.schedule(i / 100, lambda i=i: ran.append((i, threading.get_ident())))
            scheduler.schedule(1000, ran.append, "never")
            await scheduler.sleep(0.06)
        assert ran == [(i, threading.get_ident()) for i in range(5)]

    asyncio.run(main())


def test_other_threads_schedule_into_the_loop():
    async def main():
        future = asyncio.get_running_loop().create_future()
        async with htw.aio.Scheduler() as scheduler:
            thread = threading.Thread(
                target=lambda: scheduler.schedule(0.001, future.set_result, 7))
            thread.start()
            assert await asyncio.wait_for(future, 20) == 7
            thread.join()

    asyncio.run(main())


def test_exception_goes_to_the_handler_of_the_loop():
    async def main():
        loop, received = asyncio.get_running_loop(), []
        loop.set_exception_handler(lambda loop, context: received.append(context))
        async with htw.aio.Scheduler() as scheduler:
            timer = scheduler.schedule(0, lambda: 1 / 0)
            await scheduler.sleep(0.01)
        assert type(received[0]["exception"]) is ZeroDivisionError
        assert received[0]["timer"] is timer

    asyncio.run(main())


@pytest.mark.parametrize("kind", [KeyboardInterrupt, SystemExit])
def test_interrupt_ends_the_loop(kind):
    def fail():
        raise kind

    async def main():
        async with htw.aio.Scheduler() as scheduler:
            scheduler.schedule(0, fail)
            await scheduler.sleep(20)

    with pytest.raises(kind):
        asyncio.run(main())


def test_callback_runs_in_the_context_of_its_schedule():
    variable = contextvars.ContextVar("variable", default=0)

    async def main():
        seen = []
        async with htw.aio.Scheduler() as scheduler:
            variable.set(1)
            scheduler.schedule(0, lambda: seen.append(variable.get()))
            scheduler.schedule(0, lambda timer: seen.append((timer, variable.get())),
                               pass_timer=True)
            variable.set(2)
            await scheduler.sleep(0.01)
        assert seen[0] == 1 and seen[1][1] == 1 and isinstance(seen[1][0], htw.Timer)

    asyncio.run(main())


def test_cancelled_sleep_leaves_no_timer():
    async def main():
        async with htw.aio.Scheduler() as scheduler:
            for delay in (1000, float("inf")):
                with pytest.raises(asyncio.TimeoutError):
                    await asyncio.wait_for(scheduler.sleep(delay), 0.01)
            assert len(scheduler) == 0 and not scheduler._timers
            await asyncio.gather(*(scheduler.sleep(i % 10 / 1000) for i in range(1000)))
            await scheduler.sleep(-1)

    asyncio.run(main())


def test_closed_scheduler_is_watched_no_more():
    async def main():
        scheduler = htw.aio.Scheduler()
        scheduler.schedule(0, int)
        fd = scheduler.fileno()
        assert [item.callback for item in scheduler.stop()] != []
        assert not asyncio.get_running_loop().remove_reader(fd)
        scheduler.close()
        reference = weakref.ref(scheduler)
        del scheduler
        gc.collect()
        assert reference() is None

    asyncio.run(main())


def test_loop_that_is_closed_first_harms_nothing():
    loop = asyncio.new_event_loop()
    scheduler = htw.aio.Scheduler(loop)
    scheduler.schedule(0, print)
    loop.close()
    scheduler.close()
    assert scheduler.closed


def test_coroutine_function_and_missing_loop_are_refused():
    async def work():
        pass

    async def main():
        async with htw.aio.Scheduler(budget=1) as scheduler:
            with pytest.raises(TypeError):
                scheduler.schedule(0, work)
            ran = [scheduler.schedule(0, int) for _ in range(100)]
            while any(timer.pending for timer in ran):
                await asyncio.sleep(0)
        with pytest.raises(ValueError):
            htw.aio.Scheduler(budget=0)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asyncio.run(main())
    with pytest.raises(RuntimeError):
        htw.aio.Scheduler()


async def outlasts(delay, **options):
    """Whether a block is not ended in 10 s."""
    try:
        async with htw.aio.timeout(delay, **options):
            await asyncio.sleep(10)
    except asyncio.TimeoutError:
        return False
    return True


def test_timeout_ends_the_block_whose_deadline_has_passed():
    async def main():
        async with htw.aio.Scheduler() as scheduler:
            inner = htw.aio.timeout(1000)
            with pytest.raises(asyncio.TimeoutError):
                async with htw.aio.timeout(0.02) as outer:
                    async with inner:
                        left = htw.aio.left()
                        assert inner.left() <= left <= 0.02
                        assert len(scheduler) == 1  # the inner one arms no timer
                        await asyncio.sleep(10)
            assert outer.expired and inner.expired and outer.left() == 0
            with pytest.raises(RuntimeError):
                async with inner:  # again
                    pass
            assert not await outlasts(-1) and not await outlasts(0.01)
            assert htw.aio.left() == math.inf and len(scheduler) == 0

    asyncio.run(main())


def test_timeout_propagates_to_tasks_and_can_be_shortened():
    async def main():
        async with htw.aio.Scheduler() as other, htw.aio.Scheduler():
            async with htw.aio.timeout(math.inf) as outer:
                task = asyncio.create_task(outlasts(1000))
                apart = asyncio.create_task(outlasts(0.01, scheduler=other))
                await asyncio.sleep(0)
                with pytest.raises(asyncio.TimeoutError):
                    async with htw.aio.timeout(1000) as inner:
                        inner.shorten(0.01)
                        await asyncio.sleep(10)
                assert not outer.expired and not task.done()
                assert not await apart
            # The block is over, and so is what was started in it: that was no deadline.
            with pytest.raises(asyncio.CancelledError):
                await task

    asyncio.run(main())


def test_timeout_leaves_the_cancel_of_others_alone():
    async def sleep():
        async with htw.aio.timeout(1000):
            await asyncio.sleep(10)

    async def main():
        async with htw.aio.Scheduler() as scheduler:
            async with htw.aio.Scheduler():
                pass  # from now on the outer one is around the timeouts, again
            task = asyncio.create_task(sleep())
            await asyncio.sleep(0)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert len(scheduler) == 0
        with pytest.raises(RuntimeError):
            await sleep()

    asyncio.run(main())
