/* SPDX-License-Identifier: MIT */
/*
 * pages.c - pages of records are given back while other threads use handles into them.
 *
 * Hundreds of thousands of timers come and go in bursts, so that nearly all pages become empty
 * each time. Three threads cancel, move and query handles, nearly all of which are stale or about
 * to be.
 */
#include "stress.h"

#include "../../src/scheduler/state.h"

#include <stdio.h>

/* Some ten pages. */
#define THREADS 4u
#define BURST 40000u

struct scene {
    struct htw_scheduler *scheduler;
    _Atomic htw_handle handles[BURST];
    _Atomic uint64_t cancelled, scheduled, least_bytes, most_bytes;
    _Atomic bool over;
};

static struct scene scene;

static void expired(void *arg, const struct htw_expiration *expiration) {
    CHECK(arg == &scene);
    stress_check_firing(expiration);
}

static void cancel(htw_handle handle) {
    int result = htw_cancel(scene.scheduler, handle);
    CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (result == HTW_CANCELLED)
        atomic_fetch_add_explicit(&scene.cancelled, 1, memory_order_relaxed);
}

static void note_memory(void) {
    uint64_t bytes = stress_stats(scene.scheduler).memory_bytes;
    if (bytes < atomic_load(&scene.least_bytes))
        atomic_store(&scene.least_bytes, bytes);
    if (bytes > atomic_load(&scene.most_bytes))
        atomic_store(&scene.most_bytes, bytes);
}

/* Some expire, the others are cancelled; then there is time for the pages to be given back. */
static void burst(struct random_source *random) {
    uint64_t count = 1 + random_below(random, BURST);
    for (uint64_t i = 0; i < count; i++) {
        htw_handle handle;
        int64_t delay_ns = random_one_in(random, 2) ? 0 : HTW_NEVER_NS;
        CHECK_EQUAL(htw_schedule(scene.scheduler, delay_ns, expired, &scene, &handle), 0);
        atomic_store_explicit(&scene.handles[i], handle, memory_order_release);
    }
    atomic_fetch_add(&scene.scheduled, count);
    note_memory();
    for (uint64_t i = 0; i < count; i++)
        cancel(atomic_load(&scene.handles[i]));
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (htw_pending(scene.scheduler) > 0) {
        CHECK(stress_now_ns() < limit_ns);
        stress_sleep_ns(100 * HTW_MICROSECOND);
    }
    stress_sleep_ns(60 * HTW_MILLISECOND);
    note_memory();
}

static void look(struct random_source *random) {
    htw_handle handle = atomic_load(&scene.handles[random_below(random, BURST)]);
    int64_t deadline_ns;
    switch (random_below(random, 8)) {
    case 0:
        htw_is_pending(scene.scheduler, handle);
        break;
    case 1:
        htw_deadline(scene.scheduler, handle, &deadline_ns);
        break;
    case 2:
        htw_reschedule(scene.scheduler, handle, 0);
        break;
    default:
        cancel(handle);
        break;
    }
}

static void work(struct stress_thread *thread) {
    if (thread->index > 0)
        while (!atomic_load(&scene.over))
            look(&thread->random);
    while (thread->index == 0 && stress_goes_on())
        burst(&thread->random);
    atomic_store(&scene.over, true);
}

static void part(uint32_t shards, uint32_t index_bits) {
    stress_part("pages: %u shards, %u bits of index", shards, index_bits);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = shards;
    scene = (struct scene) { .least_bytes = UINT64_MAX };
    CHECK_EQUAL(htw__scheduler_create(&scene.scheduler, &options, index_bits), 0);
    stress_run(THREADS, work, NULL);
    struct htw_scheduler_stats stats = stress_finish(scene.scheduler);
    CHECK_EQUAL(stats.scheduled, scene.scheduled);
    CHECK_EQUAL(stats.cancelled, scene.cancelled);
    printf("  %llu timers, %llu to %llu KiB\n", (unsigned long long)stats.scheduled,
           (unsigned long long)scene.least_bytes / 1024,
           (unsigned long long)scene.most_bytes / 1024);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 3);
    part(1, 0);
    part(2, 0);
    part(2, 24);
    return 0;
}
