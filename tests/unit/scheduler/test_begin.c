/* SPDX-License-Identifier: MIT */
/*
 * test_begin.c - what happens while a thread waits for the lock of a shard.
 *
 * htw__lock_wait() is the test's own here: it keeps a worker there, or acts as the owner of the lock. What is counted
 * under the lock is plain: an addition without it would now and then be lost.
 */
#include "scheduler_fixture.h"

#include "../../../src/scheduler/shard.h"

void __real_htw__lock_wait(struct htw__lock *lock);
void __wrap_htw__lock_wait(struct htw__lock *lock);

static struct htw__lock *_Atomic watched; /* a worker that waits for this lock goes to the gate */
static struct gate at_lock;
static struct htw__shard *held; /* whose lock the test holds; NULL: none */
static uint64_t bytes_at_wait;

static void act_as_owner(void) {
    bytes_at_wait = htw__counter_read(&held->attributes_bytes);
    htw__counter_add(&held->scheduled, 1);
    htw__counter_add(&held->cancelled, 1); /* so that the sums are right */
    atomic_store(&held->lock.locked, 0);
    held = NULL;
}

void __wrap_htw__lock_wait(struct htw__lock *lock) {
    if (lock == atomic_load(&watched) && htw__innermost_callback_frame != NULL)
        gate_enter(&at_lock);
    if (held != NULL && lock == &held->lock)
        act_as_owner();
    __real_htw__lock_wait(lock);
}

static _Atomic int64_t clock_ns; /* what the monotonic clock shows; 0: what it does */

int64_t __real_htw__clock_monotonic_ns(void);
int64_t __wrap_htw__clock_monotonic_ns(void);

int64_t __wrap_htw__clock_monotonic_ns(void) {
    int64_t ns = atomic_load(&clock_ns);
    return ns != 0 ? ns : __real_htw__clock_monotonic_ns();
}

/* The worker is in the gate of the fixture. Ends with it waiting for the lock of the shard, which is
   free. */
static void let_it_wait_for_the_lock(struct scheduler_fixture *f) {
    struct htw__lock *lock = &f->scheduler->shards[0].lock;
    htw__lock_acquire(lock);
    atomic_store(&watched, lock);
    gate_open(&f->gate);
    bool waits = gate_await(&at_lock, 1);
    atomic_store(&watched, NULL);
    htw__lock_release(lock);
    assert_true(waits);
}

/* The run has ended, and the worker is about to file the timer for its next one. The tick is an
   hour, and the clock shows the first one, so that an alarm for now always expires at once. */
SCHEDULER_TEST(scheduler_timer_moved_to_now_when_its_run_has_ended_runs_at_once) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.workers = 1;
    f->options.tick_ns = HTW_TICK_NS_MAX;
    at_lock = (struct gate)GATE_INIT;
    atomic_store(&clock_ns, 1);
    scheduler_reopen(f);
    f->probes[0].act = act_stay;
    arm_every(f, 0, 0, 100 * HTW_TICK_NS_MAX, HTW_REPEAT_SKIP);
    assert_true(gate_await(&f->gate, 1));
    let_it_wait_for_the_lock(f);
    atomic_store(&clock_ns, MS);
    assert_int_equal(reschedule(f, 0, 0), HTW_MOVED);
    gate_open(&at_lock);
    assert_true(gate_await(&f->gate, 2));
    assert_in_range(cancel_wait(f, 0), HTW_GONE, HTW_RUNNING);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    atomic_store(&clock_ns, 0);
}

static void hold(struct scheduler_fixture *f) {
    held = &f->scheduler->shards[0];
    atomic_store(&held->lock.locked, 1); /* as if by another thread */
}

SCHEDULER_TEST(scheduler_group_and_statistics_are_counted_under_the_lock) {
    struct htw_group *group;
    const struct htw__counter *bytes = &f->scheduler->shards[0].attributes_bytes;
    uint64_t before = htw__counter_read(bytes);
    hold(f);
    assert_int_equal(htw_group_create(f->scheduler, &group), 0);
    assert_int_equal(bytes_at_wait, before);
    assert_true(htw__counter_read(bytes) > before);
    htw_group_destroy(group);
    struct htw_scheduler_stats stats = scheduler_stats(f);
    hold(f);
    assert_int_equal(scheduler_stats(f).scheduled, stats.scheduled + 1);
}
