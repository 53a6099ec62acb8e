/* SPDX-License-Identifier: MIT */
/*
 * How much is done while the lock of a shard is held. The calls that take timers out of the wheels
 * are the test's own, which count the emptied buckets that each of them discards.
 */
#include "../../support/scheduler_case.h"
#include "../unit.h"

/* As in src/scheduler/state.h. */
#define SLICE 64u

enum { BUCKETS = 200 };

static uint32_t most_discarded;

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

int __wrap_htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                                size_t max, size_t budget, size_t *ret_count) {
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

/* Timers of as many buckets, which are cancelled. */
static void empty_many_buckets(struct scheduler_case *test) {
    struct probe probes[BUCKETS];
    for (unsigned i = 0; i < BUCKETS; i++) {
        probes[i] = scheduler_case_probe(test, 'x');
        probe_schedule(&probes[i], (int64_t)(i + 1) * 300 * HTW_MILLISECOND);
    }
    for (unsigned i = 0; i < BUCKETS; i++)
        assert_int_equal(htw_cancel(test->scheduler, probes[i].handle), HTW_CANCELLED);
    most_discarded = 0;
}

static void slice_is_not_exceeded_by_buckets_that_cancels_have_emptied(void **state) {
    struct scheduler_case *test = *state;
    struct probe now = scheduler_case_probe(test, 'n'), later = scheduler_case_probe(test, 'l');
    probe_schedule(&later, 64000 * HTW_MILLISECOND);
    empty_many_buckets(test);
    probe_schedule(&now, 0);
    scheduler_case_advance(test, 0);
    assert_string_equal(scheduler_case_log(test), "n");
    assert_int_equal(most_discarded, SLICE);
    assert_int_equal(htw_scheduler_next(test->scheduler), CASE_START_NS + 64 * HTW_SECOND);
    scheduler_case_advance(test, 64 * HTW_SECOND);
    assert_string_equal(scheduler_case_log(test), "l");
}

static void slice_is_not_exceeded_when_the_clock_is_set_back(void **state) {
    struct scheduler_case *test = *state;
    struct probe later = scheduler_case_probe(test, 'l'), never = scheduler_case_probe(test, 'n');
    probe_schedule(&later, 64 * HTW_SECOND);
    probe_schedule(&never, HTW_NEVER_NS);
    empty_many_buckets(test);
    assert_int_equal(htw_scheduler_set_time(test->scheduler, CASE_START_NS - HTW_SECOND), 0);
    struct probe now = scheduler_case_probe(test, 'x');
    probe_schedule(&now, 0);
    scheduler_case_advance(test, 0);
    assert_string_equal(scheduler_case_log(test), "x");
    assert_in_range(most_discarded, 1, SLICE);
    scheduler_case_advance(test, 65 * HTW_SECOND);
    assert_string_equal(scheduler_case_log(test), "l");
    assert_int_equal(htw_cancel(test->scheduler, never.handle), HTW_CANCELLED);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(slice_is_not_exceeded_by_buckets_that_cancels_have_emptied,
                                        scheduler_case_setup, scheduler_case_teardown),
        cmocka_unit_test_setup_teardown(slice_is_not_exceeded_when_the_clock_is_set_back,
                                        scheduler_case_setup, scheduler_case_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
