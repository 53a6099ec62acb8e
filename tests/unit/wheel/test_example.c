/* SPDX-License-Identifier: MIT */
/* test_example - the worked example of src/wheel/wheel.c, step by step. */
#include "../../support/fixture.h"

enum { A, B, C, D, E, F, G, TIMERS, NONE };

/* The next timer of a poll to `now`, and where the clock is then. */
static void poll_gives(struct fixture *f, uint64_t now, size_t number, uint64_t clock) {
    assert_ptr_equal(htw_wheel_poll(f->wheel, now), number == NONE ? NULL : &f->timers[number]);
    assert_int_equal(htw_wheel_now(f->wheel), clock);
    assert_sound(f);
}

WHEEL_TEST_BOTH_ORDERS(wheel_in_the_worked_example_behaves_as_written, 4, 0, TIMERS) {
    arm(f, A, 2);
    arm(f, B, 7);
    arm(f, C, 21);
    arm(f, D, 23);
    arm(f, E, 61);
    assert_int_equal(fixture_stats(f).queued_buckets, 4);
    assert_int_equal(fixture_stats(f).levels, 3);
    assert_int_equal(htw_wheel_next(f->wheel), 2);

    poll_gives(f, 7, A, 2);
    poll_gives(f, 7, B, 7);
    poll_gives(f, 7, NONE, 7);
    assert_int_equal(fixture_stats(f).advances, 2);

    arm(f, F, 10);
    arm(f, G, 12);
    assert_true(htw_wheel_cancel(f->wheel, &f->timers[G]));
    assert_int_equal(fixture_stats(f).queued_buckets, 4); /* F's, G's, and those of C and E */

    poll_gives(f, 21, F, 10);
    poll_gives(f, 21, C, 21);
    poll_gives(f, 21, NONE, 21);
    assert_int_equal(fixture_stats(f).advances, 4);
    assert_int_equal(fixture_stats(f).demoted, 1);
    assert_int_equal(fixture_stats(f).queued_buckets, 2); /* D's and E's */

    arm(f, E, 90);
    assert_int_equal(fixture_stats(f).levels, 4);
    assert_int_equal(htw_timer_deadline(&f->timers[E]), 90);

    poll_gives(f, 99, D, 23);
    poll_gives(f, 99, E, 90);
    poll_gives(f, 99, NONE, 99);
    /* The old place of E is visited only where a move leaves the timer there. */
    assert_int_equal(fixture_stats(f).advances, strict ? 6 : 7);
    assert_int_equal(fixture_stats(f).demoted, strict ? 1 : 2);
}
