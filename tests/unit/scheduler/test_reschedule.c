/* SPDX-License-Identifier: MIT */
/* test_reschedule.c - a new deadline or period for a timer that there is. */
#include "../../support/random.h"
#include "scheduler_fixture.h"

#include <errno.h>

SCHEDULER_TEST(scheduler_reschedule_to_later_runs_only_then) {
    arm(f, 0, 5 * MS);
    advance(f, 2 * MS);
    assert_int_equal(reschedule(f, 0, 40 * MS), HTW_MOVED);
    assert_int_equal(deadline_of(f, 0), 42 * MS);
    assert_runs_after(f, 40 * MS, 0);
    assert_int_equal(f->probes[0].last.handle, f->probes[0].handle);
    assert_int_equal(f->probes[0].last.deadline_ns, 42 * MS);
    assert_int_equal(f->probes[0].last.late_ns, 0);
    assert_int_equal(scheduler_stats(f).moved, 1);
    assert_int_equal(scheduler_stats(f).scheduled, 1);
}

SCHEDULER_TEST(scheduler_reschedule_to_earlier_runs_then) {
    arm(f, 0, HTW_SECOND);
    assert_int_equal(reschedule_at(f, 0, 3 * MS + 1), HTW_MOVED);
    assert_runs_after(f, 4 * MS, 0);
    assert_int_equal(f->probes[0].last.late_ns, MS - 1);
    advance(f, 2 * HTW_SECOND);
    assert_none_ran(f);
}

SCHEDULER_TEST(scheduler_reschedule_to_now_or_the_past_runs_now) {
    f->options.manual_start_ns = 10 * MS + 1; /* between two ticks */
    scheduler_reopen(f);
    for (int i = 0; i < 4; i++) {
        arm(f, 0, HTW_SECOND);
        htw_handle handle = f->probes[0].handle;
        int moved = i == 0   ? htw_reschedule(f->scheduler, handle, 0)
                    : i == 1 ? htw_reschedule(f->scheduler, handle, -5)
                    : i == 2 ? htw_reschedule_at(f->scheduler, handle, 10 * MS)
                             : htw_reschedule_at(f->scheduler, handle, -1);
        assert_int_equal(moved, HTW_MOVED);
        assert_none_ran(f);
        advance(f, 0);
        assert_ran(f, 0);
    }
}

SCHEDULER_TEST(scheduler_reschedule_of_forever_gives_it_a_time) {
    arm(f, 0, HTW_NEVER_NS);
    assert_int_equal(reschedule(f, 0, MS), HTW_MOVED);
    advance(f, MS);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_reschedule_to_forever_takes_its_time_away) {
    arm(f, 0, MS);
    assert_int_equal(reschedule(f, 0, HTW_NEVER_NS), HTW_MOVED);
    assert_int_equal(deadline_of(f, 0), HTW_NEVER_NS);
    advance(f, 365 * 86400 * HTW_SECOND);
    assert_none_ran(f);
    assert_true(is_pending(f, 0));
    assert_int_equal(reschedule_at(f, 0, 0), HTW_MOVED);
    advance(f, 0);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_reschedule_many_times_counts_the_last) {
    struct random_source random = { 12345 };
    int64_t delay = 0;
    arm(f, 0, MS);
    for (unsigned i = 0; i < 5000; i++) {
        delay = (int64_t)random_below(&random, 100 * HTW_SECOND) + 1;
        assert_int_equal(reschedule(f, 0, delay), HTW_MOVED);
    }
    int64_t due = (delay + MS - 1) / MS * MS;
    assert_runs_after(f, due, 0);
    assert_int_equal(f->probes[0].last.late_ns, due - delay);
}

SCHEDULER_TEST(scheduler_reschedule_of_gone_changes_nothing) {
    arm(f, 0, MS);
    advance(f, MS);
    assert_ran(f, 0);
    assert_int_equal(reschedule(f, 0, MS), HTW_GONE);
    assert_int_equal(reschedule_at(f, 0, 9 * MS), HTW_GONE);
    assert_int_equal(set_period(f, 0, MS), HTW_GONE);
    advance(f, HTW_SECOND);
    assert_none_ran(f);
    assert_int_equal(scheduler_stats(f).moved, 0);
}

/* ---- from callbacks */

static void act_once_more(struct probe *self) {
    if (self->runs < 4)
        self->result = htw_reschedule(self->last.scheduler, self->last.handle, 3 * MS);
}

SCHEDULER_TEST(scheduler_reschedule_in_own_callback_runs_again) {
    f->probes[0].act = act_once_more;
    arm(f, 0, MS);
    advance(f, MS);
    assert_int_equal(f->probes[0].result, HTW_MOVED);
    assert_true(is_pending(f, 0));
    assert_int_equal(htw_pending(f->scheduler), 1);
    for (unsigned i = 0; i < 3; i++) {
        advance(f, 3 * MS - 1);
        assert_int_equal(f->probes[0].runs, i + 1);
        advance(f, 1);
        assert_int_equal(f->probes[0].runs, i + 2);
        assert_int_equal(f->probes[0].last.handle, f->probes[0].handle);
        assert_int_equal(f->probes[0].last.late_ns, 0);
    }
    assert_int_equal(cancel(f, 0), HTW_GONE);
    struct htw_scheduler_stats stats = scheduler_stats(f);
    assert_int_equal(stats.scheduled, 1);
    assert_int_equal(stats.fired, 1);
    assert_int_equal(stats.runs, 4);
}

static void act_twice_then_cancel(struct probe *self) {
    bool good = htw_reschedule(self->last.scheduler, self->last.handle, MS) == HTW_MOVED &&
                htw_reschedule(self->last.scheduler, self->last.handle, 2 * MS) == HTW_MOVED &&
                htw_is_pending(self->last.scheduler, self->last.handle) &&
                htw_cancel(self->last.scheduler, self->last.handle) == HTW_RUNNING &&
                !htw_is_pending(self->last.scheduler, self->last.handle) &&
                htw_reschedule(self->last.scheduler, self->last.handle, MS) == HTW_RUNNING;
    self->result = good;
}

SCHEDULER_TEST(scheduler_cancel_after_reschedule_in_own_callback_ends_it) {
    f->probes[0].act = f->probes[1].act = act_twice_then_cancel;
    arm(f, 0, MS);
    arm_every(f, 1, 2 * MS, MS, HTW_REPEAT_SKIP);
    advance(f, 20 * MS);
    assert_ran(f, 0, 1);
    assert_true(f->probes[0].result);
    assert_true(f->probes[1].result);
    assert_int_equal(htw_pending(f->scheduler), 0);
    assert_int_equal(scheduler_stats(f).fired, 2);
}

static void act_move_first_run(struct probe *self) {
    if (self->runs == 1)
        self->result = htw_reschedule(self->last.scheduler, self->last.handle, 7 * MS);
}

/* The periods go on from the time that was given. */
SCHEDULER_TEST(scheduler_reschedule_in_own_repeating_callback_moves_the_next_run) {
    static const enum htw_repeat ways[] = { HTW_REPEAT_SKIP, HTW_REPEAT_BURST, HTW_REPEAT_DELAY,
                                            HTW_REPEAT_AFTER };
    for (size_t i = 0; i < 4; i++) {
        scheduler_reopen(f);
        f->probes[0].act = act_move_first_run;
        arm_every(f, 0, MS, 2 * MS, ways[i]);
        advance(f, 8 * MS - 1);
        assert_ran(f, 0);
        assert_int_equal(f->probes[0].result, HTW_MOVED);
        advance(f, 1);
        assert_ran(f, 0);
        assert_int_equal(f->probes[0].last.missed, 0);
        advance(f, 4 * MS);
        assert_ran(f, 0, 0);
        assert_int_equal(f->probes[0].last.deadline_ns, 12 * MS);
    }
}

SCHEDULER_TEST(scheduler_reschedule_of_repeating_moves_all_later_runs) {
    arm_every(f, 0, 10 * MS, 10 * MS, HTW_REPEAT_SKIP);
    advance(f, 14 * MS);
    assert_ran(f, 0);
    assert_int_equal(reschedule(f, 0, MS), HTW_MOVED);
    advance(f, MS);
    assert_ran(f, 0);
    assert_runs_after(f, 10 * MS, 0);
}

static void act_move_other(struct probe *self) {
    struct probe *other = &self->fixture->probes[1 - self->number];
    self->result = htw_reschedule(self->last.scheduler, other->handle, 5 * MS);
}

/* It has been taken from the wheel, but its callback has not started. */
SCHEDULER_TEST(scheduler_reschedule_of_the_next_in_the_batch_moves_it) {
    f->probes[0].act = f->probes[1].act = act_move_other;
    arm(f, 0, MS);
    arm(f, 1, MS);
    advance(f, MS);
    assert_int_equal(f->log_count, 1);
    unsigned first = f->log[0], second = 1 - first;
    assert_int_equal(f->probes[first].result, HTW_MOVED);
    assert_true(is_pending(f, second));
    f->log_count = 0;
    assert_runs_after(f, 5 * MS, second);
    assert_int_equal(f->probes[second].result, HTW_GONE);
    assert_int_equal(f->probes[second].last.deadline_ns, 6 * MS);
}

/* ---- running elsewhere */

static void act_stay_once(struct probe *self) {
    if (self->runs == 1)
        gate_enter(&self->fixture->gate);
}

SCHEDULER_TEST(scheduler_reschedule_of_running_elsewhere_is_too_late) {
    f->probes[0].act = act_stay_once;
    arm(f, 0, MS);
    advance_to_gate(f, 5 * MS);
    assert_int_equal(reschedule(f, 0, MS), HTW_RUNNING);
    assert_int_equal(reschedule_at(f, 0, 0), HTW_RUNNING);
    assert_int_equal(set_period(f, 0, MS), -EINVAL);
    advance_past_gate(f);
    assert_ran(f, 0);
}

SCHEDULER_TEST(scheduler_reschedule_of_repeating_elsewhere_moves_its_next_run) {
    f->probes[0].act = act_stay_once;
    arm_every(f, 0, MS, MS, HTW_REPEAT_SKIP);
    advance_to_gate(f, 10 * MS);
    assert_int_equal(reschedule_at(f, 0, 9 * MS), HTW_MOVED);
    assert_int_equal(set_period(f, 0, 50 * MS), HTW_MOVED);
    advance_past_gate(f);
    assert_ran(f, 0, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, 9 * MS);
    advance(f, 48 * MS);
    assert_none_ran(f);
    advance(f, MS);
    assert_ran(f, 0);
}

/* ---- another period */

SCHEDULER_TEST(scheduler_set_period_holds_from_the_next_run_on) {
    arm_every(f, 0, 10 * MS, 10 * MS, HTW_REPEAT_SKIP);
    assert_int_equal(set_period(f, 0, 3 * MS), HTW_MOVED);
    advance(f, 9 * MS);
    assert_none_ran(f);
    advance(f, 7 * MS); /* at 10, 13, 16 */
    assert_ran(f, 0, 0, 0);
    assert_int_equal(set_period(f, 0, HTW_NEVER_NS), HTW_MOVED);
    advance(f, 100 * MS); /* at 19, and then never */
    assert_ran(f, 0);
    assert_true(is_pending(f, 0));
}

SCHEDULER_TEST(scheduler_set_period_refuses_what_is_no_period) {
    arm_every(f, 0, 10 * MS, 10 * MS, HTW_REPEAT_SKIP);
    arm(f, 1, MS);
    assert_int_equal(set_period(f, 0, 0), -EINVAL);
    assert_int_equal(set_period(f, 0, -1), -EINVAL);
    assert_int_equal(set_period(f, 1, MS), -EINVAL);
    assert_int_equal(htw_set_period(f->scheduler, 0, MS), HTW_GONE);
    advance(f, 20 * MS);
    assert_ran(f, 1, 0, 0);
}
