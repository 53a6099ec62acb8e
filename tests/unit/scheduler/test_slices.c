/* SPDX-License-Identifier: MIT */
/*
 * test_slices.c - how much is done while the lock of a shard is held, and that arming does not wait for it. The calls
 * that take timers out of the wheels are the test's own, which count the emptied buckets that each of them discards.
 */
/* holds: scheduler-20 */
#include "scheduler_fixture.h"

#include <htw/wheel_inspect.h>

/* As in src/scheduler/state.h. */
#define SLICE 64u

enum { BUCKETS = 200 };

static uint32_t most_discarded;
static struct probe *armed_meanwhile; /* by another thread, when due timers are taken; NULL: none */

static uint32_t queued_buckets(const struct htw_wheel *wheel) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    assert_int_equal(htw_wheel_get_stats(wheel, &stats), 0);
    return (uint32_t)stats.queued_buckets;
}

static void note(const struct htw_wheel *wheel, uint32_t before) {
    uint32_t after = queued_buckets(wheel);
    if (before > after && before - after > most_discarded)
        most_discarded = before - after;
}

int __real_htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                                size_t max, size_t budget, size_t *ret_count);
int __wrap_htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                                size_t max, size_t budget, size_t *ret_count);
uint64_t __real_htw_wheel_next(struct htw_wheel *wheel);
uint64_t __wrap_htw_wheel_next(struct htw_wheel *wheel);
struct htw_timer *__real_htw_wheel_drain(struct htw_wheel *wheel);
struct htw_timer *__wrap_htw_wheel_drain(struct htw_wheel *wheel);

static void *arm_meanwhile(void *arg) {
    struct probe *probe = arg;
    probe->result = htw_schedule(probe->fixture->scheduler, 0, probe_run, probe, NULL);
    return NULL;
}

int __wrap_htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                                size_t max, size_t budget, size_t *ret_count) {
    if (armed_meanwhile != NULL) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, arm_meanwhile, armed_meanwhile) == 0)
            pthread_join(thread, NULL);
        armed_meanwhile = NULL;
    }
    uint32_t before = queued_buckets(wheel);
    int progress = __real_htw_wheel_poll_batch(wheel, now, timers, max, budget, ret_count);
    note(wheel, before);
    return progress;
}

uint64_t __wrap_htw_wheel_next(struct htw_wheel *wheel) {
    uint32_t before = queued_buckets(wheel);
    uint64_t next = __real_htw_wheel_next(wheel);
    note(wheel, before);
    return next;
}

struct htw_timer *__wrap_htw_wheel_drain(struct htw_wheel *wheel) {
    uint32_t before = queued_buckets(wheel);
    struct htw_timer *timer = __real_htw_wheel_drain(wheel);
    note(wheel, before);
    return timer;
}

/* Cancels timers of as many buckets. They are the probes behind the first three. */
static void empty_many_buckets(struct scheduler_fixture *f) {
    for (unsigned i = 0; i < BUCKETS; i++)
        arm(f, 3 + i, (i + 1) * 300 * MS);
    for (unsigned i = 0; i < BUCKETS; i++)
        assert_int_equal(cancel(f, 3 + i), HTW_CANCELLED);
    most_discarded = 0;
}

static void setup(void) {
    struct scheduler_fixture *f = &scheduler_fixture;
    scheduler_setup_later();
    f->count = 3 + BUCKETS;
    scheduler_reopen(f);
}

SCHEDULER_TEST_AFTER(setup, slice_is_not_exceeded_by_buckets_that_cancels_have_emptied) {
    arm(f, 1, 64 * HTW_SECOND);
    empty_many_buckets(f);
    arm(f, 0, 0);
    advance(f, 0);
    assert_ran(f, 0);
    assert_int_equal(most_discarded, SLICE);
    assert_int_equal(htw_scheduler_next(f->scheduler), START_NS + 64 * HTW_SECOND);
    advance(f, 64 * HTW_SECOND);
    assert_ran(f, 1);
}

SCHEDULER_TEST_AFTER(setup, slice_is_not_exceeded_when_the_clock_is_set_back) {
    arm(f, 1, 64 * HTW_SECOND);
    arm(f, 2, HTW_NEVER_NS);
    empty_many_buckets(f);
    set_time(f, START_NS - HTW_SECOND);
    arm(f, 0, 0);
    advance(f, 0);
    assert_ran(f, 0);
    assert_in_range(most_discarded, 1, SLICE);
    advance(f, 65 * HTW_SECOND);
    assert_ran(f, 1);
}

/* The lock of one of two shards is held until the other thread has armed. */
SCHEDULER_TEST(slice_that_is_taken_lets_others_arm_in_the_next_shard) {
    f->options.shards = 2;
    scheduler_reopen(f);
    arm(f, 0, MS);
    armed_meanwhile = &f->probes[1];
    armed_meanwhile->result = -1;
    advance(f, MS);
    assert_int_equal(f->probes[1].result, 0);
    assert_ran(f, 0, 1);
}
