/* SPDX-License-Identifier: MIT */
/* test_rounds - rounds, batches and budgets. */
#include "../../support/fixture.h"

#include "../../support/random.h"

#include <string.h>

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

WHEEL_TEST_BOTH_ORDERS(wheel_budget_of_one_lets_no_later_timer_pass, 8, 0, 50) {
    for (size_t i = 0; i < 50; i++) /* one bucket of level 2, the earliest last */
        arm(f, i, 113 - i);
    size_t numbers[50];
    assert_int_equal(poll_all(f, 200, 1, 1, numbers), 50);
    for (size_t i = 0; i < 50; i++)
        assert_int_equal(numbers[i], 49 - i);
}

UNIT_TEST(wheel_batch_armed_for_the_past_inside_a_round_waits_for_the_next) {
    static const size_t budgets[] = { 1, 2, 64 };
    for (size_t i = 0; i < 3; i++) {
        struct fixture f;
        fixture_open(&f, 8, 0, true, 6);
        for (size_t number = 0; number < 4; number++)
            arm(&f, number, 9 + number % 2);
        struct htw_timer *timers[1];
        size_t count = 0;
        while (count == 0)
            assert_int_equal(htw_wheel_poll_batch(f.wheel, 12, timers, 1, budgets[i], &count),
                             HTW_MORE);
        assert_ptr_equal(timers[0], &f.timers[0]);
        arm(&f, 4, 9);
        arm(&f, 5, 10);
        size_t numbers[6];
        assert_int_equal(poll_all(&f, 12, 1, budgets[i], numbers), 4);
        assert_int_equal(numbers[0], 2);
        assert_int_equal(numbers[1], 1);
        assert_int_equal(numbers[2], 3);
        assert_int_equal(numbers[3], 5);
        assert_int_equal(poll_all(&f, 12, 1, budgets[i], numbers), 1);
        assert_int_equal(numbers[0], 4);
        fixture_close(&f);
    }
}

/* The timers of one bucket are armed so far apart that they are in all of its chains. */
WHEEL_TEST(wheel_bucket_filled_over_a_long_time_loses_no_timer, 4, 0, false, 80) {
    for (size_t between = 1; between < 70; between += 3) {
        uint64_t clock = htw_wheel_now(f->wheel);
        for (size_t i = 0; i < 20; i++) {
            arm(f, i, clock + 9 + i % 3);
            for (size_t other = 0; other < between; other++) {
                arm(f, 20 + i, clock + 2 + other % 30);
                assert_true(htw_wheel_cancel(f->wheel, &f->timers[20 + i]));
            }
            assert_sound(f);
        }
        for (size_t i = 0; i < 20; i += 2)
            assert_true(htw_wheel_cancel(f->wheel, &f->timers[i]));
        assert_sound(f);
        struct htw_timer *timer;
        size_t total = 0;
        while ((timer = htw_wheel_poll(f->wheel, clock + 12)) != NULL) {
            assert_int_equal(fixture_number(f, timer) % 2, 1);
            total++;
        }
        assert_int_equal(total, 10);
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

/* One call empties part of a bucket: what is due waits in a list of its own, what is not has been demoted. */
WHEEL_TEST_BOTH_ORDERS(wheel_bucket_emptied_in_parts_lets_its_timers_be_cancelled_and_moved, 8, 0,
                       300) {
    for (size_t i = 0; i < f->count;
         i++) /* of one bucket: half of them are due before the others */
        arm(f, i, 64 + i % 2);
    unsigned polled = 0, cancelled = 0, moved = 0;
    for (struct htw_timer *timer; (timer = htw_wheel_poll(f->wheel, 64)) != NULL; polled++) {
        assert_int_equal(fixture_number(f, timer) % 2, 0);
        for (size_t kept = 0, i = f->count - 1; i > 0 && kept < 2; i--) {
            if (!htw_timer_is_pending(&f->timers[i]) || htw_timer_deadline(&f->timers[i]) > 64)
                continue;
            if (kept++ == 0) {
                assert_true(htw_wheel_cancel(f->wheel, &f->timers[i]));
                cancelled++;
            } else {
                arm(f, i, 70);
                moved++;
            }
        }
        assert_sound(f);
    }
    assert_int_equal(polled + cancelled + moved, 150);
    assert_int_equal(htw_wheel_next(f->wheel), 65);
    assert_int_equal(htw_wheel_count(f->wheel), 150 + moved);
    polled = 0;
    for (struct htw_timer *timer; (timer = htw_wheel_poll(f->wheel, 70)) != NULL; polled++)
        assert_true(polled < 150 ? fixture_number(f, timer) % 2 == 1
                                 : htw_timer_deadline(timer) == 70);
    assert_int_equal(polled, 150 + moved);
}
