/* SPDX-License-Identifier: MIT */
/*
 * test_destroy - htw_purgatory_destroy() while a hook runs in a thread of the scheduler.
 * The hook stops in the allocator, in the middle of a htw_purgatory_check_later(), until destroy
 * sleeps (the test has nanosleep() for that); afterwards no thread runs callbacks any more.
 */
#include <htw/purgatory.h>

#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

#include <cmocka.h>

/* So many naps of destroy are many more than it needs. */
#define NAPS_MAX 1000u

static struct scene {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    struct htw_request first, second;
    sem_t inside, go, over;
    unsigned naps;
    bool hung; /* destroy waited for a callback that no thread was going to run */
    int result;
    unsigned released;
} scene;

/* The thread that runs callbacks, and its next allocation is the one to stop in. */
static _Thread_local bool stops_here;

static void *allocate(void *context, size_t size, size_t alignment) {
    (void)context;
    if (stops_here) {
        stops_here = false;
        sem_post(&scene.inside);
        sem_wait(&scene.go);
    }
    return aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
}

static void give_back(void *context, void *memory, size_t size, size_t alignment) {
    (void)context;
    (void)size;
    (void)alignment;
    free(memory);
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

static bool is_never_ready(void *context, struct htw_request *request) {
    (void)context;
    (void)request;
    return false;
}

static void check_second_later(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context;
    if (request == &scene.first && reason == HTW_REASON_EXPIRED) {
        stops_here = true;
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

static void begin(void) {
    scene = (struct scene) { .result = -1 };
    sem_init(&scene.inside, 0, 0);
    sem_init(&scene.go, 0, 0);
    sem_init(&scene.over, 0, 0);
    struct htw_allocator allocator = { allocate, give_back, NULL };
    struct htw_scheduler_options timed = HTW_SCHEDULER_OPTIONS_INIT;
    timed.embedded = true;
    timed.shards = 1;
    timed.allocator = &allocator;
    assert_int_equal(htw_scheduler_create(&scene.scheduler, &timed), 0);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = is_never_ready;
    options.on_complete = check_second_later;
    options.release = count_released;
    assert_int_equal(htw_purgatory_create(&scene.purgatory, scene.scheduler, &options), 0);
}

static void purgatory_destroyed_while_a_hook_asks_for_a_check_later_returns(void **state) {
    (void)state;
    begin();
    struct htw_key key = { "k", 1 };
    assert_int_equal(
        htw_purgatory_try_complete_else_watch(scene.purgatory, &scene.first, &key, 1, 0),
        HTW_WATCHED);
    assert_int_equal(htw_purgatory_try_complete_else_watch(scene.purgatory, &scene.second, &key, 1,
                                                           HTW_NEVER_NS),
                     HTW_WATCHED);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, run_one_callback, NULL), 0);
    sem_wait(&scene.inside);
    assert_int_equal(htw_purgatory_destroy(scene.purgatory), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_false(scene.hung);
    assert_int_equal(scene.result, 0); /* by then no request waited on the key */
    assert_int_equal(scene.released, 2);
    assert_int_equal(htw_pending(scene.scheduler), 0);
    assert_int_equal(htw_scheduler_destroy(scene.scheduler), 0);
    sem_destroy(&scene.inside);
    sem_destroy(&scene.go);
    sem_destroy(&scene.over);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(purgatory_destroyed_while_a_hook_asks_for_a_check_later_returns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
