/* SPDX-License-Identifier: MIT */
/*
 * stop.c - two threads at once stop a scheduler in use.
 *
 * Others schedule, cancel, move and use a group, and callbacks run in workers, in the expirers, or
 * in the threads of an executor that also drop tasks. Each argument is run, cancelled, dropped or
 * handed back exactly once.
 */
#include "stress.h"

#include <pthread.h>

#define THREADS 6u /* the last two stop */
#define SLOTS 32u
#define RUNNERS 2u
#define QUEUE 65536u

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    _Atomic bool go;
    _Atomic uint64_t scheduled, stopped;
};

static struct scene scene;

static void expired(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    CHECK_EQUAL(htw_scheduler_stop(expiration->scheduler, NULL, NULL), -EDEADLK);
    if (!(stress_item_tag(arg) & STRESS_HOOKED))
        stress_item_release(arg);
}

/* ---- an executor: a queue, and threads that take from it */

static struct {
    pthread_mutex_t mutex;
    pthread_cond_t more;
    struct htw_task *tasks[QUEUE];
    uint64_t put, taken;
    bool over;
} queue = { .mutex = PTHREAD_MUTEX_INITIALIZER, .more = PTHREAD_COND_INITIALIZER };

static void execute(void *context, struct htw_task *const *tasks, size_t count) {
    CHECK(context == &queue);
    CHECK(count >= 1 && count <= 64);
    pthread_mutex_lock(&queue.mutex);
    for (size_t i = 0; i < count; i++) {
        CHECK(queue.put - queue.taken < QUEUE);
        queue.tasks[queue.put++ % QUEUE] = tasks[i];
    }
    pthread_cond_broadcast(&queue.more);
    pthread_mutex_unlock(&queue.mutex);
}

static struct htw_task *take_task(void) {
    struct htw_task *task = NULL;
    pthread_mutex_lock(&queue.mutex);
    while (queue.put == queue.taken && !queue.over)
        pthread_cond_wait(&queue.more, &queue.mutex);
    if (queue.put != queue.taken)
        task = queue.tasks[queue.taken++ % QUEUE];
    pthread_mutex_unlock(&queue.mutex);
    return task;
}

static void *run_tasks(void *arg) {
    struct random_source random = stress_random((uint64_t)(uintptr_t)arg);
    struct htw_task *task;
    while ((task = take_task()) != NULL) {
        if (!random_one_in(&random, 4)) {
            htw_task_run(task);
            continue;
        }
        void *arg_back;
        if (htw_task_drop(task, &arg_back) == HTW_CANCELLED && arg_back != NULL)
            stress_item_release(arg_back);
    }
    return NULL;
}

static void end_queue(void) {
    pthread_mutex_lock(&queue.mutex);
    queue.over = true;
    pthread_cond_broadcast(&queue.more);
    pthread_mutex_unlock(&queue.mutex);
}

/* ---- the threads that use the scheduler */

struct held {
    htw_handle handle;
    struct stress_item *item; /* NULL: has a hook */
};

static int schedule(struct random_source *random, struct held *held) {
    struct htw_spec spec = HTW_SPEC_INIT;
    bool hooked = random_one_in(random, 3);
    struct stress_item *item = stress_item_create(hooked ? STRESS_HOOKED : 0);
    spec.callback = expired;
    spec.arg = item;
    spec.when_ns = random_one_in(random, 4)
                       ? HTW_NEVER_NS
                       : (int64_t)random_below(random, 3 * (uint64_t)HTW_MILLISECOND);
    spec.release = hooked ? stress_item_hook : NULL;
    spec.group = hooked && random_one_in(random, 2) ? scene.group : NULL;
    spec.period_ns = hooked && random_one_in(random, 4) ? HTW_MILLISECOND : 0;
    int result = htw_schedule_spec(scene.scheduler, &spec, &held->handle, NULL);
    CHECK(result == 0 || result == -ESHUTDOWN);
    if (result != 0)
        stress_item_release(item);
    else
        atomic_fetch_add(&scene.scheduled, 1);
    held->item = hooked ? NULL : item;
    return result;
}

static void end_one(struct random_source *random, struct held *held) {
    int result = random_one_in(random, 2) ? htw_cancel(scene.scheduler, held->handle)
                                          : htw_cancel_wait(scene.scheduler, held->handle);
    CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (result == HTW_CANCELLED && held->item != NULL)
        stress_item_release(held->item);
    held->handle = 0;
}

static void use(struct random_source *random) {
    struct held held[SLOTS] = { { 0, NULL } };
    for (;;) {
        struct held *one = &held[random_below(random, SLOTS)];
        end_one(random, one);
        if (schedule(random, one) != 0)
            break;
        one = &held[random_below(random, SLOTS)];
        int result = htw_reschedule(scene.scheduler, one->handle, HTW_MILLISECOND);
        CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == HTW_GONE ||
              result == -ESHUTDOWN);
        if (random_one_in(random, 16))
            htw_group_pause(scene.group);
        else if (random_one_in(random, 8))
            htw_group_resume(scene.group);
        else if (random_one_in(random, 16))
            htw_group_cancel(scene.group, NULL, NULL);
    }
    for (unsigned i = 0; i < SLOTS; i++) /* while the visitor is at work */
        end_one(random, &held[i]);
}

static void work(struct stress_thread *thread) {
    if (thread->index < THREADS - 2) {
        use(&thread->random);
        return;
    }
    stress_sleep_ns((int64_t)random_below(&thread->random, 8 * (uint64_t)HTW_MILLISECOND));
    CHECK_EQUAL(htw_scheduler_stop(scene.scheduler, stress_item_visit, NULL), 0);
    atomic_fetch_add(&scene.stopped, 1);
    CHECK_EQUAL(htw_schedule(scene.scheduler, 0, expired, NULL, NULL), -ESHUTDOWN);
    struct htw_scheduler_stats stats = stress_stats(scene.scheduler);
    CHECK_EQUAL(stats.running, 0);
}

static void once(const struct htw_scheduler_options *options) {
    pthread_t runners[RUNNERS];
    stress_items_reset();
    scene = (struct scene) { .scheduler = stress_create(options) };
    CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.group), 0);
    queue.over = false;
    for (uintptr_t i = 0; i < RUNNERS && options->executor != NULL; i++)
        pthread_create(&runners[i], NULL, run_tasks, (void *)(i + 100));
    stress_run(THREADS, work, NULL);
    /* A runner may have yet to release what it was given back by its last drop. */
    end_queue();
    for (unsigned i = 0; i < RUNNERS && options->executor != NULL; i++)
        pthread_join(runners[i], NULL);
    CHECK_EQUAL(htw_group_count(scene.group), 0);
    htw_group_destroy(scene.group);
    struct htw_scheduler_stats stats = stress_check_stats(scene.scheduler);
    CHECK_EQUAL(stats.scheduled, scene.scheduled);
    CHECK_EQUAL(stats.handed_back, atomic_load(&stress_items_visited));
    CHECK_EQUAL(stats.pending, 0);
    CHECK_EQUAL(atomic_load(&stress_items_created), atomic_load(&stress_items_released));
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

static void part(uint32_t workers, uint32_t shards, bool has_executor) {
    stress_part("stop: %u workers, %u shards%s", workers, shards,
                has_executor ? ", an executor" : "");
    const struct htw_executor executor = { execute, &queue };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.shards = shards;
    options.expirers = 2;
    options.executor = has_executor ? &executor : NULL;
    while (stress_goes_on())
        once(&options);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 5);
    part(0, 1, false);
    part(1, 2, false);
    part(4, 8, false);
    part(0, 2, true);
    part(0, 1, true);
    return 0;
}
