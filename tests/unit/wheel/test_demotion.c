/* SPDX-License-Identifier: MIT */
/* test_demotion - a bucket of a million timers is demoted in slices. */
#include "../../support/fixture.h"

#include "../../support/random.h"

#ifndef HTW_CHECK_LEVEL
#define HTW_CHECK_LEVEL 0
#endif

/* With check_level 2 the library checks all of them after every step: a million takes days. */
enum { TIMERS = HTW_CHECK_LEVEL >= 2 ? 4000 : 1000000, BUDGET = TIMERS / 1000, BATCH = 64 };

/* The first tick of a bucket of level 3 of a wheel of size 256; the bucket is as wide. */
static const uint64_t bucket_start = UINT64_C(1) << 24;

/* Arms all timers in that bucket; only timer 0 is due when it starts. */
static void fill_bucket(struct fixture *f) {
    fixture_open(f, 256, 0, false, TIMERS);
    struct random_source source = { 6 };
    arm(f, 0, bucket_start);
    for (size_t i = 1; i < TIMERS; i++)
        arm(f, i, bucket_start + 1 + random_below(&source, bucket_start - 1));
    assert_int_equal(fixture_stats(f).queued_buckets, 1);
}

/* Polls a slice; returns whether there is more to do. */
static bool poll_slice(struct fixture *f, uint64_t now, size_t *came) {
    struct htw_timer *timers[BATCH];
    size_t count = 0;
    uint64_t demoted = fixture_stats(f).demoted;
    int progress = htw_wheel_poll_batch(f->wheel, now, timers, BATCH, BUDGET, &count);
    uint64_t steps = fixture_stats(f).demoted - demoted + count;
    assert_in_range(steps, 0, BUDGET);
    assert_in_range(progress, HTW_DONE, HTW_MORE);
    *came += count;
    return progress == HTW_MORE;
}

/* Cancels the k-th victim: the odd timers, from both ends in turn. */
static size_t cancel_victim(struct fixture *f, size_t k) {
    size_t number = k % 2 == 0 ? 1 + k : TIMERS - k;
    return htw_wheel_cancel(f->wheel, &f->timers[number]);
}

/* holds: wheel-9 */
UNIT_TEST(wheel_million_timers_demoted_in_slices_can_be_cancelled_meanwhile) {
    struct fixture f;
    fill_bucket(&f);
    size_t came = 0;
    size_t cancelled = 0;
    size_t slices = 0;
    size_t victim = 0;
    while (poll_slice(&f, bucket_start, &came)) {
        slices++;
        for (size_t i = 0; i < BUDGET * 6 / 10 && victim < TIMERS / 2; i++)
            cancelled += cancel_victim(&f, victim++);
    }
    assert_sound(&f);
    assert_int_equal(came, 1);
    assert_in_range(slices, 500, 1100);
    while (victim < TIMERS / 2)
        cancelled += cancel_victim(&f, victim++);
    assert_int_equal(cancelled, TIMERS / 2);
    assert_int_equal(htw_wheel_count(f.wheel), TIMERS / 2 - 1);

    uint64_t last = bucket_start;
    struct htw_timer *timer;
    while ((timer = htw_wheel_poll(f.wheel, 2 * bucket_start)) != NULL) {
        assert_true(htw_timer_deadline(timer) >= last);
        last = htw_timer_deadline(timer);
        assert_int_equal(fixture_number(&f, timer) % 2, 0);
        came++;
    }
    assert_int_equal(came + cancelled, TIMERS);
    assert_int_equal(htw_wheel_count(f.wheel), 0);
    struct htw_wheel_stats stats = fixture_stats(&f);
    assert_int_equal(stats.scheduled, stats.cancelled + stats.expired);
    fixture_close(&f);
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
