/* SPDX-License-Identifier: MIT */
/* test_rounds - rounds, batches and budgets. */
#include "../../support/fixture.h"

#include "../../support/random.h"

WHEEL_TEST(wheel_loop_that_rearms_one_tick_on_ends_at_now, 8, 0, false, 1) {
    arm(f, 0, 1);
    uint64_t handed_out = 0;
    while (htw_wheel_poll(f->wheel, 1000) != NULL) {
        assert_true(++handed_out <= 1000);
        arm(f, 0, htw_wheel_now(f->wheel) + 1);
    }
    assert_int_equal(handed_out, 1000);
    assert_int_equal(htw_wheel_next(f->wheel), 1001);
}

/* ---- batches */

/* Polls in batches up to `now`, and notes the timers that expire; returns how many. */
static size_t poll_all(struct fixture *f, uint64_t now, size_t max, size_t budget,
                       size_t *numbers) {
    size_t total = 0;
    int progress;
    do {
        struct htw_timer *timers[64];
        size_t count = SIZE_MAX;
        uint64_t demoted = fixture_stats(f).demoted;
        progress = htw_wheel_poll_batch(f->wheel, now, timers, max, budget, &count);
        assert_in_range(progress, HTW_DONE, HTW_MORE);
        assert_in_range(count, 0, max);
        if (budget != 0)
            assert_in_range(count + (fixture_stats(f).demoted - demoted), 0, budget);
        else if (progress == HTW_MORE)
            assert_int_equal(count, max);
        for (size_t i = 0; i < count; i++)
            numbers[total++] = fixture_number(f, timers[i]);
        assert_in_range(total, 0, f->count);
    } while (progress == HTW_MORE);
    assert_int_equal(htw_wheel_now(f->wheel), now);
    return total;
}

/* holds: wheel-9 */
UNIT_TEST(wheel_budgets_and_batches_hand_out_the_same) {
    static const size_t budgets[] = { 1, 2, 64, 0 };
    static const size_t maxima[] = { 1, 2, 64 };
    enum { TIMERS = 600 };
    size_t expected[TIMERS];
    size_t numbers[TIMERS];
    for (size_t variant = 0; variant < 12; variant++) {
        struct fixture f;
        fixture_open(&f, 8, 0, true, TIMERS);
        struct random_source source = { 7 };
        for (size_t i = 0; i < TIMERS; i++)
            arm(&f, i, random_below(&source, 2000));
        size_t expected_count = 0;
        for (uint64_t tick = 0; tick <= 1500; tick++) {
            for (size_t i = 0; i < TIMERS; i++) {
                if (htw_timer_deadline(&f.timers[i]) == tick)
                    expected[expected_count++] = i;
            }
        }
        size_t count = poll_all(&f, 1500, maxima[variant % 3], budgets[variant / 3], numbers);
        assert_int_equal(count, expected_count);
        assert_memory_equal(numbers, expected, count * sizeof numbers[0]);
        fixture_close(&f);
    }
}

/* Even if it holds the last timer that is due: another call says so. */
WHEEL_TEST_BOTH_ORDERS(wheel_batch_that_is_full_does_not_end_the_round, 8, 0, 1) {
    struct htw_timer *timer;
    size_t count;
    arm(f, 0, 5);
    assert_int_equal(htw_wheel_poll_batch(f->wheel, 7, &timer, 1, 0, &count), HTW_MORE);
    assert_int_equal(count, 1);
    assert_int_equal(htw_wheel_poll_batch(f->wheel, 7, &timer, 1, 0, &count), HTW_DONE);
    assert_int_equal(count, 0);
    assert_int_equal(htw_wheel_now(f->wheel), 7);
}

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
