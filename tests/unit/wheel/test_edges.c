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

UNIT_TEST(wheel_delay_near_a_power_of_two_expires_on_its_tick) {
    static const uint64_t starts[] = { 1, 255, 256, 12345, (UINT64_C(1) << 32) + 77 };
    for (size_t start = 0; start < sizeof starts / sizeof starts[0]; start++) {
        for (unsigned bit = 0; bit < 64; bit++) {
            uint64_t power = UINT64_C(1) << bit;
            for (uint64_t delay = power - 1; delay <= power + 1; delay++)
                check_lone_timer(8, bit % 2 == 0, starts[start], starts[start] + delay);
        }
    }
}

UNIT_TEST(wheel_all_powers_of_two_at_once_expire_in_order) {
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
        struct fixture f;
        fixture_open(&f, sizes[size], 0, false, 64);
        for (size_t i = 0; i < 64; i++) /* in another order: 37 and 64 have no common divisor */
            arm(&f, i * 37 % 64, UINT64_C(1) << (i * 37 % 64));
        for (size_t i = 0; i < 64; i++) {
            uint64_t deadline = UINT64_C(1) << i;
            assert_int_equal(htw_wheel_next(f.wheel), deadline);
            assert_quiet_round(&f, deadline - 1);
            assert_round(&f, deadline, i);
        }
        fixture_close(&f);
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

UNIT_TEST(wheel_positions_of_a_large_wheel_work_at_the_edges) {
    static const uint64_t positions[] = { 0, 1, 127, 254, 255 };
    for (size_t i = 0; i < sizeof positions / sizeof positions[0]; i++) {
        check_level_from(256, false, 256, positions[i]);
        check_level_from(256, true, 65536, positions[i] * 256 + positions[i]);
    }
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

WHEEL_TEST(wheel_poll_far_beyond_everything_hands_out_all_in_order, 8, 10, false, 5) {
    arm(f, 0, UINT64_C(1) << 63);
    arm(f, 1, 11);
    arm(f, 2, 70000);
    arm(f, 3, HTW_NEVER_TICK - 1);
    arm(f, 4, 100);
    assert_round(f, HTW_NEVER_TICK, 1, 4, 2, 0, 3);
    assert_int_equal(htw_wheel_now(f->wheel), HTW_NEVER_TICK - 1);
}

UNIT_TEST(wheel_timers_of_the_last_ticks_expire_one_by_one) {
    for (size_t size = 0; size < sizeof sizes / sizeof sizes[0]; size++) {
        struct fixture f;
        fixture_open(&f, sizes[size], HTW_NEVER_TICK - 40, true, 40);
        for (size_t i = 39; i > 0; i--)
            arm(&f, i, HTW_NEVER_TICK - 40 + i);
        for (size_t i = 1; i < 40; i++)
            assert_round(&f, HTW_NEVER_TICK - 40 + i, i);
        fixture_close(&f);
    }
}

WHEEL_TEST_BOTH_ORDERS(wheel_bucket_that_the_clock_has_entered_keeps_its_timers, 8, 0, 5) {
    arm(f, 0, 17); /* these share the bucket [16, 24) of level 1 */
    arm(f, 1, 22);
    assert_round(f, 17, 0);
    arm(f, 2, 23);
    arm(f, 3, 81); /* the same slot in the next turn */
    arm(f, 4, 18);
    assert_sound(f);
    assert_round(f, 18, 4);
    assert_quiet_round(f, 21);
    assert_round(f, 22, 1);
    assert_round(f, 80, 2);
    assert_round(f, 81, 3);
}

UNIT_TEST(wheel_bucket_whose_first_was_cancelled_is_passed_by_the_clock) {
    for (int strict = 0; strict < 2; strict++) {
        for (uint64_t now = 16; now < 22; now++) {
            struct fixture f;
            fixture_open(&f, 8, 0, strict != 0, 4);
            arm(&f, 0, 17);
            arm(&f, 1, 22);
            assert_true(htw_wheel_cancel(f.wheel, &f.timers[0]));
            assert_quiet_round(&f, now);
            assert_int_equal(htw_wheel_now(f.wheel), now);
            arm(&f, 2, 23);
            arm(&f, 3, 86); /* where 22 was, a turn later */
            assert_sound(&f);
            assert_round(&f, 22, 1);
            assert_round(&f, 85, 2);
            assert_round(&f, 86, 3);
            fixture_close(&f);
        }
    }
}

WHEEL_TEST(wheel_never_needs_no_memory, 8, 0, false, 1) {
    size_t calls = f->memory.calls;
    arm(f, 0, HTW_NEVER_TICK);
    assert_int_equal(f->memory.calls, calls);
}

/* A cancel reads what follows the head of a chain. The sanitizer sees whether that is memory of the wheel. */
WHEEL_TEST(wheel_cancel_in_the_last_bucket_and_chain_reads_no_further, 2, 0, false, 1) {
    for (size_t i = 0; i < 16; i++) { /* each chain of level 0 in turn */
        arm(f, 0, 1);
        assert_true(htw_wheel_cancel(f->wheel, &f->timers[0]));
        assert_sound(f);
    }
}
