/* SPDX-License-Identifier: MIT */
/*
 * test_locked.c - what a call counts under the lock of a shard, it counts after it has the lock.
 *
 * The counters are plain, so an addition outside the lock would now and then be lost. Here the lock is
 * held when the call is made: htw__lock_wait() is the test's own, acts as the owner of the lock, and
 * unlocks.
 */
#include "scheduler_fixture.h"

#include "../../../src/scheduler/shard.h"

void __real_htw__lock_wait(struct htw__lock *lock);
void __wrap_htw__lock_wait(struct htw__lock *lock);

static struct htw__shard *held; /* whose lock the test holds; NULL: none */
static uint64_t bytes_at_wait;

static void hold(struct scheduler_fixture *f) {
    held = &f->scheduler->shards[0];
    atomic_store(&held->lock.locked, 1); /* as if by another thread */
    bytes_at_wait = UINT64_MAX;
}

void __wrap_htw__lock_wait(struct htw__lock *lock) {
    if (held != NULL && lock == &held->lock) {
        bytes_at_wait = htw__counter_read(&held->attributes_bytes);
        htw__counter_add(&held->scheduled, 1);
        htw__counter_add(&held->cancelled, 1); /* so that the sums are right */
        atomic_store(&held->lock.locked, 0);
        held = NULL;
    }
    __real_htw__lock_wait(lock);
}

static void open_with_one_shard(struct scheduler_fixture *f) {
    f->options.shards = 1;
    scheduler_reopen(f);
}

SCHEDULER_TEST(scheduler_group_is_counted_under_the_lock) {
    struct htw_group *group;
    open_with_one_shard(f);
    uint64_t before = htw__counter_read(&f->scheduler->shards[0].attributes_bytes);
    hold(f);
    assert_int_equal(htw_group_create(f->scheduler, &group), 0);
    assert_int_equal(bytes_at_wait, before);
    assert_true(htw__counter_read(&f->scheduler->shards[0].attributes_bytes) > before);
    htw_group_destroy(group);
}

SCHEDULER_TEST(scheduler_statistics_include_what_the_owner_of_the_lock_counts) {
    open_with_one_shard(f);
    struct htw_scheduler_stats before = scheduler_stats(f);
    hold(f);
    struct htw_scheduler_stats after = scheduler_stats(f);
    assert_int_equal(after.scheduled, before.scheduled + 1);
    assert_int_equal(after.cancelled, before.cancelled + 1);
}
