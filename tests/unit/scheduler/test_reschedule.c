/* SPDX-License-Identifier: MIT */
/* test_reschedule.c - a new deadline or period for a timer that there is. */
#include "../../support/random.h"
#include "scheduler_fixture.h"

#include <errno.h>

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

/* ---- from callbacks */

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

/* ---- another period */

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
