/* SPDX-License-Identifier: MIT */
/*
 * test_destroy - htw_purgatory_destroy() while a callback of the scheduler is in progress in another thread.
 *
 * That thread stops, in a hook or where it schedules a timer, until destroy sleeps (the test replaces
 * nanosleep() and htw_schedule_spec()). Afterwards no thread runs callbacks any more.
 */
#include "../unit.h"

#include <htw/purgatory.h>

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <time.h>

/* So many naps of destroy are many more than it needs. */
#define NAPS_MAX 1000u

/* Where a thread stops when it schedules a timer. */
enum stop { NOWHERE, BEFORE, AFTER };

static struct scene {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_request first, second;
    sem_t inside, go, over;
    enum stop stops; /* of the thread that runs callbacks */
    bool is_asked_in_callback;
    unsigned naps;
    bool hung; /* destroy waited for a callback that no thread was going to run */
    int result;
    unsigned released;
} scene;

/* Of this thread, the next time. */
static _Thread_local enum stop stops;

static void stop(void) {
    sem_post(&scene.inside);
    sem_wait(&scene.go);
}

int __real_htw_schedule_spec(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                             htw_handle *ret_handle, struct htw_unexpired *ret_replaced);
int __wrap_htw_schedule_spec(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                             htw_handle *ret_handle, struct htw_unexpired *ret_replaced);
int __wrap_htw_schedule_spec(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                             htw_handle *ret_handle, struct htw_unexpired *ret_replaced) {
    enum stop here = stops;
    stops = NOWHERE;
    if (here == BEFORE)
        stop();
    int error = __real_htw_schedule_spec(scheduler, spec, ret_handle, ret_replaced);
    if (here == AFTER)
        stop();
    return error;
}

/* Only destroy sleeps in this program. */
int __wrap_nanosleep(const struct timespec *request, struct timespec *rest);
int __wrap_nanosleep(const struct timespec *request, struct timespec *rest) {
    (void)request;
    (void)rest;
    if (scene.naps++ == 0) {
        sem_post(&scene.go);
        sem_wait(&scene.over);
    }
    if (scene.naps >= NAPS_MAX) {
        scene.hung = true;
        htw_scheduler_process(scene.scheduler, 0, NULL);
    }
    return 0;
}

/* The first request stops its callback when it is asked, and changes its timeout then. */
static bool is_never_ready(void *context, struct htw_request *request) {
    (void)context;
    if (scene.is_asked_in_callback) {
        stop();
        scene.result = htw_request_set_timeout(scene.purgatory, request, HTW_MILLISECOND);
    }
    return false;
}

static void check_second_later(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    if (request == &scene.first && reason == HTW_REASON_EXPIRED) {
        stops = scene.stops;
        scene.result = htw_purgatory_check_later(scene.purgatory, "k", 1);
    }
}

static void count_released(void *context, struct htw_request *request) {
    (void)context;
    (void)request;
    scene.released++;
}

static void *run_one_callback(void *arg) {
    (void)arg;
    size_t count = 0;
    while (count == 0)
        if (htw_scheduler_process(scene.scheduler, 1, &count) < 0)
            abort();
    sem_post(&scene.over);
    return NULL;
}

/* Drops each callback; the release hook stops when it schedules another one. */
static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    for (size_t i = 0; i < count; i++) {
        stops = scene.stops;
        int outcome = htw_task_drop(tasks[i], NULL);
        (void)outcome;
    }
}

static void *drop_one_callback(void *arg) {
    (void)arg;
    if (htw_scheduler_process(scene.scheduler, 1, NULL) < 0)
        abort();
    sem_post(&scene.over);
    return NULL;
}

static void begin(enum stop where, bool drops) {
    scene = (struct scene) { .result = -1, .stops = where };
    sem_init(&scene.inside, 0, 0);
    sem_init(&scene.go, 0, 0);
    sem_init(&scene.over, 0, 0);
    struct htw_scheduler_options timed = HTW_SCHEDULER_OPTIONS_INIT;
    timed.embedded = true;
    timed.shards = 1;
    struct htw_executor executor = { execute, NULL };
    if (drops)
        timed.executor = &executor;
    assert_int_equal(htw_scheduler_create(&scene.scheduler, &timed), 0);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = is_never_ready;
    options.on_complete = check_second_later;
    options.release = count_released;
    assert_int_equal(htw_purgatory_create(&scene.purgatory, scene.scheduler, &options), 0);
}

static void watch(struct htw_request *request, int64_t timeout_ns) {
    struct htw_key key = { "k", 1 };
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(scene.purgatory, request, &key, 1, timeout_ns),
        HTW_WATCHED);
}

static void end(void) {
    assert_false(scene.hung);
    assert_int_equal(htw_pending(scene.scheduler), 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
    sem_destroy(&scene.inside);
    sem_destroy(&scene.go);
    sem_destroy(&scene.over);
}

/* A callback of an alarm stops in its hook, in the middle of htw_purgatory_check_later(). */
static void destroy_while_a_hook_schedules(enum stop where) {
    begin(where, false);
    watch(&scene.first, 0);
    watch(&scene.second, HTW_NEVER_NS);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_one_callback, NULL), 0);
    sem_wait(&scene.inside);
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(scene.result, 0); /* by then no request waited on the key */
    assert_int_equal(scene.released, 2);
    end();
}

/* holds: purgatory-12 */
UNIT_TEST(purgatory_destroyed_while_a_hook_asks_for_a_check_later_returns) {
    destroy_while_a_hook_schedules(BEFORE);
    destroy_while_a_hook_schedules(AFTER);
}

/* The release hook of a deferred check that an executor drops stops where it schedules another. */
static void destroy_while_an_executor_drops(enum stop where) {
    begin(where, true);
    watch(&scene.second, HTW_NEVER_NS);
    assert_int_equal(htw_purgatory_check_later(scene.purgatory, "k", 1), 0);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, drop_one_callback, NULL), 0);
    sem_wait(&scene.inside);
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(scene.naps, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(scene.released, 1);
    end();
}

/* holds: purgatory-12 */
UNIT_TEST(purgatory_destroyed_while_an_executor_drops_a_check_waits_for_its_hook) {
    destroy_while_an_executor_drops(BEFORE);
    destroy_while_an_executor_drops(AFTER);
}

/* A deferred check asks a request whose timeout is armed. */
UNIT_TEST(purgatory_destroyed_while_a_request_is_asked_sets_no_alarm) {
    begin(NOWHERE, false);
    watch(&scene.first, HTW_SECOND);
    assert_int_equal(htw_purgatory_check_later(scene.purgatory, "k", 1), 0);
    scene.is_asked_in_callback = true;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_one_callback, NULL), 0);
    sem_wait(&scene.inside);
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(scene.naps, 1);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(scene.result, -ESHUTDOWN);
    assert_int_equal(scene.released, 1);
    end();
}
