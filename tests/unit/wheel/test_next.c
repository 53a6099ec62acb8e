/* SPDX-License-Identifier: MIT */
/* test_next - when to wake up, and what a wake-up costs. */
/* holds: wheel-4 */
#include "../../support/fixture.h"

#include "../../support/random.h"

static const uint64_t trillion = UINT64_C(1000000000000);

/* holds: wheel-10 */
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
UNIT_TEST(wheel_trillion_empty_ticks_cost_as_much_as_one) {
    for (int strict = 0; strict < 2; strict++) {
        uint64_t advances[2];
        for (int far = 0; far < 2; far++) {
            struct fixture f;
            uint64_t deadline = far != 0 ? trillion : 1;
            fixture_open(&f, 256, 0, strict != 0, 1);
            arm(&f, 0, deadline);
            assert_comes_alone(&f, 0, deadline);
            assert_quiet_round(&f, deadline + trillion);
            advances[far] = fixture_stats(&f).advances;
            fixture_close(&f);
        }
        assert_int_equal(advances[0], 1);
        assert_int_equal(advances[1], advances[0]);
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

UNIT_TEST(wheel_timer_is_demoted_at_most_once_a_level) {
    for (uint32_t size = 2; size <= 256; size *= 4) {
        struct fixture f;
        fixture_open(&f, size, 0, false, 500);
        struct random_source source = { 17 };
        for (size_t i = 0; i < 500; i++)
            arm(&f, i, random_below(&source, 1000000));
        uint64_t levels = fixture_stats(&f).levels;
        while (htw_wheel_poll(f.wheel, 1000000) != NULL)
            continue;
        assert_in_range(fixture_stats(&f).demoted, 1, 500 * levels);
        fixture_close(&f);
    }
}
