/* SPDX-License-Identifier: MIT */
/* test_moves - arming a timer that is pending. */
#include "../../support/fixture.h"

UNIT_TEST(wheel_moved_timer_expires_at_its_new_deadline_only) {
    /* Near deadlines, far ones, and those at the edges of buckets. Nothing expires at the old one.
       */
    static const uint64_t deadlines[] = { 101,  102,  103,   104,   111,     112,
                                          127,  128,  163,   164,   200,     511,
                                          512,  700,  4195,  4196,  640,     5000,
                                          8191, 8192, 60000, 70000, 1000000, HTW_NEVER_TICK - 1 };
    enum { COUNT = sizeof deadlines / sizeof deadlines[0] };
    for (int strict = 0; strict < 2; strict++) {
        for (size_t from = 0; from < COUNT; from++) {
            for (size_t to = 0; to < COUNT; to++) {
                struct fixture f;
                fixture_open(&f, 8, 100, strict != 0, 1);
                arm(&f, 0, deadlines[from]);
                arm(&f, 0, deadlines[to]);
                assert_int_equal(htw_timer_deadline(&f.timers[0]), deadlines[to]);
                assert_int_equal(htw_wheel_count(f.wheel), 1);
                assert_sound(&f);
                assert_true(htw_wheel_next(f.wheel) <= deadlines[to]);
                if (deadlines[from] < deadlines[to])
                    assert_quiet_round(&f, deadlines[from]);
                assert_quiet_round(&f, deadlines[to] - 1);
                assert_round(&f, deadlines[to], 0);
                fixture_close(&f);
            }
        }
    }
}

UNIT_TEST(wheel_move_to_a_later_turn_of_the_same_slot_waits_for_that_turn) {
    for (int strict = 0; strict < 2; strict++) {
        for (uint64_t turn = 8; turn <= 8 * 8 * 8 * 8; turn *= 8) {
            struct fixture f;
            fixture_open(&f, 8, 0, strict != 0, 3);
            uint64_t deadline = turn - turn / 8; /* the last bucket of some level */
            arm(&f, 0, deadline);
            arm(&f, 1, deadline); /* keeps the bucket's key */
            arm(&f, 0, deadline + turn);
            assert_sound(&f);
            assert_round(&f, deadline, 1);
            arm(&f, 2, deadline + 1);
            assert_round(&f, deadline + turn - 1, 2);
            assert_round(&f, deadline + turn, 0);
            fixture_close(&f);
        }
    }
}

WHEEL_TEST_BOTH_ORDERS(wheel_move_within_a_bucket_to_an_earlier_tick_is_heeded, 8, 0, 2) {
    arm(f, 0, 22); /* [16, 24) of level 1 */
    arm(f, 1, 20);
    arm(f, 0, 17);
    assert_int_equal(htw_wheel_next(f->wheel), 17);
    assert_round(f, 17, 0);
    assert_round(f, 20, 1);
}

WHEEL_TEST_BOTH_ORDERS(wheel_moved_again_and_again_demotes_rightly, 8, 0, 1) {
    /* A timeout that is moved at every tick, like that of a busy connection. */
    for (uint64_t now = 0; now < 2000; now++) {
        assert_quiet_round(f, now);
        arm(f, 0, now + 300);
    }
    assert_int_equal(fixture_stats(f).moved, 1999);
    assert_quiet_round(f, 2298);
    assert_round(f, 2299, 0);
}

UNIT_TEST(wheel_move_to_the_past_is_due_at_once) {
    static const uint64_t from[] = { 50, 101, 130, 100000, HTW_NEVER_TICK };
    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
            struct fixture f;
            fixture_open(&f, 8, 100, strict != 0, 1);
            arm(&f, 0, from[i]);
            arm(&f, 0, 40);
            assert_int_equal(htw_wheel_next(f.wheel), 100);
            assert_round(&f, 100, 0);
            fixture_close(&f);
        }
    }
}

UNIT_TEST(wheel_timer_moved_to_never_does_not_expire) {
    static const uint64_t from[] = { 50, 101, 130, 100000, HTW_NEVER_TICK };
    for (int strict = 0; strict < 2; strict++) {
        for (size_t i = 0; i < sizeof from / sizeof from[0]; i++) {
            struct fixture f;
            fixture_open(&f, 8, 100, strict != 0, 1);
            arm(&f, 0, from[i]);
            arm(&f, 0, HTW_NEVER_TICK);
            assert_int_equal(htw_wheel_next(f.wheel), HTW_NEVER_TICK);
            assert_quiet_round(&f, HTW_NEVER_TICK);
            assert_int_equal(htw_wheel_count(f.wheel), 1);
            assert_true(htw_wheel_cancel(f.wheel, &f.timers[0]));
            fixture_close(&f);
        }
    }
}

UNIT_TEST(wheel_timer_moved_from_never_expires) {
    static const uint64_t to[] = { 101, 130, 100000, HTW_NEVER_TICK - 1 };
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        struct fixture f;
        fixture_open(&f, 8, 100, false, 1);
        arm(&f, 0, HTW_NEVER_TICK);
        arm(&f, 0, to[i]);
        assert_comes_alone(&f, 0, to[i]);
        fixture_close(&f);
    }
}

WHEEL_TEST(wheel_move_is_counted_as_a_move, 8, 0, false, 1) {
    static const uint64_t deadlines[] = { 5, 9, 7, 7, 0, HTW_NEVER_TICK, 3 };
    for (size_t i = 0; i < 7; i++)
        arm(f, 0, deadlines[i]);
    assert_int_equal(fixture_stats(f).scheduled, 1);
    assert_int_equal(fixture_stats(f).moved, 6);
    assert_int_equal(htw_wheel_count(f->wheel), 1);
    assert_comes_alone(f, 0, 3);
}

UNIT_TEST(wheel_moved_timer_can_be_cancelled) {
    static const uint64_t to[] = { 3, 101, 105, 130, 100000, HTW_NEVER_TICK };
    for (size_t i = 0; i < sizeof to / sizeof to[0]; i++) {
        struct fixture f;
        fixture_open(&f, 8, 100, false, 1);
        arm(&f, 0, 104);
        arm(&f, 0, to[i]);
        assert_true(htw_wheel_cancel(f.wheel, &f.timers[0]));
        assert_int_equal(htw_wheel_next(f.wheel), HTW_NEVER_TICK);
        assert_quiet_round(&f, HTW_NEVER_TICK);
        fixture_close(&f);
    }
}

WHEEL_TEST_BOTH_ORDERS(wheel_move_inside_the_round_takes_what_is_not_handed_out_yet, 8, 0, 3) {
    arm(f, 0, 20);
    arm(f, 1, 21);
    arm(f, 2, 22);
    assert_ptr_equal(htw_wheel_poll(f->wheel, 30), &f->timers[0]);
    arm(f, 1, 25); /* later, but in this round */
    arm(f, 2, 31); /* out of this round */
    assert_round(f, 30, 1);
    assert_round(f, 31, 2);
}

WHEEL_TEST_BOTH_ORDERS(wheel_move_inside_the_round_to_the_past_waits_for_the_next, 8, 0, 3) {
    arm(f, 0, 20);
    arm(f, 1, 25);
    arm(f, 2, 26);
    assert_ptr_equal(htw_wheel_poll(f->wheel, 30), &f->timers[0]);
    arm(f, 1, 20);
    assert_round(f, 30, 2);
    assert_round(f, 30, 1);
}
