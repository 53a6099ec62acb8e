/* SPDX-License-Identifier: MIT */
/* test_schedule.c - when a timer that runs once falls due, and what it is told. */
#include "scheduler_fixture.h"

SCHEDULER_TEST(scheduler_tick_of_the_options_is_what_deadlines_are_rounded_to) {
    static const int64_t ticks[] = { HTW_TICK_NS_MIN, 7777, 3 * HTW_SECOND, HTW_TICK_NS_MAX };
    for (size_t i = 0; i < COUNT_OF(ticks); i++) {
        f->options.tick_ns = ticks[i];
        scheduler_reopen(f);
        arm(f, 0, 2 * ticks[i] + 1);
        assert_runs_after(f, 3 * ticks[i], 0);
        assert_int_equal(f->probes[0].last.late_ns, ticks[i] - 1);
    }
}

SCHEDULER_TEST(scheduler_delay_beyond_the_range_saturates) {
    f->options.manual_start_ns = HTW_SECOND;
    scheduler_reopen(f);
    arm(f, 0, INT64_MAX - 1);
    assert_int_equal(deadline_of(f, 0), HTW_NEVER_NS);
    arm(f, 1, INT64_MAX - HTW_SECOND - 1);
    assert_int_equal(deadline_of(f, 1), INT64_MAX - 1);
    advance(f, INT64_MAX - HTW_SECOND - 2);
    assert_none_ran(f);
}

/* The lateness does not fit 63 bits. */
SCHEDULER_TEST(scheduler_instant_before_all_time_saturates_the_lateness) {
    f->options.manual_start_ns = 10 * MS;
    scheduler_reopen(f);
    arm_at(f, 0, INT64_MIN);
    advance(f, 0);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.late_ns, INT64_MAX);
}

SCHEDULER_TEST(scheduler_without_a_callback_is_refused) {
    assert_each_schedule_call_answers(f->scheduler, NULL, -EINVAL);
    assert_int_equal(htw_schedule_spec(f->scheduler, NULL, NULL, NULL), -EINVAL);
    assert_int_equal(scheduler_stats(f).scheduled, 0);
}

LATER_TEST(schedule_spec_that_is_refused_names_its_member) {
    struct htw_spec good = HTW_SPEC_INIT, bad;
    good.callback = probe_run;
#define ASSERT_NAMES(name, change)                                                    \
    do {                                                                              \
        bad = good;                                                                   \
        change;                                                                       \
        assert_int_equal(htw_schedule_spec(f->scheduler, &bad, NULL, NULL), -EINVAL); \
        assert_string_equal(htw_invalid_member(), name);                              \
    } while (0)
    ASSERT_NAMES("struct_size", bad.struct_size++);
    ASSERT_NAMES("callback", bad.callback = NULL);
    ASSERT_NAMES("period_ns", bad.period_ns = -1);
    ASSERT_NAMES("repeat", bad.repeat = (enum htw_repeat)7);
#if SIZE_MAX > UINT32_MAX
    ASSERT_NAMES("key_size", bad.key_size = (size_t)UINT32_MAX + 1);
#endif
    ASSERT_NAMES("clock", bad.clock = (enum htw_clock)77);
    assert_int_equal(htw_schedule_spec(f->scheduler, NULL, NULL, NULL), -EINVAL);
    assert_null(htw_invalid_member());
    ASSERT_NAMES("clock", bad.clock = (enum htw_clock)77);
    assert_int_equal(htw_schedule_spec(NULL, &good, NULL, NULL), -EINVAL);
    assert_null(htw_invalid_member());
}
