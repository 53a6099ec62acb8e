/* SPDX-License-Identifier: MIT */
/* test_budget.c - how much a call does within its budget. That it hands out the same timers, the model tells. */
#include "../../support/fixture.h"

/* Nothing is due, and many buckets before the first one with a timer were emptied by cancels. */
/* holds: wheel-9 */
UNIT_TEST(wheel_budget_covers_emptied_buckets_ahead) {
    enum { COUNT = 200, LAST = COUNT - 1 };
    static const size_t budgets[] = { 1, 7, 64 };
    for (unsigned variant = 0; variant < 6; variant++) {
        struct fixture f;
        struct htw_timer *timers[4];
        size_t budget = budgets[variant / 2], count;
        fixture_open(&f, 256, 0, variant % 2 != 0, COUNT);
        for (size_t i = 0; i < COUNT; i++)
            arm(&f, i, 100 + 300 * i);
        for (size_t i = 0; i < LAST; i++)
            assert_true(htw_wheel_cancel(f.wheel, &f.timers[i]));
        size_t left = fixture_stats(&f).queued_buckets;
        assert_in_range(left, 2 * budgets[2], COUNT);
        int progress;
        do {
            progress = htw_wheel_poll_batch(f.wheel, 50, timers, 4, budget, &count);
            size_t now_left = fixture_stats(&f).queued_buckets;
            assert_int_equal(count, 0);
            assert_int_equal(left - now_left, left - 1 < budget ? left - 1 : budget);
            assert_int_equal(progress, left - 1 > budget ? HTW_MORE : HTW_DONE);
            left = now_left;
        } while (progress == HTW_MORE);
        assert_int_equal(left, 1);
        assert_int_equal(htw_wheel_now(f.wheel), 50);
        assert_int_equal(htw_wheel_next(f.wheel), 100 + 300 * LAST);
        assert_int_equal(fixture_stats(&f).queued_buckets, 1);
        assert_int_equal(fixture_stats(&f).advances, 0);
        fixture_close(&f);
    }
}

/* Also discarding the bucket: a budget for its timers is enough. In strict order, timers that are due
   above the lowest level take two steps. */
WHEEL_TEST_BOTH_ORDERS(wheel_budget_is_a_step_for_each_timer_of_a_bucket, 8, 0, 9) {
    static const uint64_t ticks[] = { 5, 64 }; /* of level 0, and above it */
    for (size_t level = 0; level < COUNT_OF(ticks); level++) {
        for (size_t i = 0; i < f->count; i++) /* more than one chain */
            arm(f, i, ticks[level]);
        struct htw_timer *timers[16];
        size_t count, budget = strict && level > 0 ? 2 * f->count : f->count;
        assert_int_equal(htw_wheel_poll_batch(f->wheel, ticks[level], timers, 16, budget, &count),
                         HTW_DONE);
        assert_int_equal(count, f->count);
    }
}

/* Buckets of ten levels come up at the same tick. When they have been emptied between two
   slices, each is a step of the budget. */
WHEEL_TEST(wheel_buckets_emptied_between_slices_are_discarded_within_the_budget, 2, 0, false, 11) {
    for (size_t i = 0; i < 10; i++) { /* ever nearer, so ever lower */
        assert_quiet_round(f, 1024 - (UINT64_C(1024) >> i));
        arm(f, i, 1023);
    }
    arm(f, 10, 1024);
    struct htw_timer *timer;
    size_t count;
    assert_int_equal(htw_wheel_poll_batch(f->wheel, 2000, &timer, 1, 1, &count), HTW_MORE);
    assert_int_equal(count, 1);
    for (size_t i = 0; i < 10; i++)
        htw_wheel_cancel(f->wheel, &f->timers[i]);
    for (uint32_t queued = fixture_stats(f).queued_buckets; queued > 1; queued--) {
        assert_int_equal(htw_wheel_poll_batch(f->wheel, 2000, &timer, 1, 1, &count), HTW_MORE);
        assert_int_equal(count, 0);
        assert_int_equal(fixture_stats(f).queued_buckets, queued - 1);
    }
    assert_round(f, 2000, 10);
}

WHEEL_TEST_BOTH_ORDERS(wheel_demoted_timers_go_to_the_lowest_level_that_fits, 8, 0, 3) {
    for (size_t i = 0; i < 3; i++) /* one bucket of level 3 */
        arm(f, i, 512 + i);
    assert_round(f, 514, 0, 1, 2);
    assert_int_equal(fixture_stats(f).demoted, 2); /* one level down, 2 would go twice */
}
