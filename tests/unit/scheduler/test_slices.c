/* SPDX-License-Identifier: MIT */
/*
 * test_slices.c - how much is done while the lock of a shard is held. The calls that take entries out of the wheels
 * are the test's own, which count the entries that each of them drops, and the buckets that it discards.
 */
#include "scheduler_fixture.h"

#include "../../../src/scheduler/store.h"

/* As in src/scheduler/state.h. */
#define SLICE 64u

enum { BUCKETS = 200 };

static uint32_t most_discarded;

static uint64_t size_of(const struct htw__store *store) {
    return store->count + htw__delay_queue_count(&store->queue);
}

static void note(const struct htw__store *store, uint64_t before) {
    uint64_t after = size_of(store);
    if (before > after && before - after > most_discarded)
        most_discarded = (uint32_t)(before - after);
}

enum htw_wheel_progress __real_htw__store_poll(struct htw__store *store, uint64_t now,
                                               struct htw__entry entries[], size_t max,
                                               size_t budget, size_t *ret_count);
enum htw_wheel_progress __wrap_htw__store_poll(struct htw__store *store, uint64_t now,
                                               struct htw__entry entries[], size_t max,
                                               size_t budget, size_t *ret_count);
bool __real_htw__store_move(struct htw__store *from, struct htw__store *to, size_t max);
bool __wrap_htw__store_move(struct htw__store *from, struct htw__store *to, size_t max);

enum htw_wheel_progress __wrap_htw__store_poll(struct htw__store *store, uint64_t now,
                                               struct htw__entry entries[], size_t max,
                                               size_t budget, size_t *ret_count) {
    uint64_t before = size_of(store);
    enum htw_wheel_progress progress =
        __real_htw__store_poll(store, now, entries, max, budget, ret_count);
    note(store, before);
    return progress;
}

bool __wrap_htw__store_move(struct htw__store *from, struct htw__store *to, size_t max) {
    uint64_t before = size_of(from);
    bool more = __real_htw__store_move(from, to, max);
    note(from, before);
    return more;
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
    assert_in_range(most_discarded, SLICE, 2 * SLICE + 1); /* an entry and its bucket each */
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
    assert_in_range(most_discarded, 1, 2 * SLICE);
    advance(f, 65 * HTW_SECOND);
    assert_ran(f, 1);
}
