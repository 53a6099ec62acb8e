/* SPDX-License-Identifier: MIT */
/*
 * calendar.c - four threads schedule, move and cancel timers that repeat each second by the wall clock, each
 * with a jitter of its own, so that some run all the time; callbacks cancel and move them, too, and a
 * group is paused and resumed.
 *
 * No run is early or overlaps with itself, every hook is called once, and after htw_cancel_wait()
 * nothing runs.
 */
/* holds: calendar-8, calendar-11 */
#include "stress.h"

#include <htw/calendar.h>
#include <htw/group.h>
#include <htw/loop.h>
#include <htw/timer.h>

#include <stdlib.h>

enum { THREADS = 4, SLOTS = 32 };

struct scene {
    struct htw_scheduler *scheduler;
    struct htw_group *group;
    struct htw_zone *zone;
    struct htw_calendar every_second;
    _Atomic htw_handle handles[SLOTS];
    _Atomic uint64_t jobs, scheduled, released, runs;
};

static struct scene scene;

/* The argument of a timer; its hook ends it. */
struct job {
    bool is_live;
    _Atomic unsigned running;
    uint64_t number; /* selects the jitter, and what the callback does */
    uint64_t runs;   /* they do not overlap */
};

static void run(void *arg, const struct htw_expiration *expiration) {
    struct job *job = arg;
    REQUIRE(job->is_live);
    REQUIRE(atomic_fetch_add_explicit(&job->running, 1, memory_order_relaxed) == 0);
    REQUIRE(htw_scheduler_now_by(expiration->scheduler, HTW_CLOCK_REALTIME) >=
            expiration->deadline_ns);
    atomic_fetch_add(&scene.runs, 1);
    if (job->number % 3 == 0 && job->runs == 0) /* it then goes on with the calendar */
        (void)htw_reschedule(expiration->scheduler, expiration->handle, HTW_MILLISECOND);
    if (job->number % 5 == 0 && job->runs == 2)
        REQUIRE(htw_cancel(expiration->scheduler, expiration->handle) == HTW_RUNNING);
    job->runs++;
    REQUIRE(atomic_fetch_sub_explicit(&job->running, 1, memory_order_relaxed) == 1);
}

static void release(void *arg) {
    struct job *job = arg;
    REQUIRE(atomic_load_explicit(&job->running, memory_order_relaxed) == 0);
    REQUIRE(job->is_live);
    job->is_live = false;
    free(job);
    atomic_fetch_add(&scene.released, 1);
}

static htw_handle schedule(struct random_source *random) {
    struct htw_calendar_spec spec = HTW_CALENDAR_SPEC_INIT;
    struct job *job = malloc(sizeof(*job));
    htw_handle handle;
    REQUIRE(job != NULL);
    *job = (struct job) { .is_live = true, .number = atomic_fetch_add(&scene.jobs, 1) };
    spec.calendar = scene.every_second;
    spec.zone = scene.zone;
    spec.callback = run;
    spec.arg = job;
    spec.release = release;
    spec.jitter_ns = HTW_SECOND;
    spec.jitter_key = &job->number;
    spec.jitter_key_size = sizeof(job->number);
    spec.catch_up = (uint32_t)random_below(random, 3);
    spec.group = random_one_in(random, 4) ? scene.group : NULL;
    REQUIRE(htw_schedule_calendar(scene.scheduler, &spec, &handle, NULL) == 0);
    atomic_fetch_add(&scene.scheduled, 1);
    return handle;
}

static void act(unsigned number) {
    (void)number;
    while (stress_goes_on()) {
        _Atomic htw_handle *slot = &scene.handles[random_below(stage_random(), SLOTS)];
        htw_handle handle = atomic_load(slot);
        switch (random_below(stage_random(), 8)) {
        case 0:
        case 1:
            handle = atomic_exchange(slot, schedule(stage_random()));
            REQUIRE(htw_cancel_wait(scene.scheduler, handle) >= 0);
            REQUIRE(htw_is_pending(scene.scheduler, handle) == false);
            break;
        case 2:
            REQUIRE(htw_cancel(scene.scheduler, handle) >= 0);
            break;
        case 3:
        case 4:
            REQUIRE(htw_reschedule(scene.scheduler, handle,
                                   (int64_t)random_below(stage_random(), HTW_MILLISECOND)) >= 0);
            break;
        case 5:
            REQUIRE(htw_group_pause(scene.group) == 0);
            REQUIRE(htw_group_resume(scene.group) == 0);
            break;
        default:
            stage_sleep_ns((int64_t)random_below(stage_random(), HTW_MILLISECOND));
        }
    }
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 1);
    stress_part("calendar");
    REQUIRE(htw_calendar_cron(&scene.every_second, "* * * * * *", NULL) == 0);
    REQUIRE(htw_zone_create(&scene.zone, "Europe/Berlin") == 0);
    REQUIRE(htw_scheduler_create(&scene.scheduler, NULL) == 0);
    REQUIRE(htw_group_create(scene.scheduler, &scene.group) == 0);
    stress_run(THREADS, act);
    htw_group_destroy(scene.group);
    REQUIRE(htw_scheduler_destroy(scene.scheduler) == 0);
    htw_zone_destroy(scene.zone);
    REQUIRE(atomic_load(&scene.released) == atomic_load(&scene.scheduled));
    REQUIRE(atomic_load(&scene.runs) > 0);
    return 0;
}
