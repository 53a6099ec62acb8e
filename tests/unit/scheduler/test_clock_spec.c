/* SPDX-License-Identifier: MIT */
/* test_clock_spec.c - timers of several clocks in one scheduler, in manual time, where each clock has
   a time of its own. */
/* holds: scheduler-25 */
#include "scheduler_fixture.h"
#include "../../support/timer_info.h"

#define NOON_NS (INT64_C(1700000000) * HTW_SECOND)

static struct htw_spec clock_spec(struct scheduler_fixture *f, unsigned number,
                                  enum htw_clock clock, int64_t delay_ns) {
    struct htw_spec spec = probe_spec(f, number, delay_ns);
    spec.clock = clock;
    return spec;
}

/* ---- refusals */

LATER_TEST(clock_that_is_unknown_is_refused) {
    struct htw_spec spec = clock_spec(f, 0, (enum htw_clock)(HTW_CLOCK_MANUAL + 1), MS);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, spec.clock, 0), -EINVAL);
    assert_int_equal(htw_scheduler_now_by(f->scheduler, spec.clock), 0);
    if (!HAS_BOOTTIME) {
        spec.clock = HTW_CLOCK_BOOTTIME;
        assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EINVAL);
        assert_int_equal(htw_scheduler_set_clock(f->scheduler, spec.clock, 0), -EINVAL);
    }
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_REALTIME, -1), -EINVAL);
    assert_int_equal(htw_scheduler_set_clock(NULL, HTW_CLOCK_REALTIME, 0), -EINVAL);
    assert_int_equal(htw_scheduler_now_by(NULL, HTW_CLOCK_REALTIME), 0);
    assert_int_equal(timer_clock_of(f->scheduler, 0), -ENOENT);
    assert_int_equal(timer_clock_of(f->scheduler, UINT64_MAX), -ENOENT);
    assert_int_equal(timer_clock_of(NULL, 0), -EINVAL);
}

LATER_TEST(clock_that_is_manual_is_refused_where_the_scheduler_is_not) {
    f->options.clock = HTW_CLOCK_MONOTONIC;
    scheduler_reopen(f);
    struct htw_spec spec = clock_spec(f, 0, HTW_CLOCK_MANUAL, MS);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EINVAL);
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_REALTIME, 0), -ENOTSUP);
    assert_int_equal(htw_scheduler_now_by(f->scheduler, HTW_CLOCK_MANUAL), 0);
    assert_true(htw_scheduler_now_by(f->scheduler, HTW_CLOCK_REALTIME) > NOON_NS);
}
