/* SPDX-License-Identifier: MIT */
/* test_within.c - timers that may run at any time in a range. */
#include "scheduler_fixture.h"

#include <errno.h>

SCHEDULER_TEST(scheduler_range_runs_inside_it) {
    f->options.manual_start_ns = MS / 3;
    f->count = 300;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 300; i++)
        arm_within(f, i, (i + 1) * MS, (2 * i + 2) * MS);
    advance(f, HTW_SECOND);
    for (unsigned i = 0; i < 300; i++) {
        assert_int_equal(f->probes[i].runs, 1);
        assert_true(f->probes[i].ran_ns >= MS / 3 + (i + 1) * MS);
        assert_true(f->probes[i].ran_ns <= MS / 3 + (2 * i + 2) * MS);
    }
}

SCHEDULER_TEST(scheduler_overlapping_ranges_run_together) {
    int64_t deadlines[3];
    arm_within(f, 0, 5 * MS, 20 * MS);
    arm_within(f, 1, 9 * MS, 17 * MS);
    arm_within(f, 2, 15 * MS, 31 * MS);
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(htw_deadline(f->scheduler, f->probes[i].handle, &deadlines[i]), 0);
    assert_int_equal(deadlines[0], deadlines[1]);
    assert_int_equal(deadlines[1], deadlines[2]);
    advance(f, HTW_SECOND);
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(f->probes[i].last.deadline_ns, deadlines[0]);
        assert_int_equal(f->probes[i].last.late_ns, 0);
    }
}

SCHEDULER_TEST(scheduler_range_without_a_tick_takes_the_one_after_its_begin) {
    arm_within(f, 0, MS / 5, MS / 2);
    arm_within(f, 1, 7 * MS + 1, 7 * MS + 1);
    assert_runs_after(f, MS, 0);
    assert_runs_after(f, 7 * MS, 1);
}

SCHEDULER_TEST(scheduler_range_that_ends_before_it_begins_is_refused) {
    htw_handle handle = 77;
    static const int64_t ranges[][2] = { { 2 * MS, MS }, { 0, -1 }, { HTW_NEVER_NS, 0 } };
    for (size_t i = 0; i < COUNT_OF(ranges); i++)
        assert_int_equal(htw_schedule_within(f->scheduler, ranges[i][0], ranges[i][1], probe_run,
                                             &f->probes[0], &handle),
                         -EINVAL);
    assert_int_equal(handle, 77);
    assert_int_equal(scheduler_stats(f).scheduled, 0);
}

SCHEDULER_TEST(scheduler_range_in_the_past_runs_now) {
    f->options.manual_start_ns = 9 * MS;
    scheduler_reopen(f);
    arm_within(f, 0, -5 * MS, -MS);
    arm_within(f, 1, INT64_MIN, 0);
    advance(f, 0);
    assert_int_equal(f->log_count, 2);
}

/* Begins in the middle of a tick of an hour, so that a tick later would be plain. */
static void open_at_half_past(struct scheduler_fixture *f, size_t probes) {
    f->options.tick_ns = HTW_TICK_NS_MAX;
    f->options.manual_start_ns = HTW_TICK_NS_MAX * 7 / 2; /* the next tick is rounder */
    f->count = probes;
    scheduler_reopen(f);
}

/* holds: scheduler-1 */
SCHEDULER_TEST(scheduler_range_that_ends_within_the_tick_that_it_is_runs_now) {
    static const int64_t ranges[][2] = { { -5, -1 },       { -5, 0 },         { 0, 0 },
                                         { INT64_MIN, 0 }, { INT64_MIN, -1 }, { -5, 1 },
                                         { 0, 10 * MS } };
    enum { COUNT = COUNT_OF(ranges) };
    open_at_half_past(f, COUNT);
    for (unsigned i = 0; i < COUNT; i++)
        arm_within(f, i, ranges[i][0], ranges[i][1]);
    advance(f, 0);
    for (unsigned i = 0; i < COUNT; i++) {
        assert_int_equal(f->probes[i].runs, 1);
        assert_int_equal(f->probes[i].last.late_ns, 0);
    }
}

/* holds: scheduler-1 */
SCHEDULER_TEST(scheduler_spec_with_a_negative_delay_runs_now) {
    static const int64_t delays[] = { -1, -HTW_TICK_NS_MAX, INT64_MIN };
    enum { COUNT = COUNT_OF(delays) };
    open_at_half_past(f, (size_t)2 * COUNT);
    int64_t now_ns = htw_scheduler_now(f->scheduler);
    for (unsigned i = 0; i < 2 * COUNT; i++) {
        struct htw_spec spec = HTW_SPEC_INIT;
        spec.callback = probe_run;
        spec.arg = &f->probes[i];
        spec.when_ns = delays[i / 2]; /* latest_ns stays 0: no range */
        spec.period_ns = i % 2 * HTW_NEVER_NS;
        arm_spec(f, i, &spec);
        assert_int_equal(deadline_of(f, i), now_ns);
    }
    advance(f, 0);
    for (unsigned i = 0; i < 2 * COUNT; i++)
        assert_int_equal(f->probes[i].runs, 1);
}

SCHEDULER_TEST(scheduler_range_of_forever_never_begins) {
    arm_within(f, 0, HTW_NEVER_NS, HTW_NEVER_NS);
    assert_int_equal(deadline_of(f, 0), HTW_NEVER_NS);
    advance(f, HTW_NEVER_NS);
    assert_none_ran(f);
}

SCHEDULER_TEST(scheduler_range_without_an_end_is_accepted) {
    arm_within(f, 0, 10 * MS, HTW_NEVER_NS);
    advance(f, 10 * MS - 1);
    assert_none_ran(f);
    assert_int_equal(htw_pending(f->scheduler), 1);
}

SCHEDULER_TEST(scheduler_spec_with_a_range_runs_inside_it) {
    f->options.manual_start_ns = 100 * MS;
    scheduler_reopen(f);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.arg = &f->probes[0];
    spec.when_ns = 5 * MS;
    spec.latest_ns = 40 * MS;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), 0);
    spec.arg = &f->probes[1];
    spec.when_ns = 105 * MS;
    spec.latest_ns = 140 * MS;
    spec.absolute = true;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), 0);
    spec.arg = &f->probes[2];
    spec.latest_ns = 3 * MS; /* before when_ns: no range */
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), 0);
    advance(f, 40 * MS);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(f->probes[i].runs, 1);
        assert_int_equal(f->probes[i].ran_ns, 128 * MS);
    }
    assert_int_equal(f->probes[2].ran_ns, 105 * MS);
}
