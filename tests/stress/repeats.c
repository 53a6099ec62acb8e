/* SPDX-License-Identifier: MIT */
/*
 * repeats.c - four threads and the callbacks cancel and move repeating timers and change their
 * periods, while groups are paused, resumed and cancelled.
 *
 * No callback overlaps with itself, every hook is called once, and none starts once a pause or a
 * cancel has returned.
 */
#include "stress.h"

#include <stdlib.h>

#define THREADS 4u
#define GROUPS 3u
#define SLOTS 48u

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *groups[GROUPS];
    _Atomic htw_handle handles[THREADS][SLOTS];
    _Atomic uint64_t cancelled;
};

/* What a timer has for an argument; its hook ends it. */
struct pulse {
    struct stress_item *item;
    _Atomic unsigned running;
    _Atomic uint64_t runs;
    _Atomic htw_handle handle; /* once it has run */
};

static struct scene scene;

static struct pulse *pulse_create(void) {
    struct pulse *pulse = malloc(sizeof(*pulse));
    CHECK(pulse != NULL);
    *pulse = (struct pulse) { .item = stress_item_create(STRESS_HOOKED) };
    return pulse;
}

/* In the hook of the last run it runs still, but cannot be made to run again. */
static void pulse_end(void *arg) {
    struct pulse *pulse = arg;
    htw_handle handle = atomic_load_explicit(&pulse->handle, memory_order_relaxed);
    int result = htw_reschedule(scene.scheduler, handle, 0);
    CHECK(result == HTW_RUNNING || result == HTW_GONE || result == -ESHUTDOWN);
    CHECK_EQUAL(htw_is_pending(scene.scheduler, handle), false);
    result = htw_set_period(scene.scheduler, handle, HTW_MILLISECOND);
    CHECK(result == HTW_GONE);
    CHECK_EQUAL(atomic_load_explicit(&pulse->running, memory_order_relaxed), 0);
    stress_item_release(pulse->item);
    free(pulse);
}

static void beat(void *arg, const struct htw_expiration *expiration) {
    struct pulse *pulse = arg;
    stress_check_firing(expiration);
    stress_item_tag(pulse->item);
    CHECK_EQUAL(atomic_fetch_add_explicit(&pulse->running, 1, memory_order_relaxed), 0);
    uint64_t run = atomic_fetch_add_explicit(&pulse->runs, 1, memory_order_relaxed);
    atomic_store_explicit(&pulse->handle, expiration->handle, memory_order_relaxed);
    int result;
    switch (run % 16) {
    case 3:
        result = htw_reschedule(expiration->scheduler, expiration->handle, HTW_MICROSECOND);
        CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == -ESHUTDOWN);
        break;
    case 7:
        result = htw_set_period(expiration->scheduler, expiration->handle, 300 * HTW_MICROSECOND);
        CHECK(result == HTW_MOVED || result == HTW_GONE || result == -EINVAL);
        break;
    case 15:
        CHECK_EQUAL(htw_cancel_wait(expiration->scheduler, expiration->handle), -EDEADLK);
        break;
    default:
        break;
    }
    CHECK_EQUAL(atomic_fetch_sub_explicit(&pulse->running, 1, memory_order_relaxed), 1);
}

static void schedule(struct random_source *random, _Atomic htw_handle *slot) {
    struct htw_spec spec = HTW_SPEC_INIT;
    struct pulse *pulse = pulse_create();
    uint64_t group = random_below(random, GROUPS + 1);
    spec.callback = beat;
    spec.arg = pulse;
    spec.when_ns = (int64_t)random_below(random, (uint64_t)HTW_MILLISECOND);
    spec.period_ns = random_one_in(random, 8)
                         ? 0
                         : 1 + (int64_t)random_below(random, 500 * (uint64_t)HTW_MICROSECOND);
    spec.repeat = (enum htw_repeat)random_below(random, 4);
    spec.group = group < GROUPS ? scene.groups[group] : NULL;
    spec.release = pulse_end;
    htw_handle handle;
    int result = htw_cancel(scene.scheduler, atomic_load(slot));
    if (result == HTW_CANCELLED)
        atomic_fetch_add(&scene.cancelled, 1);
    CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, &handle, NULL), 0);
    atomic_store(slot, handle);
}

static void count_one(void *context, const struct htw_unexpired *unexpired) {
    struct pulse *pulse = unexpired->arg;
    stress_item_tag(pulse->item);
    ++*(int64_t *)context;
}

static void act_on_group(struct random_source *random) {
    struct htw_group *group = scene.groups[random_below(random, GROUPS)];
    switch (random_below(random, 4)) {
    case 0: {
        int64_t visited = 0;
        int64_t cancelled = htw_group_cancel(group, count_one, &visited);
        CHECK_EQUAL(cancelled, visited);
        atomic_fetch_add(&scene.cancelled, (uint64_t)cancelled);
        break;
    }
    case 1:
        CHECK_EQUAL(htw_group_pause(group), 0);
        break;
    default:
        CHECK_EQUAL(htw_group_resume(group), 0);
        break;
    }
}

static void act_on_timer(struct random_source *random) {
    htw_handle handle =
        atomic_load(&scene.handles[random_below(random, THREADS)][random_below(random, SLOTS)]);
    int64_t ns = 1 + (int64_t)random_below(random, (uint64_t)HTW_MILLISECOND);
    int result;
    switch (random_below(random, 4)) {
    case 0:
        result = htw_set_period(scene.scheduler, handle, ns);
        CHECK(result == HTW_MOVED || result == HTW_GONE || result == -EINVAL);
        break;
    case 1:
        result = htw_reschedule(scene.scheduler, handle, ns);
        CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == HTW_GONE);
        break;
    default:
        result = random_one_in(random, 2) ? htw_cancel(scene.scheduler, handle)
                                          : htw_cancel_wait(scene.scheduler, handle);
        CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
        if (result == HTW_CANCELLED)
            atomic_fetch_add(&scene.cancelled, 1);
        break;
    }
}

static void work(struct stress_thread *thread) {
    while (stress_goes_on()) {
        for (unsigned i = 0; i < 24; i++)
            act_on_timer(&thread->random);
        for (unsigned i = 0; i < 8; i++)
            schedule(&thread->random,
                     &scene.handles[thread->index][random_below(&thread->random, SLOTS)]);
        act_on_group(&thread->random);
    }
}

static void part(uint32_t workers, uint32_t shards) {
    stress_part("repeats: %u workers, %u shards", workers, shards);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.shards = shards;
    options.tick_ns = 100 * HTW_MICROSECOND;
    scene = (struct scene) { .scheduler = stress_create(&options) };
    for (unsigned i = 0; i < GROUPS; i++)
        CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.groups[i]), 0);
    stress_run(THREADS, work, NULL);
    CHECK_EQUAL(stress_stats(scene.scheduler).cancelled, scene.cancelled);
    for (unsigned i = 0; i < GROUPS; i++) {
        htw_group_pause(scene.groups[i]); /* paused ones are handed back, too */
        if (i > 0)
            htw_group_destroy(scene.groups[i]);
    }
    int64_t visited = 0;
    CHECK_EQUAL(htw_scheduler_stop(scene.scheduler, count_one, &visited), 0);
    CHECK_EQUAL(htw_group_count(scene.groups[0]), 0);
    htw_group_destroy(scene.groups[0]);
    struct htw_scheduler_stats stats = stress_check_stats(scene.scheduler);
    CHECK_EQUAL(stats.handed_back, visited);
    CHECK_EQUAL(stats.pending, 0);
    CHECK_EQUAL(atomic_load(&stress_items_created), atomic_load(&stress_items_released));
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 4);
    part(0, 1);
    part(1, 2);
    part(4, 2);
    part(4, 8);
    return 0;
}
