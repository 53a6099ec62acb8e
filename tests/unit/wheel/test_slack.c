/* SPDX-License-Identifier: MIT */
/* test_slack - timers that may expire at any tick of a range. */
#include "../../support/fixture.h"

#include "../../support/oracle.h"
#include "../../support/random.h"

/* Arms timer 0 within a range; returns the tick that was chosen. */
static uint64_t chosen(struct fixture *f, uint64_t earliest, uint64_t latest) {
    assert_int_equal(htw_wheel_schedule_within(f->wheel, &f->timers[0], earliest, latest), 0);
    assert_sound(f);
    return htw_timer_deadline(&f->timers[0]);
}

static unsigned trailing_zeros(uint64_t tick) {
    unsigned zeros = 0;
    while (zeros < 64 && (tick >> zeros & 1) == 0)
        zeros++;
    return zeros;
}

WHEEL_TEST(wheel_slack_chooses_the_roundest_tick_of_every_small_range, 8, 0, false, 1) {
    for (uint64_t earliest = 0; earliest < 140; earliest++) {
        uint64_t best = earliest;
        for (uint64_t latest = earliest; latest < 300; latest++) {
            if (trailing_zeros(latest) > trailing_zeros(best))
                best = latest;
            assert_int_equal(chosen(f, earliest, latest), best);
        }
    }
}

WHEEL_TEST(wheel_slack_chooses_the_roundest_tick_of_large_ranges, 256, 0, false, 1) {
    struct random_source source = { 1 };
    for (int i = 0; i < 20000; i++) {
        uint64_t earliest = random_magnitude(&source);
        uint64_t latest = earliest + random_magnitude(&source);
        if (latest < earliest || latest == HTW_NEVER_TICK)
            latest = HTW_NEVER_TICK - 1;
        if (earliest > latest)
            earliest = latest;
        assert_int_equal(chosen(f, earliest, latest), oracle_slack(earliest, latest));
    }
}

WHEEL_TEST(wheel_slack_over_the_whole_range_takes_the_highest_bit, 8, 0, false, 1) {
    assert_int_equal(chosen(f, 1, HTW_NEVER_TICK - 1), UINT64_C(1) << 63);
    assert_int_equal(chosen(f, 1, (UINT64_C(1) << 63) - 1), UINT64_C(1) << 62);
    assert_int_equal(chosen(f, (UINT64_C(1) << 63) + 1, HTW_NEVER_TICK - 1),
                     (UINT64_C(1) << 63) + (UINT64_C(1) << 62));
}

WHEEL_TEST(wheel_slack_up_to_never_is_finite, 8, 0, false, 1) {
    static const uint64_t starts[] = { 1, 1000, UINT64_C(1) << 63, HTW_NEVER_TICK - 2,
                                       HTW_NEVER_TICK - 1 };
    for (size_t i = 0; i < sizeof starts / sizeof starts[0]; i++)
        assert_int_equal(chosen(f, starts[i], HTW_NEVER_TICK),
                         chosen(f, starts[i], HTW_NEVER_TICK - 1));
    assert_true(htw_timer_deadline(&f->timers[0]) == HTW_NEVER_TICK - 1);
    assert_round(f, HTW_NEVER_TICK, 0);
}

WHEEL_TEST(wheel_slack_from_never_is_never, 8, 0, false, 1) {
    assert_true(chosen(f, HTW_NEVER_TICK, HTW_NEVER_TICK) == HTW_NEVER_TICK);
    assert_quiet_round(f, HTW_NEVER_TICK);
    assert_int_equal(htw_wheel_count(f->wheel), 1);
}

WHEEL_TEST(wheel_slack_in_the_past_is_due_at_once, 8, 1000, false, 1) {
    assert_int_equal(chosen(f, 500, 600), 512);
    assert_int_equal(htw_wheel_next(f->wheel), 1000);
    assert_round(f, 1000, 0);
}

WHEEL_TEST(wheel_slack_lets_timers_fall_due_together_without_demotion, 256, 12345, false, 1000) {
    /* A thousand timeouts of 30 s, armed over a second, give or take 1 %. */
    for (size_t i = 0; i < 1000; i++) {
        uint64_t now = 12345 + i;
        while (htw_wheel_poll(f->wheel, now) != NULL)
            continue;
        assert_int_equal(
            htw_wheel_schedule_within(f->wheel, &f->timers[i], now + 29700, now + 30300), 0);
    }
    size_t came = 0;
    while (htw_wheel_poll(f->wheel, 100000) != NULL)
        came++;
    assert_int_equal(came, 1000);
    assert_in_range(fixture_stats(f).advances, 1, 5);
    assert_int_equal(fixture_stats(f).demoted, 0);
}

WHEEL_TEST(wheel_slack_timer_at_the_start_of_a_bucket_is_never_demoted, 8, 0, false, 7) {
    assert_int_equal(htw_wheel_reserve(f->wheel, HTW_NEVER_TICK), 0);
    for (size_t i = 0; i < 7; i++) { /* each at the start of a bucket of level 2 */
        uint64_t tick = 64 * (i + 1);
        assert_int_equal(
            htw_wheel_schedule_within(f->wheel, &f->timers[i], tick - i % 2, tick + i / 2), 0);
        assert_int_equal(htw_timer_deadline(&f->timers[i]), tick);
    }
    assert_round(f, 1000, 0, 1, 2, 3, 4, 5, 6);
    assert_int_equal(fixture_stats(f).demoted, 0);
}
