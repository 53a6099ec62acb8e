/* SPDX-License-Identifier: MIT */
/*
 * give_back.c - an otherwise idle scheduler gives memory back, whatever way many timers have
 * ended, and then sleeps on.
 *
 * The expirer wakes up to give the memory back. Each way runs on a scheduler of its own, so that
 * nothing else wakes it.
 */
/* holds: scheduler-17 */
#include "stress.h"

#include <stdio.h>

#define TIMERS 20000u /* some five pages */

/* Of these at most one is kept; what else may have grown takes less than a second one. */
#define PAGE_BYTES (256u * 1024)

static struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    htw_handle handles[TIMERS];
    _Atomic uint64_t runs;
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
    atomic_fetch_add(&scene.runs, 1);
}

static void arm(int64_t delay_ns) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = expired;
    spec.when_ns = delay_ns;
    spec.group = scene.group;
    for (unsigned i = 0; i < TIMERS; i++)
        CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, &scene.handles[i], NULL), 0);
}

/* All but each `kept`-th. */
static void cancel_except(unsigned kept) {
    for (unsigned i = 0; i < TIMERS; i++)
        if (i % kept != 0)
            CHECK_EQUAL(htw_cancel(scene.scheduler, scene.handles[i]), HTW_CANCELLED);
}

static void cancel_all(void) {
    cancel_except(TIMERS);
    CHECK_EQUAL(htw_cancel(scene.scheduler, scene.handles[0]), HTW_CANCELLED);
}

/* ---- how they end */

static void by_expiry(void) {
    arm(HTW_MILLISECOND);
    stress_await(&scene.runs, TIMERS);
}

static void by_cancel(void) {
    arm(HTW_NEVER_NS);
    cancel_all();
}

/* So few that they are not worth leaving to the thread that arms next. */
static void by_expiry_of_the_last_of_each_page(void) {
    unsigned kept = 2000, count = 0;
    arm(HTW_NEVER_NS);
    cancel_except(kept);
    for (unsigned i = 0; i < TIMERS; i += kept, count++)
        CHECK_EQUAL(htw_reschedule(scene.scheduler, scene.handles[i], HTW_MILLISECOND), HTW_MOVED);
    stress_await(&scene.runs, count);
}

static void cancel_elsewhere(struct stress_thread *thread) {
    cpu = 1;
    cancel_all();
    (void)thread;
}

static void by_cancel_on_another_cpu(void) {
    arm(HTW_NEVER_NS);
    stress_run(1, cancel_elsewhere, NULL);
}

/* The expirer leaves the records to a thread that has armed that many since; it does not come. */
static void by_cancel_on_another_cpu_while_this_one_arms(void) {
    by_cancel_on_another_cpu();
    arm(HTW_NEVER_NS);
    cancel_all();
    by_cancel_on_another_cpu();
}

static void by_cancel_of_their_group(void) {
    CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.group), 0);
    arm(HTW_NEVER_NS);
    CHECK_EQUAL(htw_group_cancel(scene.group, NULL, NULL), TIMERS);
}

static const struct way {
    const char *name;
    void (*end)(void);
} ways[] = {
    { "expire", by_expiry },
    { "cancel", by_cancel },
    { "cancel, and the last of each page expire", by_expiry_of_the_last_of_each_page },
    { "cancel on another CPU", by_cancel_on_another_cpu },
    { "cancel on another CPU, and arm", by_cancel_on_another_cpu_while_this_one_arms },
    { "cancel their group", by_cancel_of_their_group },
};

static void try_way(const struct way *way, unsigned workers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 2;
    options.workers = workers;
    options.start_threads = true;
    scene = (struct scene) { .scheduler = stress_create(&options) };
    uint64_t before = stress_stats(scene.scheduler).memory_bytes;
    stress_await_idle(scene.scheduler);
    way->end();
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (stress_stats(scene.scheduler).memory_bytes > before + 2 * PAGE_BYTES) {
        if (stress_now_ns() > limit_ns)
            stress_fail(__FILE__, __LINE__, "%s: %llu bytes stay", way->name,
                        (unsigned long long)stress_stats(scene.scheduler).memory_bytes);
        stress_sleep_ns(HTW_MILLISECOND);
    }
    stress_await_idle(scene.scheduler);
    htw_group_destroy(scene.group);
    stress_finish(scene.scheduler);
}

/* All in turn, from a random one on, for as long as there is time. */
int main(int argc, char **argv) {
    stress_begin(argc, argv, 1);
    stress_part("memory");
    unsigned count = sizeof(ways) / sizeof(ways[0]) * 3; /* 0 to 2 workers */
    struct random_source random = stress_random(0);
    unsigned next = (unsigned)random_below(&random, count);
    do {
        printf("  %s, %u workers\n", ways[next / 3].name, next % 3);
        fflush(stdout);
        try_way(&ways[next / 3], next % 3);
        next = (next + 1) % count;
    } while (stress_goes_on());
    return 0;
}
