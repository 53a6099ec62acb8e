/* SPDX-License-Identifier: MIT */
/*
 * priorities.c - threads of all priorities that one may have without privileges share a scheduler.
 *
 * Each arms timers that are due soon, earlier than all others as often as not, and cancels some. Every
 * timer must run or be cancelled, whatever thread was stopped where. How late it may be is not
 * promised (docs/decisions.md, "Locks have no priority inheritance"), so that is not looked at.
 */
/* holds: scheduler-19 */
#include "stress.h"

#include <sched.h>
#include <sys/resource.h>
#include <unistd.h>

#define PENDING_MAX 64u

struct scene {
    struct htw_scheduler *scheduler;
    _Atomic uint64_t armed, ended;
};

static struct scene scene;

static void run(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
    atomic_fetch_add(&scene.ended, 1);
}

static void set_priority(unsigned index) {
    static const int policies[] = { SCHED_OTHER, SCHED_OTHER, SCHED_BATCH, SCHED_IDLE };
    struct sched_param none = { 0 };
    CHECK_EQUAL(sched_setscheduler(0, policies[index % 4], &none), 0);
    if (index % 4 == 1)
        CHECK_EQUAL(setpriority(PRIO_PROCESS, (id_t)gettid(), 19), 0);
}

static void arm(struct stress_thread *thread) {
    htw_handle handle;
    int64_t delay_ns = (int64_t)random_below(&thread->random, 4000) * HTW_MICROSECOND;
    atomic_fetch_add(&scene.armed, 1);
    CHECK_EQUAL(htw_schedule(scene.scheduler, delay_ns, run, NULL, &handle), 0);
    if (random_below(&thread->random, 2) == 0 &&
        htw_cancel(scene.scheduler, handle) == HTW_CANCELLED)
        atomic_fetch_add(&scene.ended, 1);
}

static void work(struct stress_thread *thread) {
    set_priority(thread->index);
    while (stress_goes_on()) {
        if (htw_pending(scene.scheduler) < PENDING_MAX)
            arm(thread);
        else
            stress_sleep_ns(HTW_MILLISECOND); /* so that what is armed is often the earliest */
    }
}

static void part(uint32_t shards, uint32_t workers) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    stress_part("priorities: %u shards, %u workers", shards, workers);
    options.shards = shards;
    options.workers = workers;
    scene = (struct scene) { .scheduler = stress_create(&options) };
    stress_run(8, work, NULL);
    stress_await(&scene.ended, scene.armed);
    stress_await_idle(scene.scheduler);
    stress_check_stats(scene.scheduler);
    CHECK_EQUAL(htw_scheduler_destroy(scene.scheduler), 0);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 2);
    part(1, 0);
    part(4, 2);
    return 0;
}
