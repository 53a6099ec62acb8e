/* SPDX-License-Identifier: MIT */
/*
 * keys.c - eight threads replace, cancel and find a few keys while the timers expire, with and
 * without a limit that is reached all the time. Every argument comes back to exactly one owner.
 */
/* holds: scheduler-25 */
#include "stress.h"

#define THREADS 8u
#define KEYS 5u

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    _Atomic uint64_t scheduled, cancelled, refused;
};

static void expired(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    if (!(stress_item_tag(arg) & STRESS_HOOKED))
        stress_item_release(arg);
    /* The key is free again, so that the next one may have it from here on. */
    int outcome = htw_cancel(expiration->scheduler, expiration->handle);
    CHECK(outcome == HTW_RUNNING || outcome == HTW_GONE);
}

static struct htw_spec some_spec(struct scene *scene, struct random_source *random,
                                 const uint64_t *key) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = expired;
    spec.when_ns = (int64_t)random_below(random, (uint64_t)HTW_MILLISECOND);
    if (random_one_in(random, 8))
        spec.when_ns = HTW_NEVER_NS;
    spec.key = key;
    spec.key_size = sizeof(*key);
    spec.group = *key % 2 == 0 ? scene->group : NULL;
    spec.keep_existing = random_one_in(random, 8);
    spec.clock = stress_some_clock(random);
    return spec;
}

static void schedule(struct scene *scene, struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    struct htw_spec spec = some_spec(scene, random, &key);
    bool hooked = random_one_in(random, 4);
    struct stress_item *item = stress_item_create(hooked ? STRESS_HOOKED : 0);
    spec.arg = item;
    spec.release = hooked ? stress_item_hook : NULL;
    struct htw_unexpired replaced = { .arg = scene };
    int result = htw_schedule_spec(scene->scheduler, &spec, NULL, &replaced);
    if (result == 0 && replaced.handle != 0) {
        if (replaced.arg != NULL) /* the other had a hook */
            stress_item_release(replaced.arg);
        atomic_fetch_add_explicit(&scene->cancelled, 1, memory_order_relaxed);
    } else {
        CHECK(replaced.arg == (result == 0 ? NULL : scene));
        CHECK(result == 0 || (result == -EEXIST && spec.keep_existing) || result == -EAGAIN);
    }
    if (result < 0)
        stress_item_release(item);
    else
        atomic_fetch_add_explicit(&scene->scheduled, 1, memory_order_relaxed);
    if (result == -EAGAIN)
        atomic_fetch_add_explicit(&scene->refused, 1, memory_order_relaxed);
}

static void cancel(struct scene *scene, struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    struct htw_group *group = key % 2 == 0 ? scene->group : NULL;
    void *arg = NULL;
    int result;
    if (random_one_in(random, 2)) {
        result = htw_cancel_key(scene->scheduler, group, &key, sizeof(key), &arg);
    } else {
        htw_handle handle = htw_find_key(scene->scheduler, group, &key, sizeof(key));
        int64_t delay_ns = (int64_t)random_below(random, (uint64_t)HTW_MILLISECOND);
        result = htw_reschedule(scene->scheduler, handle, delay_ns);
        CHECK(result == HTW_MOVED || result == HTW_RUNNING || result == HTW_GONE);
        return;
    }
    CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (arg != NULL)
        stress_item_release(arg);
    if (result == HTW_CANCELLED)
        atomic_fetch_add_explicit(&scene->cancelled, 1, memory_order_relaxed);
}

static void work(struct stress_thread *thread) {
    struct scene *scene = thread->context;
    while (stress_goes_on())
        for (unsigned i = 0; i < 16; i++)
            if (random_below(&thread->random, 4) > 0)
                schedule(scene, &thread->random);
            else
                cancel(scene, &thread->random);
}

/* The limit is as it was: exactly so many timers can be armed, and one replaced. */
static void check_limit(struct scene *scene, uint64_t max_pending) {
    for (uint64_t key = 0; key < KEYS; key++) {
        void *arg = NULL;
        struct htw_group *group = key % 2 == 0 ? scene->group : NULL;
        if (htw_cancel_key(scene->scheduler, group, &key, sizeof(key), &arg) == HTW_CANCELLED &&
            arg != NULL)
            stress_item_release(arg);
    }
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (htw_pending(scene->scheduler) > 0)
        CHECK(stress_now_ns() < limit_ns);
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = expired;
    spec.when_ns = HTW_NEVER_NS;
    for (uint64_t i = 0; i <= max_pending; i++) {
        uint64_t key = 1000 + i;
        spec.key = &key;
        spec.key_size = sizeof(key);
        spec.arg = stress_item_create(0);
        CHECK_EQUAL(htw_schedule_spec(scene->scheduler, &spec, NULL, NULL),
                    i < max_pending ? 0 : -EAGAIN);
        if (i == max_pending)
            stress_item_release(spec.arg);
    }
    CHECK_EQUAL(htw_pending(scene->scheduler), max_pending);
}

static void part(uint32_t workers, uint32_t shards, uint64_t max_pending) {
    stress_part("keys: %u workers, %u shards, at most %u", workers, shards, (unsigned)max_pending);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.shards = shards;
    options.tick_ns = 10 * HTW_MICROSECOND;
    options.max_pending = max_pending;
    static struct scene scene;
    scene = (struct scene) { .scheduler = stress_create(&options) };
    CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.group), 0);
    stress_run(THREADS, work, &scene);
    struct htw_scheduler_stats before = stress_stats(scene.scheduler);
    CHECK_EQUAL(before.scheduled, scene.scheduled);
    CHECK_EQUAL(before.cancelled, scene.cancelled);
    CHECK_EQUAL(before.refused, scene.refused);
    if (max_pending > 0)
        check_limit(&scene, max_pending);
    htw_group_destroy(scene.group);
    stress_finish(scene.scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 5);
    part(0, 1, 0);
    part(2, 2, 0);
    part(2, 8, 2);
    part(2, 2, 3);
    part(1, 1, 1);
    return 0;
}
