/* SPDX-License-Identifier: MIT */
/*
 * scheduler.c - eight threads use one scheduler as in ../stage/timers.c, and dump it while others end groups, and objects that
 * contain the site of their timers. Two threads at once stop it, in the end or while it is used.
 */
#include "stress.h"

#include <htw/group.h>
#include <htw/timer.h>

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#define THREADS 8u
#define PAGE_BYTES 65536u /* of any machine */
#define ROUND_NS (8 * HTW_MILLISECOND)

static struct htw_scheduler *scheduler;
static _Atomic bool is_over; /* this round */
static bool stops;

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    stage_fail("a timer that is due in an hour has run", __FILE__, __LINE__);
}

static void count_armed(int result) {
    REQUIRE(result == 0 || (result == -EAGAIN && timers.has_limit) || stage_excuses(result));
    atomic_fetch_add(result == 0 ? &timers.armed : &timers.refused,
                     result == 0 || result == -EAGAIN);
}

/* A dump reads a site after the lock of its timer's shard is released. It may have been freed by then: what reads it without
   care crashes. */
static void use_object(void) {
    struct object {
        struct htw_site site;
        char name[32];
    } *object = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    htw_handle handle = 0;
    REQUIRE(object != MAP_FAILED);
    strcpy(object->name, "object");
    object->site = (struct htw_site) { never, object->name, object->name, object->name, 1 };
    count_armed(htw_schedule_here(scheduler, HTW_HOUR, &object->site, NULL, &handle));
    if (htw_cancel_wait(scheduler, handle) == HTW_CANCELLED)
        atomic_fetch_add(&timers.cancelled, 1);
    REQUIRE(munmap(object, PAGE_BYTES) == 0);
}

static void use_group(void) {
    struct htw_group *group;
    struct htw_spec spec = HTW_SPEC_INIT;
    REQUIRE(htw_group_create(scheduler, &group) == 0 || stage_excuses(-ESHUTDOWN));
    (void)htw_group_set_name(group, random_one_in(stage_random(), 2) ? "tenant" : NULL);
    spec.site = HTW_HERE(never, "grouped");
    spec.when_ns = HTW_HOUR;
    spec.group = group;
    count_armed(htw_schedule_spec(scheduler, &spec, NULL, NULL));
    (void)htw_group_set_name(group, "renamed");
    atomic_fetch_add(&timers.cancelled, htw_group_cancel(group, NULL, NULL) == 1);
    htw_group_destroy(group);
}

static void dump(void) {
    FILE *nowhere = fopen("/dev/null", "w");
    REQUIRE(nowhere != NULL && htw_scheduler_dump(scheduler, nowhere) == 0);
    fclose(nowhere);
}

static void stop(void) {
    stress_expect_stop();
    REQUIRE(htw_scheduler_stop(scheduler, timers_take_back, NULL) == 0);
    REQUIRE(htw_schedule(scheduler, 0, never, NULL, NULL) == -ESHUTDOWN);
    atomic_store(&is_over, true);
}

static void work(unsigned number) {
    struct random_source *random = stage_random();
    if (stops && number >= THREADS - 2) {
        stage_sleep_ns((int64_t)random_below(random, ROUND_NS));
        stop();
    }
    while (stress_goes_on() && !atomic_load_explicit(&is_over, memory_order_relaxed)) {
        timers_act(number);
        void (*const others[])(void) = { use_object, use_group, dump };
        if (random_one_in(random, 64) && !stops)
            others[random_below(random, 3)]();
    }
}

/* No timer is left, and exactly as many as the limit can be armed. */
static void check_limit(uint64_t limit) {
    int64_t until_ns = stress_now_ns() + STRESS_LIMIT_NS;
    for (unsigned i = 0; i < THREADS; i++) {
        timers_judge(i);
        timers_cancel(i);
    }
    while (htw_pending(scheduler) > 0)
        REQUIRE(stress_now_ns() < until_ns);
    for (uint64_t i = 0; limit > 0 && i <= limit; i++) {
        int result = htw_schedule(scheduler, HTW_NEVER_NS, never, NULL, NULL);
        REQUIRE(result == (i < limit ? 0 : -EAGAIN));
        count_armed(result);
    }
    REQUIRE(htw_pending(scheduler) == limit);
}

static void play(const struct htw_scheduler_options *options, enum stress_runners by) {
    unsigned own = options->workers != HTW_NO_WORKERS ? options->workers : options->expirers;
    scheduler = stress_create(options, by);
    timers_open(scheduler, by == BY_THREADS ? own : STRESS_RUNNERS, options->max_pending > 0);
    if (random_one_in(stage_random(), 2)) {
        int error = htw_scheduler_observe(
            scheduler, random_one_in(stage_random(), 2) ? HTW_OBSERVE_STACKS : HTW_OBSERVE_SITES);
        REQUIRE(error == 0 || error == -ENOTSUP);
    }
    atomic_store(&is_over, false);
    stress_run(THREADS, work);
    if (!stops)
        check_limit(options->max_pending);
    stop();
    timers_close();
    struct htw_scheduler_stats stats = stress_check_stats(scheduler);
    REQUIRE(stats.scheduled == timers.armed && stats.cancelled == timers.cancelled);
    REQUIRE(stats.handed_back == timers.visited && stats.refused == timers.refused);
    REQUIRE(stats.pending == 0 && stats.running == 0);
    stress_destroy(scheduler);
}

static void part(uint32_t workers, uint32_t shards, uint32_t expirers, uint64_t limit,
                 enum stress_runners by) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.shards = shards;
    options.expirers = expirers;
    options.max_pending = limit;
    options.tick_ns = 100 * HTW_MICROSECOND;
    stress_part("%u workers, %u shards, %u expirers, at most %u timers, runners %u%s", workers,
                shards, expirers, (unsigned)limit, by, stops ? ", stopped meanwhile" : "");
    do
        play(&options, by);
    while (stress_goes_on());
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 14);
    for (int i = 0; i < 2; i++) {
        stops = i == 1;
        part(0, 1, 1, 0, BY_THREADS);
        part(1, 2, 1, 0, BY_THREADS);
        part(4, 8, 2, 65, BY_THREADS);
        part(2, 2, 2, 3, BY_THREADS);
        part(1, 8, 8, 100, BY_THREADS);
        part(0, 2, 1, 0, BY_EXECUTOR);
        part(0, 1, 1, 0, BY_PROCESSING);
    }
    return 0;
}
