/* SPDX-License-Identifier: MIT */
/* test_example - the worked example of src/wheel/wheel.c, step by step. */
#include <htw/wheel.h>

#include "../unit.h"

struct example {
    struct htw_wheel *wheel;
    struct htw_timer a, b, c, d, e, f, g;
};

static struct htw_wheel_stats stats_of(struct example *x) {
    struct htw_wheel_stats stats = HTW_WHEEL_STATS_INIT;
    assert_int_equal(htw_wheel_get_stats(x->wheel, &stats), 0);
    return stats;
}

static void arm(struct example *x, struct htw_timer *timer, uint64_t deadline) {
    assert_int_equal(htw_wheel_schedule(x->wheel, timer, deadline), 0);
    assert_int_equal(htw_wheel_check(x->wheel), 0);
}

static void poll_gives(struct example *x, uint64_t now, const struct htw_timer *timer,
                       uint64_t clock) {
    assert_ptr_equal(htw_wheel_poll(x->wheel, now), timer);
    assert_int_equal(htw_wheel_now(x->wheel), clock);
    assert_int_equal(htw_wheel_check(x->wheel), 0);
}

static void run_example(bool strict_fifo) {
    struct example x = { 0 };
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    options.size = 4;
    options.strict_fifo = strict_fifo;
    assert_int_equal(htw_wheel_create(&x.wheel, &options), 0);

    arm(&x, &x.a, 2);
    arm(&x, &x.b, 7);
    arm(&x, &x.c, 21);
    arm(&x, &x.d, 23);
    arm(&x, &x.e, 61);
    assert_int_equal(stats_of(&x).queued_buckets, 4);
    assert_int_equal(stats_of(&x).levels, 3);
    assert_int_equal(htw_wheel_next(x.wheel), 2);

    poll_gives(&x, 7, &x.a, 2);
    poll_gives(&x, 7, &x.b, 7);
    poll_gives(&x, 7, NULL, 7);
    assert_int_equal(stats_of(&x).advances, 2);

    arm(&x, &x.f, 10);
    arm(&x, &x.g, 12);
    assert_true(htw_wheel_cancel(x.wheel, &x.g));
    assert_int_equal(stats_of(&x).queued_buckets, 4); /* F's, G's, and those of C and E */

    poll_gives(&x, 21, &x.f, 10);
    poll_gives(&x, 21, &x.c, 21);
    poll_gives(&x, 21, NULL, 21);
    assert_int_equal(stats_of(&x).advances, 4);
    assert_int_equal(stats_of(&x).demoted, 1);
    assert_int_equal(stats_of(&x).queued_buckets, 2); /* D's and E's */

    arm(&x, &x.e, 90);
    assert_int_equal(stats_of(&x).levels, 4);
    assert_int_equal(htw_timer_deadline(&x.e), 90);

    poll_gives(&x, 99, &x.d, 23);
    poll_gives(&x, 99, &x.e, 90);
    poll_gives(&x, 99, NULL, 99);
    /* The old place of E is visited only where a move leaves the timer there. */
    assert_int_equal(stats_of(&x).advances, strict_fifo ? 6 : 7);
    assert_int_equal(stats_of(&x).demoted, strict_fifo ? 1 : 2);
    assert_int_equal(htw_wheel_count(x.wheel), 0);
    htw_wheel_destroy(x.wheel);
}

UNIT_TEST(wheel_in_the_worked_example_behaves_as_written) {
    run_example(false);
}

UNIT_TEST(wheel_in_the_worked_example_strict_differs_in_the_move_only) {
    run_example(true);
}
