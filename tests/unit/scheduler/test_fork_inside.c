/* SPDX-License-Identifier: MIT */
/*
 * test_fork_inside.c - a child that returns from the callback, hook, visitor or executor in which it
 * was forked ends there, whichever thread that is.
 */
/* holds: scheduler-14 */
#include "../../support/returning_child.h"
#include "scheduler_fixture.h"

static struct returning_child child;

static void fork_in_callback(struct probe *self) {
    (void)self;
    returning_child_fork(&child);
}

static void fork_in_visitor(void *context, const struct htw_unexpired *unexpired) {
    (void)context, (void)unexpired;
    returning_child_fork(&child);
}

/* Each of them would fork; the first one does. */
static void arm_some(struct scheduler_fixture *f) {
    for (unsigned i = 0; i < PROBES; i++) {
        f->probes[i].act = fork_in_callback;
        arm(f, i, i % 2 * MS);
    }
}

static void arm_hooked(struct scheduler_fixture *f, unsigned number) {
    struct htw_spec spec = hooked_spec(f, number, 0);
    f->probes[number].on_release = fork_in_callback;
    arm_spec(f, number, &spec);
}

/* ---- callbacks */

SCHEDULER_TEST(child_that_returns_from_a_callback_ends) {
    arm_some(f);
    advance(f, MS);
    returning_child_assert_ended(&child, "a callback");
    assert_int_equal(f->log_count, PROBES);
}

/* The thread is a worker or an expirer. */
static void end_in_a_thread(struct scheduler_fixture *f, uint32_t workers, enum htw_clock clock) {
    f->options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    f->options.start_threads = true;
    f->options.clock = clock;
    scheduler_reopen(f);
    arm_some(f);
    if (clock == HTW_CLOCK_MANUAL)
        advance(f, MS);
    for (unsigned i = 0; i < PROBES; i++) {
        while (is_pending(f, i))
            sched_yield();
        assert_true(cancel_wait(f, i) >= 0);
    }
    returning_child_assert_ended(&child, "a callback");
}

SCHEDULER_TEST(child_that_returns_from_a_callback_in_a_thread_of_the_library_ends) {
    end_in_a_thread(f, 2, HTW_CLOCK_MANUAL);
    end_in_a_thread(f, 0, HTW_CLOCK_MONOTONIC);
}

/* ---- executors */

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    returning_child_fork(&child);
    for (size_t i = 0; i < count; i++)
        htw_task_run(tasks[i]); /* in the child, nothing */
}

SCHEDULER_TEST(child_that_returns_from_an_executor_ends) {
    const struct htw_executor executor = { execute, NULL };
    f->options.executor = &executor;
    scheduler_reopen(f);
    arm_some(f);
    advance(f, MS);
    returning_child_assert_ended(&child, "an executor");
    assert_int_equal(f->log_count, PROBES);
}

/* ---- hooks and visitors */

SCHEDULER_TEST(child_that_returns_from_a_hook_ends) {
    arm_hooked(f, 0);
    advance(f, 0);
    returning_child_assert_ended(&child, "a release hook");
    arm_hooked(f, 0);
    assert_int_equal(cancel(f, 0), HTW_CANCELLED);
    returning_child_assert_ended(&child, "a release hook");
}

SCHEDULER_TEST(child_that_returns_from_a_visitor_ends) {
    create_group(f);
    for (unsigned i = 0; i < PROBES; i++) {
        struct htw_spec spec = grouped_spec(f, i, MS);
        arm_spec(f, i, &spec);
    }
    assert_int_equal(htw_group_cancel(f->group, fork_in_visitor, NULL), PROBES);
    returning_child_assert_ended(&child, "a visitor");
    arm(f, 0, MS);
    assert_int_equal(htw_scheduler_stop(f->scheduler, fork_in_visitor, NULL), 0);
    returning_child_assert_ended(&child, "a visitor");
}
