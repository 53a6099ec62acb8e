/* SPDX-License-Identifier: MIT */
/* test_fork.c - a child finds the scheduler of its parent inert. */
/* holds: scheduler-14 */
#include "../../../src/base/fork.h"
#include "../../support/child.h"
#include "../../support/inert.h"
#include "scheduler_fixture.h"

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

/* The child's own, without threads: a child of a program with threads may have none. */
static void create_in_child(void) {
    struct htw_scheduler_options options = scheduler_options();
    struct htw_scheduler *mine;
    unsigned runs = 0;
    htw_handle handle;
    EXPECT(htw_scheduler_create(&mine, &options) == 0);
    EXPECT(htw_schedule(mine, MS, count_run, &runs, NULL) == 0);
    EXPECT(htw_schedule(mine, MS, count_run, &runs, &handle) == 0);
    EXPECT(htw_cancel(mine, handle) == HTW_CANCELLED);
    EXPECT(htw_scheduler_advance(mine, MS) == 0);
    EXPECT(runs == 1);
    EXPECT(htw_scheduler_destroy(mine) == 0);
}

/* However many schedulers its parent has created, it is one fork away. */
static void live_in_child(void *objects) {
    EXPECT(htw__fork_depth == 1);
    inert_expect(objects);
    create_in_child();
}

static int outlive_child(struct inert *objects) {
    return child_run(live_in_child, objects, NULL, 0);
}

#define TIMERS 500u

static struct htw_scope scope;

static void arm_many(struct scheduler_fixture *f, struct inert *objects) {
    objects->scheduler = f->scheduler;
    assert_int_equal(htw_group_create(f->scheduler, &objects->group), 0);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.when_ns = HTW_SECOND;
    for (unsigned i = 0; i < TIMERS; i++) {
        spec.arg = &f->probes[i];
        spec.key = i == 0 ? "key" : NULL;
        spec.key_size = 3;
        spec.group = i % 2 ? objects->group : NULL;
        arm_spec(f, i, &spec);
    }
    objects->handle = f->probes[0].handle;
    objects->scope = &scope;
    assert_int_equal(htw_scope_enter(&scope, f->scheduler, NULL, HTW_NEVER_NS, NULL),
                     HTW_SCOPE_OPEN);
}

static void fork_with(struct scheduler_fixture *f) {
    struct inert objects = { .task = NULL };
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, &objects);
    struct htw_scheduler_stats before = scheduler_stats(f);
    assert_int_equal(outlive_child(&objects), 0);
    assert_int_equal(outlive_child(&objects), 0);
    struct htw_scheduler_stats after = scheduler_stats(f);
    assert_memory_equal(&before, &after, sizeof(before));
    assert_true(htw_is_pending(f->scheduler, objects.handle));
    assert_int_equal(htw_group_count(objects.group), TIMERS / 2);
    htw_group_destroy(objects.group);
    assert_int_equal(htw_scope_exit(&scope), HTW_SCOPE_OPEN);
    if (f->options.clock == HTW_CLOCK_MANUAL) {
        advance(f, HTW_SECOND);
        assert_int_equal(f->log_count, TIMERS);
    }
}

SCHEDULER_TEST(scheduler_after_fork_is_inert_in_the_child) {
    fork_with(f);
    f->options.shards = 4;
    f->options.max_pending = TIMERS;
    fork_with(f);
}

SCHEDULER_TEST(scheduler_with_threads_after_fork_is_inert_in_the_child) {
    f->options.workers = 2;
    f->options.start_threads = true;
    fork_with(f);
}

/* ---- from within */

static struct inert from_within;
static int end_within;

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    from_within.task = tasks[0];
    end_within = outlive_child(&from_within);
    for (size_t i = 0; i < count; i++)
        htw_task_run(tasks[i]);
}

SCHEDULER_TEST(scheduler_task_after_fork_is_inert_in_the_child) {
    struct htw_executor executor = { execute, NULL };
    f->options.executor = &executor;
    f->count = TIMERS;
    scheduler_reopen(f);
    arm_many(f, &from_within);
    end_within = -1;
    advance(f, HTW_SECOND);
    assert_int_equal(end_within, 0);
    assert_int_equal(f->log_count, TIMERS);
    htw_group_destroy(from_within.group);
    assert_int_equal(htw_scope_exit(&scope), HTW_SCOPE_OPEN);
}
