/* SPDX-License-Identifier: MIT */
/* test_manual.c - htw_scheduler_advance(): every tick in turn, and quiet at the end. */
/* holds: scheduler-15 */
#include "scheduler_fixture.h"

#define MANY 3000u

static void visit_ticks(struct scheduler_fixture *f, uint32_t shards, uint32_t workers) {
    f->options.shards = shards;
    f->options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    f->count = MANY;
    scheduler_reopen(f);
    for (unsigned i = 0; i < MANY; i++)
        assert_int_equal(schedule_numbered(f, i, MS * (1 + i * 7919 % 1000), NULL), 0);
    advance(f, 1000 * MS);
    assert_int_equal(f->log_count, MANY);
    int64_t before_ns = 0;
    for (size_t i = 0; i < MANY; i++) {
        const struct probe *probe = &f->probes[f->log[i]];
        assert_int_equal(probe->runs, 1);
        assert_int_equal(probe->ran_ns, probe->last.deadline_ns);
        assert_int_equal(probe->last.late_ns, 0);
        assert_true(before_ns <= probe->ran_ns);
        before_ns = probe->ran_ns;
    }
    struct htw_scheduler_stats stats = scheduler_stats(f);
    assert_int_equal(stats.fired, MANY);
    assert_int_equal(stats.callback.count, MANY);
    assert_int_equal(stats.lateness.max_ns, 0);
    assert_int_equal(stats.late, 0);
}

SCHEDULER_TEST(scheduler_advance_visits_ticks_in_order_over_all_shards) {
    static const uint32_t workers[] = { 0, 1, 4 };
    for (size_t i = 0; i < 3; i++) {
        visit_ticks(f, 1, workers[i]);
        visit_ticks(f, 4, workers[i]);
        visit_ticks(f, 16, workers[i]);
    }
}

SCHEDULER_TEST(scheduler_advance_by_less_than_nothing_is_refused) {
    arm(f, 0, 0);
    assert_int_equal(htw_scheduler_advance(f->scheduler, -1), -EINVAL);
    assert_int_equal(htw_scheduler_advance(f->scheduler, INT64_MIN), -EINVAL);
    assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, -1), -EINVAL);
    assert_none_ran(f);
    assert_int_equal(htw_scheduler_now(f->scheduler), 0);
}

SCHEDULER_TEST(scheduler_advance_beyond_the_range_saturates) {
    f->options.manual_start_ns = INT64_MAX - 10;
    scheduler_reopen(f);
    arm(f, 0, 0);
    advance(f, INT64_MAX);
    assert_int_equal(htw_scheduler_now(f->scheduler), INT64_MAX);
    assert_ran(f, 0);
    arm(f, 0, 0);
    advance(f, 5);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_advance_of_another_clock_is_not_supported) {
    static const enum htw_clock clocks[] = { HTW_CLOCK_MONOTONIC, HTW_CLOCK_REALTIME,
                                             HTW_CLOCK_BOOTTIME };
    for (size_t i = 0; i < 2 + HAS_BOOTTIME; i++) {
        f->options.clock = clocks[i];
        scheduler_reopen(f);
        assert_int_equal(htw_scheduler_advance(f->scheduler, 1), -ENOTSUP);
        assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, 1), -ENOTSUP);
        assert_int_equal(htw_scheduler_fd(f->scheduler), -ENOTSUP); /* it is not embedded */
        assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), -ENOTSUP);
        assert_true(htw_scheduler_now(f->scheduler) > 0);
    }
}

SCHEDULER_TEST(scheduler_manual_has_no_descriptor_and_is_not_processed) {
    for (int embedded = 0; embedded < 2; embedded++) {
        f->options.embedded = embedded;
        scheduler_reopen(f);
        assert_int_equal(htw_scheduler_fd(f->scheduler), -ENOTSUP);
        assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), -ENOTSUP);
        assert_int_equal(htw_scheduler_next(f->scheduler), HTW_NEVER_NS);
        arm(f, 0, HTW_NEVER_NS);
        assert_int_equal(htw_scheduler_next(f->scheduler), HTW_NEVER_NS);
        arm(f, 1, 3 * MS - 1);
        assert_int_equal(htw_scheduler_next(f->scheduler), 3 * MS);
        advance(f, 3 * MS);
        assert_ran(f, 1);
        assert_int_equal(htw_scheduler_next(f->scheduler), HTW_NEVER_NS);
    }
}

/* ---- who else may be there */

SCHEDULER_TEST(scheduler_advance_while_another_is_in_it_is_busy) {
    for (uint32_t workers = 0; workers < 2; workers++) {
        f->options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
        scheduler_reopen(f);
        f->probes[0].act = act_stay;
        arm(f, 0, MS);
        advance_to_gate(f, MS);
        assert_int_equal(htw_scheduler_advance(f->scheduler, 1), -EBUSY);
        assert_int_equal(htw_scheduler_set_clock(f->scheduler, HTW_CLOCK_DEFAULT, 1), -EBUSY);
        assert_int_equal(htw_scheduler_now(f->scheduler), MS);
        advance_past_gate(f);
        advance(f, 0);
    }
}

/* With four workers four callbacks of a tick may run at once, and advance waits for all. */
SCHEDULER_TEST(scheduler_advance_waits_for_all_workers) {
    f->options.workers = 4;
    scheduler_reopen(f);
    for (unsigned i = 0; i < 8; i++) {
        f->probes[i].act = act_stay;
        arm(f, i, MS);
    }
    arm(f, 8, 2 * MS);
    advance_to_gate(f, 2 * MS);
    /* What a worker has not begun with goes to the others. */
    assert_true(gate_await(&f->gate, 4));
    assert_int_equal(htw_pending(f->scheduler), 5);
    advance_past_gate(f);
    assert_int_equal(f->log_count, 9);
    assert_int_equal(f->log[8], 8);
}

/* ---- timers that run elsewhere */

/* holds: scheduler-3 */
SCHEDULER_TEST(cancel_of_repeating_that_runs_elsewhere_ends_it) {
    f->probes[0].act = act_stay;
    arm_every(f, 0, MS, MS, HTW_REPEAT_BURST);
    advance_to_gate(f, 10 * MS);
    assert_int_equal(cancel(f, 0), HTW_RUNNING);
    advance_past_gate(f);
    assert_ran(f, 0);
}

SCHEDULER_TEST(reschedule_of_running_elsewhere_is_too_late) {
    f->probes[0].act = act_stay;
    arm(f, 0, MS);
    advance_to_gate(f, 5 * MS);
    assert_int_equal(reschedule(f, 0, MS), HTW_RUNNING);
    assert_int_equal(htw_reschedule_at(f->scheduler, f->probes[0].handle, 0), HTW_RUNNING);
    assert_int_equal(set_period(f, 0, MS), -EINVAL);
    advance_past_gate(f);
    assert_ran(f, 0);
}

SCHEDULER_TEST(set_period_refuses_what_is_no_period) {
    arm_every(f, 0, 10 * MS, 10 * MS, HTW_REPEAT_SKIP);
    arm(f, 1, MS);
    assert_int_equal(set_period(f, 0, 0), -EINVAL);
    assert_int_equal(set_period(f, 0, -1), -EINVAL);
    assert_int_equal(set_period(f, 1, MS), -EINVAL);
    assert_int_equal(htw_set_period(f->scheduler, 0, MS), HTW_GONE);
    advance(f, 20 * MS);
    assert_ran(f, 1, 0, 0);
}
