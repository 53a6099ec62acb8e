/* SPDX-License-Identifier: MIT */
/* test_cancel.c - what cancels and moves answer; the model has those from callbacks. */
#include "scheduler_fixture.h"

#include <errno.h>

/* holds: scheduler-2 */
SCHEDULER_TEST(cancel_of_due_but_not_started_prevents_the_run) {
    arm(f, 0, 0);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    advance(f, 0);
    assert_none_ran(f);
}

SCHEDULER_TEST(cancel_of_zero_answers_gone) {
    assert_int_equal(htw_cancel(f->scheduler, 0), HTW_GONE);
    arm(f, 0, MS);
    assert_int_equal(htw_cancel(f->scheduler, 0), HTW_GONE);
    assert_int_equal(htw_cancel_wait(f->scheduler, 0), HTW_GONE);
    assert_int_equal(htw_pending(f->scheduler), 1);
}

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
    assert_int_equal(reschedule_at(f, 0, 0), HTW_RUNNING);
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

/* holds: scheduler-28 */
LATER_TEST(cancel_tells_what_was_left_of_the_delay) {
    int64_t left_ns = 77;
    arm(f, 0, 10 * MS);
    advance(f, 4 * MS + 1);
    htw_handle handle = f->probes[0].handle;
    assert_int_equal(htw_cancel_remaining(f->scheduler, handle, &left_ns), HTW_CANCELLED);
    assert_int_equal(left_ns, 6 * MS - 1);
    assert_int_equal(htw_cancel_remaining(f->scheduler, handle, &left_ns), HTW_GONE);
    assert_int_equal(left_ns, 6 * MS - 1);
    assert_int_equal(htw_cancel_remaining(f->scheduler, 0, &left_ns), HTW_GONE);
    assert_int_equal(htw_cancel_remaining(f->scheduler, handle, NULL), -EINVAL);
    assert_int_equal(htw_cancel_remaining(NULL, handle, &left_ns), -EINVAL);
}
