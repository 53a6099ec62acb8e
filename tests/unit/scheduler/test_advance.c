/* SPDX-License-Identifier: MIT */
/* test_advance.c - htw_scheduler_advance() waits for the tasks of an executor. */
/* holds: scheduler-15 */
#include "../unit.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

static struct {
    struct htw_scheduler *scheduler;
    struct htw_task *_Atomic task; /* the one that the executor keeps for later */
    _Atomic bool stops;
    int stopped;
} scene;

static void keep(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    (void)count;
    atomic_store(&scene.task, tasks[0]);
}

static void count_run(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    ++*(unsigned *)arg;
}

static void await_task(void) {
    while (atomic_load(&scene.task) == NULL)
        sched_yield();
}

static void begin(unsigned *runs) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    struct htw_executor executor = { keep, NULL };
    options.clock = HTW_CLOCK_MANUAL;
    options.executor = &executor;
    atomic_store(&scene.task, NULL);
    atomic_store(&scene.stops, false);
    assert_int_equal(htw_scheduler_create(&scene.scheduler, &options), 0);
    assert_int_equal(htw_schedule(scene.scheduler, HTW_SECOND, count_run, runs, NULL), 0);
}

static void *run_task(void *arg) {
    (void)arg;
    await_task();
    htw_task_run(atomic_load(&scene.task));
    return NULL;
}

UNIT_TEST(advance_returns_when_another_thread_has_run_the_task) {
    unsigned runs = 0;
    pthread_t thread;
    begin(&runs);
    assert_int_equal(pthread_create(&thread, NULL, run_task, NULL), 0);
    assert_int_equal(htw_scheduler_advance(scene.scheduler, HTW_SECOND), 0);
    assert_int_equal(runs, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
}

static void *stop(void *arg) {
    (void)arg;
    await_task();
    for (int i = 0; i < 1000; i++) /* time for the other thread to return, if it did */
        sched_yield();
    atomic_store(&scene.stops, true);
    scene.stopped = htw_scheduler_stop(scene.scheduler, NULL, NULL);
    return NULL;
}

/* No other thread runs the task: only the stop lets this thread come to it. */
UNIT_TEST(advance_does_not_return_before_a_stop_if_its_own_thread_is_to_run_the_task) {
    unsigned runs = 0;
    pthread_t thread;
    begin(&runs);
    assert_int_equal(pthread_create(&thread, NULL, stop, NULL), 0);
    int result = htw_scheduler_advance(scene.scheduler, HTW_SECOND);
    assert_true(result == 0 || result == -ESHUTDOWN);
    assert_true(atomic_load(&scene.stops));
    htw_task_run(atomic_load(&scene.task)); /* does nothing any more; the stop waits for it */
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(scene.stopped, 0);
    assert_int_equal(runs, 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
}
