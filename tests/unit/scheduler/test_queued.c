/* SPDX-License-Identifier: MIT */
/*
 * test_queued.c - a timer that is due, in the hands of an executor, whose group is paused.
 *
 * The monotonic clock shows what the test says (-Wl,--wrap), and the executor only takes tasks. So
 * time can pass between a timer's being due and its start.
 */
/* holds: scheduler-9 */
#include "scheduler_fixture.h"

int64_t __wrap_htw__clock_monotonic_ns(void);

static int64_t clock_ns;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return clock_ns;
}

static struct htw_task *task; /* that the executor has; NULL: none */

static void take_task(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    if (count == 1 && task == NULL)
        task = tasks[0];
}

static void process(struct scheduler_fixture *f) {
    assert_int_equal(htw_scheduler_process(f->scheduler, 0, NULL), HTW_DONE);
}

static void run_task(void) {
    struct htw_task *taken = task;
    assert_non_null(taken);
    task = NULL;
    htw_task_run(taken);
}

#define DUE_NS (START_NS + HTW_SECOND)

/* Ends one second after probe 0 was due, and taken by the executor. */
static void open_queue(struct scheduler_fixture *f) {
    struct htw_executor executor = { take_task, NULL };
    f->options.clock = HTW_CLOCK_MONOTONIC;
    f->options.embedded = true;
    f->options.executor = &executor;
    task = NULL;
    clock_ns = START_NS;
    scheduler_reopen(f);
    create_group(f);
    struct htw_spec spec = grouped_spec(f, 0, HTW_SECOND);
    arm_spec(f, 0, &spec);
    clock_ns = DUE_NS;
    process(f);
    assert_non_null(task);
    clock_ns += HTW_SECOND;
}

static void setup(void) {
    scheduler_setup();
    open_queue(&scheduler_fixture);
}

#define QUEUED_TEST(name) SCHEDULER_TEST_AFTER(setup, name)

/* What was due is due again; it runs, planned for `deadline_ns`. */
static void expect_run(struct scheduler_fixture *f, int64_t deadline_ns) {
    process(f);
    run_task();
    assert_ran(f, 0);
    assert_int_equal(f->probes[0].last.deadline_ns, deadline_ns);
    assert_int_equal(f->probes[0].last.late_ns, clock_ns - deadline_ns);
}

QUEUED_TEST(queued_timer_that_was_paused_is_late_from_the_resume_on) {
    pause_group(f);
    clock_ns += 100 * HTW_SECOND;
    assert_int_equal(deadline_of(f, 0), clock_ns); /* as if resumed now */
    resume_group(f);
    int64_t resumed_ns = clock_ns;
    clock_ns += HTW_SECOND;
    run_task(); /* puts it back */
    assert_none_ran(f);
    clock_ns += HTW_SECOND;
    expect_run(f, resumed_ns);
}

static void *stop(void *arg) {
    struct scheduler_fixture *f = arg;
    htw_scheduler_stop(f->scheduler, probe_visit, NULL);
    return NULL;
}

QUEUED_TEST(queued_timer_left_in_the_pause_reports_its_deadline_as_if_resumed) {
    pthread_t thread;
    struct htw_group *other;
    pause_group(f);
    clock_ns += 100 * HTW_SECOND;
    assert_int_equal(pthread_create(&thread, NULL, stop, f), 0);
    while (htw_group_create(f->scheduler, &other) == 0) { /* until no callback starts */
        htw_group_destroy(other);
        sched_yield();
    }
    run_task();
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(f->probes[0].visits, 1);
    assert_int_equal(f->probes[0].unexpired_ns, clock_ns);
}
