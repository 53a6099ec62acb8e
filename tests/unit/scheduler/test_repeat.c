/* SPDX-License-Identifier: MIT */
/* test_repeat.c - timers that repeat, and what becomes of periods that were missed. */
/* holds: scheduler-7 */
#include "scheduler_fixture.h"

#include <errno.h>

static const enum htw_repeat ways[] = { HTW_REPEAT_SKIP, HTW_REPEAT_BURST, HTW_REPEAT_DELAY,
                                        HTW_REPEAT_AFTER };

SCHEDULER_TEST(scheduler_repeating_runs_every_period) {
    for (size_t i = 0; i < 4; i++) {
        scheduler_reopen(f);
        arm_every(f, 0, 5 * MS, 3 * MS, ways[i]);
        htw_handle handle = f->probes[0].handle;
        assert_runs_after(f, 5 * MS, 0);
        for (unsigned j = 1; j <= 100; j++) {
            assert_runs_after(f, 3 * MS, 0);
            assert_int_equal(f->probes[0].last.deadline_ns, (5 + 3 * j) * MS);
            assert_int_equal(f->probes[0].last.late_ns, 0);
            assert_int_equal(f->probes[0].last.missed, 0);
            assert_int_equal(f->probes[0].last.handle, handle);
        }
        assert_int_equal(htw_cancel(f->scheduler, handle), HTW_CANCELLED);
        struct htw_scheduler_stats stats = scheduler_stats(f);
        assert_int_equal(stats.scheduled, 1);
        assert_int_equal(stats.cancelled, 1);
        assert_int_equal(stats.fired, 0);
        assert_int_equal(stats.runs, 101);
    }
}

/* The first run is due at 10 ms and comes at 47 ms: 20, 30 and 40 have passed. */
static void open_late(struct scheduler_fixture *f, enum htw_repeat way) {
    scheduler_reopen(f);
    arm_every(f, 0, 10 * MS, 10 * MS, way);
    set_time(f, 47 * MS);
}

SCHEDULER_TEST(scheduler_skip_leaves_missed_periods_out_and_counts_them) {
    open_late(f, HTW_REPEAT_SKIP);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, 10 * MS);
    assert_int_equal(f->probes[0].last.late_ns, 37 * MS);
    assert_int_equal(f->probes[0].last.missed, 0);
    set_time(f, 50 * MS - 1);
    assert_none_ran(f);
    set_time(f, 50 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.missed, 3);
    assert_int_equal(f->probes[0].last.late_ns, 0);
    set_time(f, 60 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.missed, 0);
    assert_int_equal(scheduler_stats(f).missed, 3);
}

SCHEDULER_TEST(scheduler_burst_catches_up) {
    open_late(f, HTW_REPEAT_BURST);
    assert_ran(f, 0, 0, 0, 0); /* 10, 20, 30, 40 */
    assert_int_equal(f->probes[0].last.deadline_ns, 40 * MS);
    assert_int_equal(f->probes[0].last.late_ns, 7 * MS);
    set_time(f, 50 * MS - 1);
    assert_none_ran(f);
    set_time(f, 50 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.missed, 0);
    assert_int_equal(scheduler_stats(f).missed, 0);
}

SCHEDULER_TEST(scheduler_delay_counts_periods_from_the_end_of_what_was_overdue) {
    open_late(f, HTW_REPEAT_DELAY);
    assert_ran(f, 0);
    set_time(f, 57 * MS - 1);
    assert_none_ran(f);
    set_time(f, 57 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, 57 * MS);
    assert_int_equal(f->probes[0].last.missed, 0);
    set_time(f, 67 * MS);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_after_counts_each_period_from_the_end_of_the_run) {
    arm_every(f, 0, 10 * MS, 10 * MS, HTW_REPEAT_AFTER);
    set_time(f, 13 * MS); /* 3 ms late */
    assert_ran(f, 0);
    set_time(f, 23 * MS - 1);
    assert_none_ran(f);
    set_time(f, 23 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, 23 * MS);
}

/* A tick has three periods and a third: at each, BURST runs those that lie before it. */
SCHEDULER_TEST(scheduler_period_below_the_tick_follows_its_way) {
    static const uint64_t runs[] = { 10, 33, 10, 10 };
    for (size_t i = 0; i < 4; i++) {
        scheduler_reopen(f);
        arm_every(f, 0, 300000, 300000, ways[i]);
        advance(f, 10 * MS);
        assert_int_equal(f->probes[0].runs, runs[i]);
        assert_true(f->probes[0].last.deadline_ns <= 10 * MS);
        if (ways[i] == HTW_REPEAT_SKIP)
            assert_int_equal(scheduler_stats(f).missed + 10, 33);
    }
}

SCHEDULER_TEST(scheduler_period_of_a_nanosecond_skips_millions) {
    arm_every(f, 0, MS, 1, HTW_REPEAT_SKIP);
    set_time(f, MS);
    set_time(f, 1000 * MS);
    assert_ran(f, 0, 0);
    set_time(f, 1001 * MS);
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.missed, 999 * MS - 1);
}

SCHEDULER_TEST(scheduler_period_without_end_runs_once_and_stays) {
    for (size_t i = 0; i < 4; i++) {
        scheduler_reopen(f);
        arm_every(f, 0, MS, HTW_NEVER_NS, ways[i]);
        advance(f, HTW_SECOND);
        assert_ran(f, 0);
        assert_true(is_pending(f, 0));
        assert_int_equal(deadline_of(f, 0), HTW_NEVER_NS);
        assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    }
}

/* The first run is overdue by more than 63 bits hold. */
SCHEDULER_TEST(scheduler_repeating_from_before_all_time_follows_its_way) {
    for (size_t i = 0; i < 4; i++) {
        if (ways[i] == HTW_REPEAT_BURST)
            continue; /* catches up for centuries */
        scheduler_reopen(f);
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = probe_run;
        spec.arg = &f->probes[0];
        spec.when_ns = INT64_MIN;
        spec.absolute = true;
        spec.period_ns = 10 * MS;
        spec.repeat = ways[i];
        assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), 0);
        advance(f, 0);
        assert_ran(f, 0);
        advance(f, 10 * MS);
        assert_ran(f, 0);
        assert_true(f->probes[0].last.deadline_ns > 0);
        assert_true(f->probes[0].last.late_ns < MS);
    }
}

/* holds: scheduler-3 */
SCHEDULER_TEST(scheduler_repeating_cancelled_between_runs_does_not_run_again) {
    for (size_t i = 0; i < 4; i++) {
        scheduler_reopen(f);
        arm_every(f, 0, MS, MS, ways[i]);
        advance(f, 3 * MS);
        assert_int_equal(cancel(f, 0), HTW_CANCELLED);
        advance(f, HTW_SECOND);
        assert_int_equal(f->probes[0].runs, 3);
        assert_int_equal(cancel(f, 0), HTW_GONE);
    }
}

SCHEDULER_TEST(scheduler_repeating_with_bad_arguments_is_refused) {
    htw_handle handle = 77;
    static const int64_t periods[] = { 0, -1, INT64_MIN };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(htw_schedule_every(f->scheduler, 0, periods[i], HTW_REPEAT_SKIP, probe_run,
                                            &f->probes[0], &handle),
                         -EINVAL);
    static const int bad[] = { -1, HTW_REPEAT_AFTER + 1, INT32_MAX };
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(htw_schedule_every(f->scheduler, 0, MS, (enum htw_repeat)bad[i], probe_run,
                                            &f->probes[0], &handle),
                         -EINVAL);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.period_ns = -1;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, &handle, NULL), -EINVAL);
    spec.period_ns = 0;
    static const size_t sizes[] = { 0, sizeof(spec) - 1, sizeof(spec) + 1 };
    for (size_t i = 0; i < 3; i++) {
        spec.struct_size = sizes[i];
        assert_int_equal(htw_schedule_spec(f->scheduler, &spec, &handle, NULL), -EINVAL);
    }
    assert_int_equal(handle, 77);
    assert_int_equal(scheduler_stats(f).scheduled, 0);
}
