/* SPDX-License-Identifier: MIT */
/* test_stop.c - what is left goes to the visitor, once, and then nothing goes on. */
/* holds: scheduler-11 */
#include "scheduler_fixture.h"
#include "../../support/timer_info.h"

static void visit(void *context, const struct htw_unexpired *unexpired) {
    struct htw_scheduler *scheduler = ((struct probe *)unexpired->arg)->fixture->scheduler;
    *(bool *)context = !htw_is_pending(scheduler, unexpired->handle) &&
                       htw_cancel(scheduler, unexpired->handle) == HTW_GONE &&
                       htw_scheduler_stop(scheduler, NULL, NULL) == -EDEADLK &&
                       htw_scheduler_destroy(scheduler) == -EDEADLK &&
                       htw_schedule(scheduler, 0, probe_run, NULL, NULL) == -ESHUTDOWN;
}

SCHEDULER_TEST(scheduler_that_stops_refuses_every_call_of_its_visitor) {
    bool is_refused = false;
    arm(f, 0, MS);
    assert_int_equal(htw_scheduler_stop(f->scheduler, visit, &is_refused), 0);
    assert_true(is_refused);
}

SCHEDULER_TEST(scheduler_after_stop_every_call_says_so) {
    struct htw_group *group = NULL;
    int64_t deadline = 0;
    arm(f, 0, MS);
    arm_every(f, 1, MS, MS, HTW_REPEAT_SKIP);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    struct htw_scheduler *s = f->scheduler;
    assert_each_schedule_call_answers(s, probe_run, -ESHUTDOWN);
    assert_int_equal(htw_reschedule(s, f->probes[0].handle, 0), -ESHUTDOWN);
    assert_int_equal(htw_reschedule_at(s, f->probes[0].handle, 0), -ESHUTDOWN);
    assert_int_equal(htw_group_create(s, &group), -ESHUTDOWN);
    assert_int_equal(htw_scheduler_advance(s, MS), -ESHUTDOWN);
    assert_int_equal(htw_scheduler_set_clock(s, HTW_CLOCK_DEFAULT, MS), -ESHUTDOWN);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(htw_cancel(s, f->probes[i].handle), HTW_GONE);
        assert_int_equal(htw_cancel_wait(s, f->probes[i].handle), HTW_GONE);
        assert_int_equal(htw_set_period(s, f->probes[i].handle, MS), HTW_GONE);
        assert_false(htw_is_pending(s, f->probes[i].handle));
        assert_int_equal(timer_deadline_of(s, f->probes[i].handle, &deadline), -ENOENT);
    }
    assert_int_equal(htw_pending(s), 0);
    assert_int_equal(htw_scheduler_now(s), 0);
    assert_int_equal(htw_scheduler_next(s), HTW_NEVER_NS);
    assert_none_ran(f);
}

/* ---- from callbacks and hooks */

static void act_stop(struct probe *self) {
    self->result = htw_scheduler_stop(self->last.scheduler, NULL, NULL) == -EDEADLK &&
                   htw_scheduler_destroy(self->last.scheduler) == -EDEADLK &&
                   htw_scheduler_advance(self->last.scheduler, 0) == -EDEADLK &&
                   htw_scheduler_set_clock(self->last.scheduler, HTW_CLOCK_DEFAULT, 0) == -EDEADLK;
}

SCHEDULER_TEST(scheduler_stop_in_a_callback_is_a_deadlock) {
    for (uint32_t workers = 0; workers <= 2; workers++) {
        f->options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
        scheduler_reopen(f);
        f->probes[0].act = act_stop;
        arm(f, 0, MS);
        advance(f, MS);
        assert_true(f->probes[0].result);
        arm(f, 0, MS);
    }
}
