/* SPDX-License-Identifier: MIT */
/*
 * limit.c - eight threads reach `max_pending` and go below it.
 *
 * Each thread counts what it knows to be pending: up after a schedule has succeeded, down before a
 * cancel and when a callback starts. That count is at most the number of pending timers, so it
 * must not exceed the limit. In the end nothing has leaked: one thread can arm exactly as many
 * timers as the limit says.
 */
#include "stress.h"

#include <stdio.h>

#define THREADS 8u
#define HELD_MAX 256u

struct scene {
    struct htw_scheduler *scheduler;
    uint64_t limit;
    uint64_t share; /* the most that a thread holds; 0: as many as it can get */
    _Atomic int64_t pending;
    _Atomic uint64_t refused;
};

static struct scene scene;

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    stress_fail(__FILE__, __LINE__, "it was due in an hour");
}

static void soon(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
}

static void acquire(htw_handle *held, uint64_t *count) {
    int result = htw_schedule(scene.scheduler, 3600 * HTW_SECOND, never, NULL, &held[*count]);
    if (result != 0) {
        CHECK_EQUAL(result, -EAGAIN);
        atomic_fetch_add_explicit(&scene.refused, 1, memory_order_relaxed);
        return;
    }
    ++*count;
    int64_t pending = atomic_fetch_add(&scene.pending, 1) + 1;
    CHECK(pending <= (int64_t)scene.limit);
}

static void release(htw_handle *held, uint64_t *count) {
    atomic_fetch_sub(&scene.pending, 1);
    CHECK_EQUAL(htw_cancel(scene.scheduler, held[--*count]), HTW_CANCELLED);
}

static void work(struct stress_thread *thread) {
    htw_handle held[HELD_MAX];
    uint64_t count = 0;
    uint64_t most = scene.share > 0 ? scene.share : HELD_MAX;
    while (stress_goes_on()) {
        uint64_t wanted = random_below(&thread->random, most + 1);
        for (uint64_t i = count; i < wanted; i++)
            acquire(held, &count);
        if (scene.share == 0) { /* these leave the limit by expiry */
            int error = htw_schedule(scene.scheduler, 0, soon, NULL,
                                     NULL); /* -EAGAIN where it is reached */
            (void)error;
        }
        while (count > wanted)
            release(held, &count);
    }
    while (count > 0)
        release(held, &count);
}

static void check_exact(void) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (htw_pending(scene.scheduler) > 0)
        CHECK(stress_now_ns() < limit_ns);
    for (uint64_t i = 0; i < scene.limit; i++)
        CHECK_EQUAL(htw_schedule(scene.scheduler, HTW_NEVER_NS, never, NULL, NULL), 0);
    for (unsigned i = 0; i < 10; i++)
        CHECK_EQUAL(htw_schedule(scene.scheduler, HTW_NEVER_NS, never, NULL, NULL), -EAGAIN);
    CHECK_EQUAL(htw_pending(scene.scheduler), scene.limit);
}

static void part(uint32_t shards, uint64_t limit, uint64_t share) {
    stress_part("limit: %u shards, at most %u, %u a thread", shards, (unsigned)limit,
                (unsigned)share);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = shards;
    options.max_pending = limit;
    scene = (struct scene) { .scheduler = stress_create(&options), .limit = limit, .share = share };
    stress_run(THREADS, work, NULL);
    /* Where all shares together are within the limit, none should be; but while a thread fetches
       credit from another shard, a third one may see it nowhere. So this is only printed. */
    printf("  %llu refused\n", (unsigned long long)scene.refused);
    check_exact();
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 5);
    part(1, 100, 0);
    part(2, 700, 0);
    part(8, 65, 0);
    part(2, 400, 400 / THREADS);
    part(2, THREADS, 1);
    return 0;
}
