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
