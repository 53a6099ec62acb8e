/* SPDX-License-Identifier: MIT */
/*
 * test_queued - a timer that is due, in the hands of an executor, whose group is paused.
 *
 * The monotonic clock shows what the test says (-Wl,--wrap), and the executor only takes tasks. So
 * time can pass between a timer's being due and its start.
 */
#include "scheduler_fixture.h"

#include <sched.h>

int64_t __wrap_htw__clock_monotonic_ns(void);

static int64_t clock_ns;

int64_t __wrap_htw__clock_monotonic_ns(void) {
    return clock_ns;
}

struct queue {
    struct scheduler_fixture f;
    struct htw_group *group;
    struct htw_task *task; /* that the executor has; NULL: none */
};

static void take_task(void *context, struct htw_task *const *tasks, size_t count) {
    struct queue *queue = context;
    if (count == 1 && queue->task == NULL)
        queue->task = tasks[0];
}

static void process(struct queue *queue) {
    assert_int_equal(htw_scheduler_process(queue->f.scheduler, 0, NULL), HTW_DONE);
}

static void run_task(struct queue *queue) {
    struct htw_task *task = queue->task;
    assert_non_null(task);
    queue->task = NULL;
    htw_task_run(task);
}

#define START_NS (1000 * HTW_SECOND)
#define DUE_NS (START_NS + HTW_SECOND)

/* Ends one second after probe 0 was due, and taken by the executor. */
static void open_queue(struct queue *queue) {
    struct htw_scheduler_options options = scheduler_options();
    struct htw_executor executor = { take_task, queue };
    options.clock = HTW_CLOCK_MONOTONIC;
    options.embedded = true;
    options.executor = &executor;
    queue->task = NULL;
    clock_ns = START_NS;
    scheduler_open(&queue->f, &options, 1);
    assert_int_equal(htw_group_create(queue->f.scheduler, &queue->group), 0);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = probe_run;
    spec.arg = &queue->f.probes[0];
    spec.group = queue->group;
    spec.when_ns = HTW_SECOND;
    assert_int_equal(htw_schedule_spec(queue->f.scheduler, &spec, &queue->f.probes[0].handle, NULL),
                     0);
    clock_ns = DUE_NS;
    process(queue);
    assert_non_null(queue->task);
    clock_ns += HTW_SECOND;
}

static void close_queue(struct queue *queue) {
    htw_group_destroy(queue->group);
    scheduler_close(&queue->f);
}

static void pause_group(struct queue *queue) {
    assert_int_equal(htw_group_pause(queue->group), 0);
}

static void resume_group(struct queue *queue) {
    assert_int_equal(htw_group_resume(queue->group), 0);
}

static int64_t deadline(struct queue *queue) {
    int64_t deadline_ns = -1;
    assert_int_equal(htw_deadline(queue->f.scheduler, queue->f.probes[0].handle, &deadline_ns), 0);
    return deadline_ns;
}

/* What was due is due again; it runs, planned for `deadline_ns`. */
static void expect_run(struct queue *queue, int64_t deadline_ns) {
    process(queue);
    run_task(queue);
    assert_ran(&queue->f, 0);
    assert_int_equal(queue->f.probes[0].last.deadline_ns, deadline_ns);
    assert_int_equal(queue->f.probes[0].last.late_ns, clock_ns - deadline_ns);
}

static void queued_timer_that_was_paused_is_late_from_the_resume_on(void **state) {
    (void)state;
    struct queue queue;
    open_queue(&queue);
    pause_group(&queue);
    clock_ns += 100 * HTW_SECOND;
    assert_int_equal(deadline(&queue), clock_ns); /* as if resumed now */
    resume_group(&queue);
    int64_t resumed_ns = clock_ns;
    clock_ns += HTW_SECOND;
    run_task(&queue); /* puts it back */
    assert_none_ran(&queue.f);
    clock_ns += HTW_SECOND;
    expect_run(&queue, resumed_ns);
    close_queue(&queue);
}

static void queued_timer_put_back_in_the_pause_is_late_from_the_resume_on(void **state) {
    (void)state;
    struct queue queue;
    open_queue(&queue);
    pause_group(&queue);
    clock_ns += 100 * HTW_SECOND;
    run_task(&queue);
    assert_none_ran(&queue.f);
    clock_ns += 100 * HTW_SECOND;
    resume_group(&queue);
    int64_t resumed_ns = clock_ns;
    clock_ns += HTW_SECOND;
    expect_run(&queue, resumed_ns);
    close_queue(&queue);
}

static void queued_timer_paused_again_and_again_waits_for_the_last_resume(void **state) {
    (void)state;
    struct queue queue;
    open_queue(&queue);
    for (unsigned i = 0; i < 3; i++) {
        pause_group(&queue);
        pause_group(&queue);
        clock_ns += 100 * HTW_SECOND;
        resume_group(&queue);
        resume_group(&queue);
    }
    int64_t resumed_ns = clock_ns;
    pause_group(&queue);
    clock_ns += HTW_SECOND;
    run_task(&queue);
    process(&queue);
    assert_null(queue.task);
    clock_ns += HTW_SECOND;
    resume_group(&queue);
    assert_int_equal(clock_ns, resumed_ns + 2 * HTW_SECOND);
    expect_run(&queue, clock_ns);
    close_queue(&queue);
}

static void queued_timer_moved_in_the_pause_has_that_delay_when_resumed(void **state) {
    (void)state;
    for (unsigned put_back_first = 0; put_back_first < 2; put_back_first++) {
        struct queue queue;
        open_queue(&queue);
        pause_group(&queue);
        assert_int_equal(
            htw_reschedule(queue.f.scheduler, queue.f.probes[0].handle, 10 * HTW_SECOND),
            HTW_MOVED);
        clock_ns += 100 * HTW_SECOND;
        assert_int_equal(deadline(&queue), clock_ns + 10 * HTW_SECOND);
        if (put_back_first)
            run_task(&queue);
        resume_group(&queue);
        int64_t due_ns = clock_ns + 10 * HTW_SECOND;
        assert_int_equal(deadline(&queue), due_ns);
        if (!put_back_first)
            run_task(&queue);
        process(&queue);
        assert_null(queue.task);
        clock_ns = due_ns;
        expect_run(&queue, due_ns);
        close_queue(&queue);
    }
}

static void queued_timer_moved_before_the_pause_keeps_what_remained(void **state) {
    (void)state;
    struct queue queue;
    open_queue(&queue);
    assert_int_equal(htw_reschedule(queue.f.scheduler, queue.f.probes[0].handle, 10 * HTW_SECOND),
                     HTW_MOVED);
    clock_ns += 4 * HTW_SECOND;
    pause_group(&queue);
    clock_ns += 100 * HTW_SECOND;
    run_task(&queue);
    resume_group(&queue);
    clock_ns += 6 * HTW_SECOND;
    expect_run(&queue, clock_ns);
    close_queue(&queue);
}

static void note_deadline(void *context, const struct htw_unexpired *unexpired) {
    *(int64_t *)context = unexpired->deadline_ns;
}

static void queued_timer_cancelled_in_the_pause_tells_its_deadline_as_if_resumed(void **state) {
    (void)state;
    struct queue queue;
    int64_t told_ns = -1;
    open_queue(&queue);
    pause_group(&queue);
    clock_ns += 100 * HTW_SECOND;
    assert_int_equal(htw_group_cancel(queue.group, note_deadline, &told_ns), 1);
    assert_int_equal(told_ns, clock_ns);
    run_task(&queue);
    assert_none_ran(&queue.f);
    close_queue(&queue);
}

static void *stop(void *arg) {
    struct queue *queue = arg;
    static int64_t told_ns;
    told_ns = -1;
    htw_scheduler_stop(queue->f.scheduler, note_deadline, &told_ns);
    return &told_ns;
}

static void queued_timer_left_in_the_pause_tells_its_deadline_as_if_resumed(void **state) {
    (void)state;
    struct queue queue;
    pthread_t thread;
    void *told_ns;
    open_queue(&queue);
    pause_group(&queue);
    clock_ns += 100 * HTW_SECOND;
    assert_int_equal(pthread_create(&thread, NULL, stop, &queue), 0);
    struct htw_group *other;
    while (htw_group_create(queue.f.scheduler, &other) == 0) { /* until no callback starts */
        htw_group_destroy(other);
        sched_yield();
    }
    run_task(&queue);
    assert_int_equal(pthread_join(thread, &told_ns), 0);
    assert_int_equal(*(int64_t *)told_ns, clock_ns);
    close_queue(&queue);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(queued_timer_that_was_paused_is_late_from_the_resume_on),
        cmocka_unit_test(queued_timer_put_back_in_the_pause_is_late_from_the_resume_on),
        cmocka_unit_test(queued_timer_paused_again_and_again_waits_for_the_last_resume),
        cmocka_unit_test(queued_timer_moved_in_the_pause_has_that_delay_when_resumed),
        cmocka_unit_test(queued_timer_moved_before_the_pause_keeps_what_remained),
        cmocka_unit_test(queued_timer_cancelled_in_the_pause_tells_its_deadline_as_if_resumed),
        cmocka_unit_test(queued_timer_left_in_the_pause_tells_its_deadline_as_if_resumed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
