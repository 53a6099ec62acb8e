/* SPDX-License-Identifier: MIT */
/*
 * races.c - two threads want the end of one timer at the same time, over and over.
 *
 * If a cancel and an expiration race, exactly one takes effect. After cancel_wait nothing runs. A
 * timer on its way down the levels of a small wheel can be cancelled at any step.
 */
#include "stress.h"

#include <stdio.h>

enum { BATCH = 16 };

struct race {
    struct htw_scheduler *scheduler;
    _Atomic htw_handle handles[BATCH];
    struct stress_item *_Atomic items[BATCH];
    _Atomic htw_handle running[BATCH]; /* those whose callbacks run */
    _Atomic uint64_t ended;            /* timers that have run or been cancelled */
    _Atomic bool over;
    int64_t delay_ns;
    bool waits, foreign;
};

static struct race race;

static void expired(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    uint64_t i = stress_item_tag(arg);
    atomic_store(&race.running[i], expiration->handle);
    stress_item_release(arg);
    for (volatile unsigned spins = 0; spins < 100; spins++)
        ;
    htw_handle own = expiration->handle; /* another may run by now that has the number */
    atomic_compare_exchange_strong(&race.running[i], &own, 0);
    atomic_fetch_add_explicit(&race.ended, 1, memory_order_release);
}

static void cancel(unsigned i) {
    htw_handle handle = atomic_load(&race.handles[i]);
    if (handle == 0) /* none was armed yet */
        return;
    int result =
        race.waits ? htw_cancel_wait(race.scheduler, handle) : htw_cancel(race.scheduler, handle);
    CHECK(result == HTW_CANCELLED || result == HTW_RUNNING || result == HTW_GONE);
    if (race.waits) /* it runs no more */
        CHECK(atomic_load(&race.running[i]) != handle);
    if (result == HTW_CANCELLED) {
        stress_item_release(atomic_load(&race.items[i]));
        atomic_fetch_add_explicit(&race.ended, 1, memory_order_release);
    }
}

static void pause_randomly(struct random_source *random) {
    uint64_t spins = random_below(random, 3000);
    for (volatile uint64_t i = 0; i < spins; i++)
        ;
}

static void arm(struct random_source *random) {
    for (unsigned i = 0; i < BATCH; i++) {
        htw_handle handle;
        struct stress_item *item = stress_item_create(i);
        atomic_store(&race.items[i], item); /* the handle that it goes with is yet to come */
        int64_t delay_ns = race.delay_ns + (int64_t)random_below(random, 50000);
        CHECK_EQUAL(htw_schedule(race.scheduler, delay_ns, expired, item, &handle), 0);
        atomic_store(&race.handles[i], handle);
    }
}

/* The first thread arms, and waits until each timer has its end; that or the others cancel. */
static void contend(struct stress_thread *thread) {
    uint64_t armed = 0;
    while (thread->index > 0 && !atomic_load(&race.over)) {
        pause_randomly(&thread->random);
        cancel((unsigned)random_below(&thread->random, BATCH));
    }
    while (thread->index == 0 && stress_goes_on()) {
        arm(&thread->random);
        armed += BATCH;
        pause_randomly(&thread->random);
        for (unsigned i = 0; i < BATCH && !race.foreign; i++)
            cancel(i);
        stress_await(&race.ended, armed);
    }
    if (thread->index == 0)
        atomic_store(&race.over, true);
}

static void part(struct race parameters, uint32_t wheel_size, uint32_t workers) {
    stress_part("races: %u workers, wheels of %u, %s, delay %lld ns, %s", workers, wheel_size,
                parameters.foreign ? "foreign" : "own", (long long)parameters.delay_ns,
                parameters.waits ? "waiting" : "not waiting");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.shards = 2;
    options.wheel_size = wheel_size;
    options.tick_ns = 10 * HTW_MICROSECOND;
    race = parameters;
    race.scheduler = stress_create(&options);
    stress_run(parameters.foreign ? 3 : 1, contend, NULL);
    struct htw_scheduler_stats stats = stress_finish(race.scheduler);
    CHECK_EQUAL(stats.scheduled, stats.fired + stats.cancelled);
    printf("  %llu cancelled, %llu fired, %llu demotions\n", (unsigned long long)stats.cancelled,
           (unsigned long long)stats.fired, (unsigned long long)stats.demoted);
}

/* Delays that lie just beyond the window of a level: they start at a higher one, and sink. */
static void against_demotion(uint32_t wheel_size) {
    int64_t beyond_ticks = (int64_t)wheel_size * wheel_size * wheel_size + 1;
    part((struct race) { .delay_ns = beyond_ticks * 10 * HTW_MICROSECOND, .foreign = true },
         wheel_size, 1);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 8);
    part((struct race) { .foreign = false }, 256, 0);
    part((struct race) { .foreign = false }, 256, 1);
    part((struct race) { .foreign = true }, 256, 0);
    part((struct race) { .foreign = true }, 256, 4);
    part((struct race) { .foreign = true, .waits = true }, 256, 2);
    against_demotion(2);
    against_demotion(4);
    part((struct race) { .delay_ns = 40 * HTW_MICROSECOND }, 2, 1);
    return 0;
}
