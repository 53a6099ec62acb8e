/* SPDX-License-Identifier: MIT */
/* test_hooks.c - release hooks: called exactly once for whatever way a timer ends, after its callback, or
   after the visitor. */
/* holds: scheduler-4, scheduler-12 */
#include "scheduler_fixture.h"

#include <errno.h>

#define DELAY_NS (10 * MS)

static void arm_hooked(struct scheduler_fixture *f, unsigned number) {
    struct htw_spec spec = hooked_spec(f, number, DELAY_NS);
    arm_spec(f, number, &spec);
}

LATER_TEST(hook_of_a_timer_that_destroy_finds_runs) {
    arm_hooked(f, 0);
    assert_int_equal(htw_scheduler_destroy(f->scheduler), 0);
    f->scheduler = NULL;
    assert_log(f, "A");
}

/* ---- not at all when scheduling failed */

LATER_TEST(hook_is_not_called_when_scheduling_failed) {
    f->options.max_pending = 1;
    scheduler_reopen(f);
    struct htw_spec first = probe_spec(f, 0, DELAY_NS), spec = hooked_spec(f, 1, DELAY_NS);
    first.key = "key";
    first.key_size = 3;
    arm_spec(f, 0, &first);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EAGAIN);
    spec.key = "key";
    spec.key_size = 3;
    spec.keep_existing = true;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EEXIST);
    spec.keep_existing = false;
    spec.period_ns = -1;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EINVAL);
    spec.period_ns = 0;
    spec.callback = NULL;
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -EINVAL);
    spec.callback = probe_run;
    failing_allocator_fail(&f->memory, 1, true);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -ENOMEM);
    failing_allocator_relent(&f->memory);
    assert_int_equal(htw_scheduler_stop(f->scheduler, NULL, NULL), 0);
    assert_int_equal(htw_schedule_spec(f->scheduler, &spec, NULL, NULL), -ESHUTDOWN);
    assert_int_equal(f->probes[1].releases, 0);
}

/* ---- hooks that call the library */

static void release_and_schedule_next(struct probe *self) {
    struct probe *next = self + 1;
    struct htw_spec spec = hooked_spec(self->fixture, next->number, DELAY_NS);
    next->result = htw_schedule_spec(self->fixture->scheduler, &spec, &next->handle, NULL);
}

LATER_TEST(hook_may_schedule) {
    f->probes[0].on_release = f->probes[1].on_release = release_and_schedule_next;
    arm_hooked(f, 0);
    advance(f, DELAY_NS);
    assert_int_equal(f->probes[1].result, 0);
    assert_int_equal(cancel(f, 1), HTW_CANCELLED);
    advance(f, DELAY_NS);
    assert_log(f, "aABcC");
}

static void release_and_cancel_next(struct probe *self) {
    struct probe *next = &self->fixture->probes[(self->number + 1) % 3];
    next->result = htw_cancel(self->fixture->scheduler, next->handle);
}

LATER_TEST(hook_may_cancel) {
    for (unsigned i = 0; i < 3; i++) {
        f->probes[i].on_release = release_and_cancel_next;
        arm_hooked(f, i);
    }
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    assert_log(f, "ABC");
    assert_int_equal(f->probes[1].result, HTW_CANCELLED);
    assert_int_equal(f->probes[2].result, HTW_CANCELLED);
    assert_int_equal(f->probes[0].result, HTW_GONE); /* its own hook was under way */
}

static struct {
    int cancel, reschedule, set_period, wait;
    bool pending;
} answers;

static void release_and_ask(struct probe *self) {
    struct htw_scheduler *scheduler = self->fixture->scheduler;
    answers.reschedule = htw_reschedule(scheduler, self->handle, DELAY_NS);
    answers.pending = htw_is_pending(scheduler, self->handle);
    answers.set_period = htw_set_period(scheduler, self->handle, DELAY_NS);
    answers.cancel = htw_cancel(scheduler, self->handle);
    answers.wait = htw_cancel_wait(scheduler, self->handle);
}

/* The hook is the last of the timer: nothing can bring it back. */
LATER_TEST(hook_cannot_bring_its_timer_back) {
    f->options.max_pending = 1;
    scheduler_reopen(f);
    for (unsigned round = 0; round < 3; round++) { /* a credit lost would be missed then */
        f->probes[0].on_release = release_and_ask;
        arm_hooked(f, 0);
        advance(f, DELAY_NS);
        assert_true(answers.reschedule == HTW_RUNNING || answers.reschedule == HTW_GONE);
        assert_false(answers.pending);
        assert_true(answers.set_period <= 0);
        assert_true(answers.cancel == HTW_RUNNING || answers.cancel == HTW_GONE);
        assert_true(answers.wait == -EDEADLK || answers.wait == HTW_GONE);
        advance(f, 5 * DELAY_NS);
        assert_log(f, "aA");
    }
    assert_int_equal(scheduler_stats(f).moved, 0);
}

static void release_and_stop(struct probe *self) {
    self->result = htw_scheduler_stop(self->fixture->scheduler, NULL, NULL);
}

/* Stop would wait for the hook of a timer that ran. The rule is for all hooks. */
LATER_TEST(hook_that_stops_the_scheduler_gets_edeadlk) {
    for (unsigned i = 0; i < 3; i++) {
        f->probes[i].on_release = release_and_stop;
        arm_hooked(f, i);
        if (i == 0)
            advance(f, DELAY_NS);
        else if (i == 1)
            assert_int_equal(cancel(f, i), HTW_CANCELLED);
        else
            assert_int_equal(htw_scheduler_stop(f->scheduler, probe_visit, NULL), 0);
        assert_int_equal(f->probes[i].result, -EDEADLK);
    }
    assert_log(f, "aAB!cC");
}
