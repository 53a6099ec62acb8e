/* SPDX-License-Identifier: MIT */
/* test_repeat.c - timers that repeat, at the ends of what numbers hold. What becomes of periods that were missed, the model
   tells. */
/* holds: scheduler-7 */
#include "scheduler_fixture.h"

static const enum htw_repeat ways[] = { HTW_REPEAT_SKIP, HTW_REPEAT_BURST, HTW_REPEAT_DELAY,
                                        HTW_REPEAT_AFTER };

SCHEDULER_TEST(repeat_of_a_nanosecond_skips_millions) {
    arm_every(f, 0, MS, 1, HTW_REPEAT_SKIP);
    set_time(f, MS);
    set_time(f, 1000 * MS);
    assert_ran(f, 0, 0);
    set_time(f, 1001 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.missed, 999 * MS - 1);
}

SCHEDULER_TEST(repeat_without_end_runs_once_and_stays) {
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        scheduler_reopen(f);
        arm_every(f, 0, MS, HTW_NEVER_NS, ways[i]);
        advance(f, HTW_SECOND);
        assert_ran(f, 0);
        assert_true(is_pending(f, 0));
        assert_int_equal(deadline_of(f, 0), HTW_NEVER_NS);
        assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    }
}

/* The first run is overdue by more than 63 bits hold. BURST would catch up for centuries. */
SCHEDULER_TEST(repeat_from_before_all_time_follows_its_way) {
    for (size_t i = 0; i < COUNT_OF(ways); i++) {
        if (ways[i] == HTW_REPEAT_BURST)
            continue;
        scheduler_reopen(f);
        struct htw_spec spec = probe_spec(f, 0, INT64_MIN);
        spec.absolute = true;
        spec.period_ns = 10 * MS;
        spec.repeat = ways[i];
        arm_spec(f, 0, &spec);
        advance(f, 0);
        assert_ran(f, 0);
        advance(f, 10 * MS);
        assert_ran(f, 0);
        assert_true(f->probes[0].last.deadline_ns > 0);
        assert_true(f->probes[0].last.late_ns < MS);
    }
}

SCHEDULER_TEST(repeat_with_bad_arguments_is_refused) {
    static const int64_t periods[] = { 0, -1, INT64_MIN, MS };
    for (size_t i = 0; i < COUNT_OF(periods); i++)
        assert_int_equal(htw_schedule_every(f->scheduler, 0, periods[i],
                                            (enum htw_repeat)(periods[i] > 0 ? 7 : 0), probe_run,
                                            &f->probes[0], NULL),
                         -EINVAL);
}
