/* SPDX-License-Identifier: MIT */
/* test_wheel - the life of a wheel and of a timer; counting, visiting, draining. */
#include "../../support/fixture.h"

#include <stdlib.h>
#include <string.h>

WHEEL_TEST(wheel_fresh_is_empty, 8, 77, false, 0) {
    assert_int_equal(htw_wheel_now(f->wheel), 77);
    assert_int_equal(htw_wheel_count(f->wheel), 0);
    assert_int_equal(htw_wheel_next(f->wheel), HTW_NEVER_TICK);
    assert_null(htw_wheel_drain(f->wheel));
    assert_quiet_round(f, 100);
}

UNIT_TEST(wheel_without_options_has_the_defaults) {
    struct htw_wheel *wheel = NULL;
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    assert_int_equal(htw_wheel_get_stats(wheel, &stats), 0);
    assert_int_equal(stats.size, HTW_WHEEL_SIZE_DEFAULT);
    assert_int_equal(stats.levels, 1);
    assert_int_equal(htw_wheel_now(wheel), 0);
    htw_wheel_destroy(wheel);
}

/* holds: wheel-14 */
UNIT_TEST(wheel_timer_is_at_most_32_bytes) {
    assert_int_equal(sizeof(struct htw_timer), sizeof(void *) == 8 ? 32 : 24);
}

UNIT_TEST(wheel_initialised_timer_equals_zeroed_one) {
    struct htw_timer initialised;
    struct htw_timer zeroed;
    memset(&initialised, 0xa5, sizeof initialised);
    memset(&zeroed, 0, sizeof zeroed);
    htw_timer_init(&initialised);
    assert_memory_equal(&initialised, &zeroed, sizeof zeroed);
    assert_false(htw_timer_is_pending(&initialised));
}

/* ---- for_each, drain, destroy */

struct census {
    const struct fixture *fixture;
    size_t seen[16];
    size_t calls;
    size_t stop_at;
};

static bool count_visit(struct htw_timer *timer, void *arg) {
    struct census *census = arg;
    census->seen[timer - census->fixture->timers]++;
    return ++census->calls != census->stop_at;
}

/* One timer in each kind of place. */
static void arm_everywhere(struct fixture *f) {
    static const uint64_t deadlines[] = { 0,
                                          999,
                                          1000,
                                          1001,
                                          1001,
                                          1003,
                                          1009,
                                          1100,
                                          2000,
                                          1000000,
                                          UINT64_C(1) << 62,
                                          1000,
                                          5000000,
                                          HTW_NEVER_TICK,
                                          HTW_NEVER_TICK - 1,
                                          HTW_NEVER_TICK };
    for (size_t i = 0; i < 16; i++)
        arm(f, i, deadlines[i]);
}

UNIT_TEST(wheel_for_each_stops_when_the_visitor_says_so) {
    for (size_t stop_at = 1; stop_at <= 16; stop_at++) {
        struct fixture f;
        fixture_open(&f, 8, 1000, false, 16);
        arm_everywhere(&f);
        struct census census = { .fixture = &f, .stop_at = stop_at };
        assert_int_equal(htw_wheel_for_each(f.wheel, count_visit, &census), stop_at);
        assert_int_equal(census.calls, stop_at);
        fixture_close(&f);
    }
}

WHEEL_TEST_BOTH_ORDERS(wheel_drain_takes_all_and_leaves_the_clock, 8, 1000, 16) {
    arm_everywhere(f);
    size_t seen[16] = { 0 };
    for (size_t left = 16; left > 0; left--) {
        assert_int_equal(htw_wheel_count(f->wheel), left);
        struct htw_timer *timer = htw_wheel_drain(f->wheel);
        assert_non_null(timer);
        assert_false(htw_timer_is_pending(timer));
        seen[fixture_number(f, timer)]++;
        assert_sound(f);
    }
    for (size_t i = 0; i < 16; i++)
        assert_int_equal(seen[i], 1);
    assert_null(htw_wheel_drain(f->wheel));
    assert_int_equal(htw_wheel_now(f->wheel), 1000);
    assert_int_equal(htw_wheel_next(f->wheel), HTW_NEVER_TICK);
    assert_int_equal(fixture_stats(f).drained, 16);
}

/* holds: wheel-12 */
UNIT_TEST(wheel_destroyed_leaves_timers_that_another_wheel_can_use) {
    struct fixture f;
    struct fixture other;
    fixture_open(&f, 8, 1000, false, 0);
    fixture_open(&other, 8, 1000, false, 16);
    free(f.timers);
    f.timers = other.timers;
    arm_everywhere(&f);
    f.timers = NULL;
    fixture_close(&f);
    for (size_t i = 0; i < 16; i++)
        assert_false(htw_timer_is_pending(&other.timers[i]));
    arm_everywhere(&other);
    assert_int_equal(htw_wheel_count(other.wheel), 16);
    fixture_close(&other);
}
