/* SPDX-License-Identifier: MIT */
/*
 * purgatory_close.c - purgatories come and go on one scheduler.
 *
 * Two threads at once close each, or only its destroy does, while others submit, requests expire,
 * and threads of the scheduler make checks: its expirer, its workers, those of an executor, or one
 * that processes an embedded scheduler. A submission is refused, or its request ends once. When
 * destroy has returned no hook runs any more. In some rounds the scheduler is stopped before.
 */
/* holds: purgatory-11, purgatory-12, purgatory-16, purgatory-17 */
#include "request.h"

#include <pthread.h>
#include <sched.h>

#define THREADS 6u /* the last two close */
#define KEYS 7u
#define DEPTH_MAX 3u
#define SUBMISSIONS 150u
#define RUNNERS 2u
#define QUEUE 65536u

enum run_by { BY_THREADS, BY_EXECUTOR, EMBEDDED };

struct request {
    struct stress_request base;
    uint64_t keys[3];
    size_t key_count;
    struct htw_threshold *threshold; /* what it waits on, if not on keys */
    uint64_t value;
};

struct scene {
    struct stress_purgatory home;
    struct htw_threshold *threshold;
    _Atomic bool gone;        /* destroy has returned */
    _Atomic bool over;        /* the runners may end */
    _Atomic uint64_t at_once; /* hooks that run */
    enum run_by run_by;
    bool closes, stops;
    struct stress_totals totals;
};

static struct scene scene;

/* ---- what runs the callbacks, where that is not the library */

static struct {
    pthread_mutex_t mutex;
    struct htw_task *tasks[QUEUE];
    uint64_t put, taken;
} queue = { .mutex = PTHREAD_MUTEX_INITIALIZER };

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    (void)context;
    pthread_mutex_lock(&queue.mutex);
    for (size_t i = 0; i < count; i++) {
        CHECK(queue.put - queue.taken < QUEUE);
        queue.tasks[queue.put++ % QUEUE] = tasks[i];
    }
    pthread_mutex_unlock(&queue.mutex);
}

static bool run_task(void) {
    pthread_mutex_lock(&queue.mutex);
    struct htw_task *task = queue.put == queue.taken ? NULL : queue.tasks[queue.taken++ % QUEUE];
    pthread_mutex_unlock(&queue.mutex);
    htw_task_run(task);
    return task != NULL;
}

static void *run_callbacks(void *arg) {
    struct htw_scheduler *scheduler = arg;
    while (!atomic_load(&scene.over))
        if (scene.run_by == BY_EXECUTOR) {
            if (!run_task())
                sched_yield();
        } else {
            size_t count = 0;
            int result = htw_scheduler_process(scheduler, 5, &count);
            CHECK(result >= 0 || result == -EBUSY || result == -ESHUTDOWN);
            if (count == 0)
                sched_yield();
        }
    while (scene.run_by == BY_EXECUTOR && run_task())
        ;
    return NULL;
}

/* ---- requests */

static int64_t some_timeout(struct random_source *random) {
    if (random_one_in(random, 4))
        return HTW_NEVER_NS;
    return random_one_in(random, 4) ? 0 : (int64_t)random_below(random, 500000);
}

/* Returns what the submission was answered with. */
static int submit(struct request *request) {
    struct random_source *random = stress_own_random();
    int result;
    if (request->threshold != NULL) {
        request->value = htw_threshold_value(request->threshold) + random_below(random, 50);
        result = stress_await_value(&request->base, request->threshold, request->value,
                                    some_timeout(random));
    } else {
        request->key_count = 1 + (size_t)random_below(random, 3);
        for (size_t i = 0; i < request->key_count; i++)
            request->keys[i] = random_below(random, KEYS);
        result =
            stress_submit(&request->base, request->keys, request->key_count, some_timeout(random));
    }
    CHECK(result >= 0 || result == -ESHUTDOWN);
    if (result < 0)
        stress_request_free(&request->base);
    return result;
}

static struct request *create(void) {
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    request->threshold = random_one_in(stress_own_random(), 3) ? scene.threshold : NULL;
    return request;
}

/* Mostly forward. */
static void change_threshold(struct random_source *random) {
    uint64_t value = htw_threshold_value(scene.threshold);
    if (random_one_in(random, 8))
        CHECK_EQUAL(htw_threshold_lower(scene.threshold, value - random_below(random, value)), 0);
    else if (random_one_in(random, 32))
        stress_end_all(&scene.home, scene.threshold, HTW_REASON_CANCELLED);
    else
        stress_advance(&scene.home, scene.threshold, value + random_below(random, 5));
}

static void act(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    switch (random_below(random, 8)) {
    case 0:
        stress_check(&scene.home, key, 1);
        break;
    case 1:
    case 2:
        stress_check_later(&scene.home, key);
        break;
    case 3:
        if (random_one_in(random, 8))
            stress_cancel_key(&scene.home, key);
        break;
    case 4:
        if (scene.threshold != NULL)
            change_threshold(random);
        break;
    default:
        submit(create());
        break;
    }
}

/* ---- hooks */

static void enter(void) {
    CHECK(!atomic_load(&scene.gone));
    atomic_fetch_add(&scene.at_once, 1);
    stress_dawdle();
}

static void leave(void) {
    stress_dawdle();
    CHECK(!atomic_load(&scene.gone));
    atomic_fetch_sub(&scene.at_once, 1);
}

/* Hooks use no threshold but their own, as that lasts as long as they run: none is created. */
static void play(struct random_source *random) {
    if (stress_depth() >= DEPTH_MAX || !random_one_in(random, 16))
        return;
    uint64_t key = random_below(random, KEYS);
    if (random_one_in(random, 4))
        CHECK_EQUAL(htw_purgatory_destroy(scene.home.purgatory), -EDEADLK);
    else if (random_one_in(random, 2))
        stress_check_later(&scene.home, key);
    else
        stress_check(&scene.home, key, 1);
}

static bool ask(struct stress_request *base) {
    (void)base;
    enter();
    play(stress_own_random());
    bool answer = random_one_in(stress_own_random(), 8);
    leave();
    return answer;
}

static void end(struct stress_request *base, enum htw_reason reason) {
    struct request *request = (struct request *)base;
    enter();
    if (request->threshold != NULL &&
        (reason == HTW_REASON_COMPLETED || reason == HTW_REASON_CANCELLED))
        stress_in_order(request->value);
    play(stress_own_random());
    if (request->threshold != NULL) /* destroying it waits for this hook */
        CHECK(htw_threshold_value(request->threshold) > 0);
    leave();
}

static void release(struct stress_request *base) {
    struct request *request = (struct request *)base;
    enter();
    if (request->threshold == NULL && stress_depth() < DEPTH_MAX &&
        random_one_in(stress_own_random(), 4))
        submit(request);
    else
        stress_request_free(base);
    leave();
}

/* ---- rounds */

static void work(struct stress_thread *thread) {
    struct random_source *random = stress_own_random();
    if (thread->index < THREADS - 2) {
        for (unsigned i = 0; i < SUBMISSIONS; i++)
            act(random);
        return;
    }
    stress_sleep_ns((int64_t)random_below(random, 1500 * (uint64_t)HTW_MICROSECOND));
    if (scene.stops && thread->index == THREADS - 1)
        CHECK_EQUAL(htw_scheduler_stop(scene.home.scheduler, NULL, NULL), 0);
    else if (scene.closes)
        stress_close(&scene.home);
}

/* Requests of the threshold expire, with hooks that use it, while it is destroyed. */
static void end_threshold(void) {
    atomic_store(&scene.home.closing, true); /* its requests may end so from now on */
    CHECK_EQUAL(htw_threshold_destroy(scene.threshold), 0);
    scene.threshold = NULL;
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards) {
    static const struct stress_hooks hooks = { ask, end, release };
    struct random_source *random = stress_own_random();
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    if (random_one_in(random, 2))
        CHECK_EQUAL(htw_threshold_create(scene.home.purgatory, 1, &scene.threshold), 0);
    atomic_store(&scene.gone, false);
    scene.closes = random_one_in(random, 2);
    stress_run(THREADS, work, NULL);
    if (scene.threshold != NULL)
        end_threshold();
    if (random_one_in(random, 4))
        stress_close(&scene.home);
    stress_purgatory_end(&scene.home);
    CHECK_EQUAL(atomic_exchange(&scene.gone, true), false);
    CHECK_EQUAL(atomic_load(&scene.at_once), 0);
    CHECK_EQUAL(htw_pending(scheduler), 0);
    stress_totals_add(&scene.totals, &scene.home);
    stress_progress();
}

/* Where the scheduler is stopped it is another one each round. */
static void play_rounds(const struct htw_scheduler_options *options, uint32_t shards) {
    struct htw_scheduler *scheduler = stress_create(options);
    pthread_t runners[RUNNERS];
    unsigned runner_count = scene.run_by == BY_THREADS ? 0 : RUNNERS;
    atomic_store(&scene.over, false);
    for (unsigned i = 0; i < runner_count; i++)
        CHECK_EQUAL(pthread_create(&runners[i], NULL, run_callbacks, scheduler), 0);
    do
        play_round(scheduler, shards);
    while (stress_goes_on() && !scene.stops);
    atomic_store(&scene.over, true);
    for (unsigned i = 0; i < runner_count; i++)
        pthread_join(runners[i], NULL);
    if (!scene.stops)
        stress_check_stats(scheduler);
    CHECK_EQUAL(htw_scheduler_destroy(scheduler), 0);
}

static void part(const char *name, enum run_by run_by, uint32_t workers, uint32_t shards,
                 bool stops) {
    stress_part("close: callbacks %s, %u workers, %u shards%s", name, workers, shards,
                stops ? ", the scheduler stopped before" : "");
    const struct htw_executor executor = { execute, NULL };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 20 * HTW_MICROSECOND;
    options.executor = run_by == BY_EXECUTOR ? &executor : NULL;
    options.embedded = run_by == EMBEDDED;
    scene.run_by = run_by;
    scene.stops = stops;
    scene.totals = (struct stress_totals) { .rounds = 0 };
    stress_watchdog_begin(&scene.home);
    do
        play_rounds(&options, shards);
    while (stress_goes_on());
    stress_watchdog_end();
    stress_totals_print(&scene.totals);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 7);
    part("by the library", BY_THREADS, 0, 0, false);
    part("by the library", BY_THREADS, 2, 1, false);
    part("by an executor", BY_EXECUTOR, 0, 4, false);
    part("by a thread that processes", EMBEDDED, 0, 4, false);
    part("by the library", BY_THREADS, 2, 4, true);
    part("by an executor", BY_EXECUTOR, 0, 1, true);
    part("by a thread that processes", EMBEDDED, 0, 1, true);
    return 0;
}
