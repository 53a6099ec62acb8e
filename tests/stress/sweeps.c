/* SPDX-License-Identifier: MIT */
/*
 * sweeps.c - operations on one group of several hundred timers, which go over them in slices,
 * compete.
 *
 * A cancel misses no timer that was there before, a resume none that was paused, and the last
 * pause holds all.
 */
#include "stress.h"

enum { TIMERS = 500, THREADS = 4 };

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    htw_handle handles[TIMERS];
    _Atomic uint64_t cancelled;
    bool cancels;
};

static struct scene scene;

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    (void)expiration;
    stress_fail(__FILE__, __LINE__, "it was due in an hour");
}

static void act(struct stress_thread *thread) {
    for (unsigned i = 0; i < 2; i++) {
        unsigned what = (unsigned)random_below(&thread->random, 4);
        if (what == 0 && scene.cancels && thread->index == 0)
            atomic_fetch_add(&scene.cancelled, (uint64_t)htw_group_cancel(scene.group, NULL, NULL));
        else if (what % 2 == 0)
            htw_group_pause(scene.group);
        else
            htw_group_resume(scene.group);
        for (unsigned moves = 0; moves < 20; moves++) {
            htw_handle handle = scene.handles[random_below(&thread->random, TIMERS)];
            int result = htw_reschedule(scene.scheduler, handle, 3600 * HTW_SECOND);
            CHECK(result == HTW_MOVED || (result == HTW_GONE && scene.cancels));
        }
    }
    if (scene.cancels && thread->index == 0)
        atomic_fetch_add(&scene.cancelled, (uint64_t)htw_group_cancel(scene.group, NULL, NULL));
}

static void fill(void) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = never;
    spec.when_ns = 3600 * HTW_SECOND;
    spec.group = scene.group;
    for (unsigned i = 0; i < TIMERS; i++)
        CHECK_EQUAL(htw_schedule_spec(scene.scheduler, &spec, &scene.handles[i], NULL), 0);
}

/* Whether its time is stopped is seen from outside: the deadline of a paused timer moves along.
 */
static bool is_paused(htw_handle handle) {
    int64_t before, after;
    CHECK_EQUAL(htw_deadline(scene.scheduler, handle, &before), 0);
    int64_t now = htw_scheduler_now(scene.scheduler);
    while (htw_scheduler_now(scene.scheduler) == now)
        ;
    CHECK_EQUAL(htw_deadline(scene.scheduler, handle, &after), 0);
    CHECK(after < htw_scheduler_now(scene.scheduler) + 3601 * HTW_SECOND);
    return after != before;
}

static void check_uniform(void) {
    bool paused = is_paused(scene.handles[0]);
    for (unsigned i = 1; i < TIMERS; i++)
        CHECK_EQUAL(is_paused(scene.handles[i]), paused);
}

static void part(bool cancels) {
    stress_part("sweeps: %s", cancels ? "with cancels" : "pauses and resumes");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = 2;
    scene = (struct scene) { .scheduler = stress_create(&options), .cancels = cancels };
    CHECK_EQUAL(htw_group_create(scene.scheduler, &scene.group), 0);
    while (stress_goes_on()) {
        fill();
        atomic_store(&scene.cancelled, 0);
        stress_run(THREADS, act, NULL);
        CHECK_EQUAL(htw_group_count(scene.group), cancels ? 0 : TIMERS);
        if (cancels) {
            CHECK_EQUAL(scene.cancelled, TIMERS);
            continue;
        }
        check_uniform();
        CHECK_EQUAL(htw_group_cancel(scene.group, NULL, NULL), TIMERS);
    }
    htw_group_destroy(scene.group);
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 2);
    part(true);
    part(false);
    return 0;
}
