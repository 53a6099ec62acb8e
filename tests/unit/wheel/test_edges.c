/* SPDX-License-Identifier: MIT */
/* test_edges - deadlines at the edges of levels, of buckets, and of the 64-bit range. */
#include "../../support/fixture.h"

static const uint32_t sizes[] = { 2, 4, 8, 64, 256, 4096 };

/* A single timer, armed at `start`, expires at its tick and costs one advance of the clock. */
static void check_lone_timer(uint32_t size, bool strict, uint64_t start, uint64_t deadline) {
    struct fixture f;
    fixture_open(&f, size, start, strict, 1);
    arm(&f, 0, deadline);
    assert_sound(&f);
    if (deadline == HTW_NEVER_TICK) {
        assert_int_equal(htw_wheel_next(f.wheel), HTW_NEVER_TICK);
        assert_quiet_round(&f, HTW_NEVER_TICK);
    } else if (deadline <= start) {
        assert_int_equal(htw_wheel_next(f.wheel), start);
        assert_round(&f, 0, 0);
    } else {
        assert_comes_alone(&f, 0, deadline);
        assert_int_equal(fixture_stats(&f).advances, 1);
        assert_int_equal(htw_wheel_now(f.wheel), deadline);
    }
    fixture_close(&f);
}

/* holds: wheel-1 */
UNIT_TEST(wheel_deadline_near_a_power_of_two_expires_on_its_tick) {
    static const uint64_t starts[] = { 0,
                                       1,
                                       7,
                                       255,
                                       256,
                                       65535,
                                       (UINT64_C(1) << 32) - 1,
                                       (UINT64_C(1) << 63) - 1,
                                       HTW_NEVER_TICK - 1 };
    for (size_t size = 0; size < 5; size++) {
        for (size_t start = 0; start < sizeof starts / sizeof starts[0]; start++) {
            for (unsigned bit = 0; bit < 64; bit++) {
                uint64_t power = UINT64_C(1) << bit;
                for (uint64_t deadline = power - 1; deadline <= power + 1; deadline++)
                    check_lone_timer(sizes[size], bit % 2 == 0, starts[start], deadline);
            }
        }
    }
}

/* The edges of level `level`, whose buckets are `width` wide, seen from `clock`. */
static void check_level_from(uint32_t size, bool strict, uint64_t width, uint64_t clock) {
    uint64_t here = clock / width * width;
    uint64_t deadlines[] = {
        here + width,                   /* the first bucket after the clock's: its start */
        here + 2 * width - 1,           /* ... and its end */
        here + (size - 1) * width,      /* the last bucket of the turn: its start */
        here + size * width - 1,        /* ... and its end */
        here + size * width,            /* the next turn, which is the next level's */
        here + size * width + width - 1 /* ... in the clock's own slot */
    };
    enum { COUNT = sizeof deadlines / sizeof deadlines[0] };
    for (size_t i = 0; i < COUNT; i++)
        check_lone_timer(size, strict, clock, deadlines[i]);

    /* All at once, the latest first; for size 2 the first bucket is also the last. */
    struct fixture f;
    fixture_open(&f, size, clock, strict, COUNT);
    for (size_t i = COUNT; i-- > 0;)
        arm(&f, i, deadlines[i]);
    uint64_t last = clock;
    for (struct htw_timer *timer; htw_wheel_count(f.wheel) > 0;) {
        uint64_t next = htw_wheel_next(f.wheel);
        assert_true(next > last);
        assert_quiet_round(&f, next - 1);
        while ((timer = htw_wheel_poll(f.wheel, next)) != NULL)
            assert_int_equal(htw_timer_deadline(timer), next);
        last = next;
        assert_sound(&f);
    }
    assert_int_equal(last, deadlines[COUNT - 1]);
    fixture_close(&f);
}

static void check_all_positions(uint32_t size, unsigned levels, uint64_t base) {
    uint64_t width = size;
    for (unsigned level = 1; level <= levels; level++, width *= size) {
        for (uint64_t position = 0; position < width; position++)
            check_level_from(size, position % 2 == 0, width, base + position);
    }
}

/* holds: wheel-1 */
UNIT_TEST(wheel_first_and_last_bucket_of_each_level_work_from_every_position) {
    check_all_positions(2, 7, 0);
    check_all_positions(4, 4, 0);
    check_all_positions(8, 3, 0);
    check_all_positions(2, 5, 96);
    check_all_positions(4, 3, (UINT64_C(1) << 32) - 64);
    check_all_positions(8, 2, 5 * 512);
}

/* holds: wheel-1 */
WHEEL_TEST_BOTH_ORDERS(wheel_clock_that_lags_more_than_a_turn_loses_nothing, 8, 0, 6) {
    /* The time is tick 1000, but the wheel has not been polled; a turn of level 0 is 8 ticks. */
    arm(f, 0, 1001);
    arm(f, 1, 5);
    arm(f, 2, 1008);
    arm(f, 3, 13);
    arm(f, 4, 1016);
    arm(f, 5, 1009);
    assert_round(f, 1000, 1, 3);
    assert_quiet_round(f, 1000);
    assert_round(f, 1008, 0, 2);
    assert_round(f, 1016, 5, 4);
}

/* A cancel reads what follows the head of a chain. The sanitizer sees whether that is memory of the wheel. */
WHEEL_TEST(wheel_cancel_in_the_last_bucket_and_chain_reads_no_further, 2, 0, false, 1) {
    for (size_t i = 0; i < 16; i++) { /* each chain of level 0 in turn */
        arm(f, 0, 1);
        assert_true(htw_wheel_cancel(f->wheel, &f->timers[0]));
        assert_sound(f);
    }
}
