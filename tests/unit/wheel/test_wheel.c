/* SPDX-License-Identifier: MIT */
/*
 * test_wheel.c - the life of a wheel and of a timer, told by examples: order, the next wake-up and its cost, slack, memory.
 *
 * tests/model/model_wheel.c has random histories of the same, tests/enumerate/wheel.c all short ones.
 */
#include "../../support/fixture.h"

#include "../../support/random.h"
#include "../../support/refused_creation.h"

UNIT_TEST(wheel_without_options_has_the_defaults) {
    struct htw_wheel *wheel = NULL;
    assert_int_equal(htw_wheel_create(&wheel, NULL), 0);
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    assert_int_equal(htw_wheel_get_stats(wheel, &stats), 0);
    assert_int_equal(stats.size, HTW_WHEEL_SIZE_DEFAULT); /* as with size 0 */
    assert_int_equal(stats.levels, 1);
    assert_int_equal(htw_wheel_now(wheel), 0);
    htw_wheel_destroy(wheel);
}

/* holds: wheel-14 */
UNIT_TEST(wheel_timer_is_at_most_32_bytes) {
    assert_int_equal(sizeof(struct htw_timer), sizeof(void *) == 8 ? 32 : 24);
}

UNIT_TEST(wheel_initialised_timer_equals_zeroed_one) {
    struct htw_timer initialised, zeroed;
    memset(&initialised, 0xa5, sizeof initialised);
    memset(&zeroed, 0, sizeof zeroed);
    htw_timer_init(&initialised);
    assert_memory_equal(&initialised, &zeroed, sizeof zeroed);
    assert_false(htw_timer_is_pending(&initialised));
}

/* ---- when timers expire */

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

/* ---- when to wake up, and what that costs */

/* holds: wheel-4, wheel-10 */
UNIT_TEST(wheel_emptied_bucket_causes_no_wake_up) {
    /* At the lowest level and above; alone, and with a later bucket behind it. */
    static const uint64_t deadlines[] = { 3, 20, 100, 5000, UINT64_C(1) << 40 };
    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++) {
            struct fixture f;
            fixture_open(&f, 8, 0, strict != 0, 3);
            arm(&f, 0, deadlines[i]);
            arm(&f, 1, deadlines[i]);
            assert_true(htw_wheel_cancel(f.wheel, &f.timers[0]));
            assert_true(htw_wheel_cancel(f.wheel, &f.timers[1]));
            assert_int_equal(htw_wheel_next(f.wheel), HTW_NEVER_TICK);
            arm(&f, 0, deadlines[i]);
            arm(&f, 2, deadlines[i] * 3);
            assert_true(htw_wheel_cancel(f.wheel, &f.timers[0]));
            assert_int_equal(htw_wheel_next(f.wheel), deadlines[i] * 3);
            assert_comes_alone(&f, 2, deadlines[i] * 3);
            assert_int_equal(fixture_stats(&f).advances, 1);
            fixture_close(&f);
        }
    }
}

/* holds: wheel-10 */
UNIT_TEST(wheel_single_far_timer_costs_one_advance) {
    /* From a random clock, so that a wheel that demotes level by level would cross each level. */
    static const uint32_t sizes[] = { 2, 8, 256 };
    struct random_source source = { 9 };
    for (size_t size = 0; size < 3; size++) {
        for (unsigned bit = 0; bit < 63; bit++) {
            struct fixture f;
            fixture_open(&f, sizes[size], random_next(&source) >> 1, false, 1);
            uint64_t deadline = htw_wheel_now(f.wheel) + (UINT64_C(1) << bit) + bit;
            arm(&f, 0, deadline);
            assert_comes_alone(&f, 0, deadline);
            assert_int_equal(fixture_stats(&f).advances, 1);
            assert_int_equal(fixture_stats(&f).demoted, 0);
            fixture_close(&f);
        }
    }
}

/* ---- memory */

static const uint64_t day = 86400000;

/* holds: wheel-14 */
WHEEL_TEST_BOTH_ORDERS(wheel_with_a_horizon_of_a_day_holds_at_most_160_kib, 0, 1767225600000, 1) {
    assert_int_equal(htw_wheel_reserve(f->wheel, day), 0);
    arm(f, 0, htw_wheel_now(f->wheel) + day);
    assert_in_range(f->memory.live_bytes, 1, 160 * 1024);
    assert_int_equal(fixture_stats(f).memory_bytes, f->memory.live_bytes);
}

static struct htw_wheel *created;

static int create(const struct htw_allocator *allocator) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.allocator = allocator;
    created = NULL;
    int error = htw_wheel_create(&created, &options);
    assert_int_equal(error == 0, created != NULL);
    return error;
}

static void destroy(void) {
    htw_wheel_destroy(created);
}

UNIT_TEST(wheel_create_that_lacks_memory_leaves_nothing) {
    assert_refused_creation_leaves_nothing(create, destroy);
}

/* ---- all timers */

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

static bool count_down(struct htw_timer *timer, void *arg) {
    (void)timer;
    return --*(size_t *)arg > 0;
}

UNIT_TEST(wheel_for_each_stops_when_the_visitor_says_so) {
    for (size_t stop_at = 1; stop_at <= 16; stop_at++) {
        struct fixture f;
        fixture_open(&f, 8, 1000, false, 16);
        arm_everywhere(&f);
        /* Inside the round: in `next_round`. */
        arm(&f, (size_t)(htw_wheel_poll(f.wheel, 1000) - f.timers), 1000);
        size_t left = stop_at;
        assert_int_equal(htw_wheel_for_each(f.wheel, count_down, &left), stop_at);
        assert_int_equal(left, 0);
        fixture_close(&f);
    }
}

/* holds: wheel-12 */
UNIT_TEST(wheel_destroyed_leaves_timers_that_another_wheel_can_use) {
    struct fixture f, other;
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
