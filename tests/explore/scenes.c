/* SPDX-License-Identifier: MIT */
/* scenes.c - what all scenes use. */
#include "scenes.h"

#include <time.h>

struct scene_state scene;
const struct scene *scene_present;
unsigned scene_variant;

void scene_open(unsigned shards, unsigned workers, void (*change)(struct htw_scheduler_options *)) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.allocator = &explore_allocator;
    options.shards = shards;
    options.expirers = 1;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.wheel_size = 4;
    if (change != NULL)
        change(&options);
    REQUIRE(htw_scheduler_create(&scene.scheduler, &options) == 0);
}

void scene_settle(void) {
    explore_sleep_ns(1000 * MS);
    REQUIRE(htw_scheduler_stop(scene.scheduler, NULL, NULL) == 0);
    scene.is_settled = true;
}

void scene_play(void) {
    memset(&scene, 0, sizeof(scene));
    scene_present->play();
    if (scene.scheduler == NULL)
        return;
    if (!scene.is_settled)
        scene_settle();
    REQUIRE(htw_scheduler_destroy(scene.scheduler) == 0);
}

void scene_count(void *arg, const struct htw_expiration *expiration) {
    struct scene_timer *timer = arg;
    REQUIRE(expiration->late_ns >= 0);
    timer->runs++;
    timer->ran = true;
}

void scene_stay(void *arg, const struct htw_expiration *expiration) {
    struct scene_timer *timer = arg;
    REQUIRE(!timer->is_inside);
    timer->is_inside = true;
    scene_count(arg, expiration);
    atomic_fetch_add_explicit(&scene.stage, 1, memory_order_relaxed);
    timer->is_inside = false;
}

void scene_arm(unsigned number, int64_t delay_ns, htw_callback *callback) {
    struct scene_timer *timer = &scene.timers[number];
    REQUIRE(htw_schedule(scene.scheduler, delay_ns, callback, timer, &timer->handle) == 0);
}

void scene_sleep_alone(int64_t delay_ns) {
    pthread_mutex_t mutex;
    pthread_cond_t never;
    int64_t until_ns = explore_now_ns() + delay_ns;
    struct timespec until = { until_ns / HTW_SECOND, until_ns % HTW_SECOND };
    pthread_mutex_init(&mutex, NULL);
    pthread_cond_init(&never, NULL);
    pthread_mutex_lock(&mutex);
    pthread_cond_timedwait(&never, &mutex, &until);
    pthread_mutex_unlock(&mutex);
}

static void *run_thread(void *thread) {
    struct scene_thread *self = thread;
    explore_set_cpu(self->cpu);
    self->body();
    return NULL;
}

void scene_start(int cpu, void (*body)(void)) {
    struct scene_thread *thread = &scene.threads[scene.thread_count++];
    REQUIRE(scene.thread_count <= SCENE_THREADS);
    thread->cpu = cpu;
    thread->body = body;
    REQUIRE(pthread_create(&thread->thread, NULL, run_thread, thread) == 0);
}

void scene_join(void) {
    while (scene.thread_count > 0)
        pthread_join(scene.threads[--scene.thread_count].thread, NULL);
}
