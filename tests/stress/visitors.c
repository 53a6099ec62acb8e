/* SPDX-License-Identifier: MIT */
/*
 * visitors.c - threads of other shards ask for timers whose memory is being given back.
 *
 * A thread that cancels a timer of another shard reads its record without the lock of that shard
 * (src/scheduler/state.h). Each thread here stays on a shard of its own. One arms and cancels whole
 * pages of timers, and waits until their memory has been given back; the others cancel the same
 * timers, which have ended, over and over. A record that is given back too early is not mapped any
 * more when they read it.
 */
/* holds: scheduler-17 */
#include "stress.h"

#include <stdio.h>

#define VISITORS 4u
#define TIMERS 20000u /* some five pages */

/* Of these at most one is kept. */
#define PAGE_BYTES (256u * 1024)

static struct scene {
    struct htw_scheduler *scheduler;
    _Atomic htw_handle handles[TIMERS];
    _Atomic bool over;
    uint64_t rounds;
} scene;

static _Thread_local int cpu;

/* Instead of the C library's. */
int sched_getcpu(void);
int sched_getcpu(void) {
    return cpu;
}

static void expired(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
}

static void arm_all(void) {
    for (unsigned i = 0; i < TIMERS; i++) {
        htw_handle handle;
        CHECK_EQUAL(htw_schedule(scene.scheduler, HTW_NEVER_NS, expired, NULL, &handle), 0);
        atomic_store_explicit(&scene.handles[i], handle, memory_order_relaxed);
    }
}

static void cancel_all(void) {
    for (unsigned i = 0; i < TIMERS; i++)
        CHECK(htw_cancel(scene.scheduler, atomic_load(&scene.handles[i])) >= 0);
}

static void own(void) {
    uint64_t least = stress_stats(scene.scheduler).memory_bytes;
    while (stress_goes_on()) {
        arm_all();
        cancel_all();
        int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
        while (stress_stats(scene.scheduler).memory_bytes > least + 2 * PAGE_BYTES) {
            CHECK(stress_now_ns() < limit_ns);
            stress_sleep_ns(HTW_MILLISECOND);
        }
        scene.rounds++;
    }
    atomic_store(&scene.over, true);
}

static void work(struct stress_thread *thread) {
    cpu = (int)thread->index;
    if (thread->index == 0)
        own();
    while (!atomic_load(&scene.over)) {
        uint64_t place = random_below(&thread->random, TIMERS);
        htw_handle handle = atomic_load_explicit(&scene.handles[place], memory_order_relaxed);
        int result = htw_cancel(scene.scheduler, handle);
        CHECK(result == HTW_GONE || result == HTW_CANCELLED);
    }
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 1);
    stress_part("visitors");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 1 + VISITORS;
    scene.scheduler = stress_create(&options);
    stress_run(1 + VISITORS, work, NULL);
    printf("  %llu times %u timers\n", (unsigned long long)scene.rounds, TIMERS);
    stress_finish(scene.scheduler);
    return 0;
}
