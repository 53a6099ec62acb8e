/* SPDX-License-Identifier: MIT */
/*
 * purgatory.c - purgatories come and go on one scheduler, and twelve threads use each as in ../stage/requests.c. In some
 * rounds memory fails, two threads close the purgatory meanwhile, or the scheduler is stopped before.
 */
/* holds: purgatory-11, purgatory-16, purgatory-17 */
#include "stress.h"

#include <htw/purgatory_inspect.h>

#include <inttypes.h>
#include <stdio.h>

#define THREADS 12u /* the last two close */
#define ACTS 16u
#define ROUND_NS (20 * HTW_MILLISECOND)

static struct htw_scheduler *scheduler;
static _Atomic int64_t round_end_ns;
static bool closes, stops;
static struct { uint64_t rounds, submitted, refused, ended[4]; } totals;

static void work(unsigned number) {
    int64_t end_ns = atomic_load(&round_end_ns);
    if (number >= THREADS - 2)
        stage_sleep_ns((int64_t)random_below(stage_random(), ROUND_NS));
    if (number == THREADS - 1 && stops) {
        stress_expect_stop();
        REQUIRE(htw_scheduler_stop(scheduler, NULL, NULL) == 0);
    } else if (number >= THREADS - 2 && closes) {
        requests_close();
    }
    while (stress_now_ns() < end_ns)
        for (unsigned i = 0; i < ACTS; i++)
            requests_act();
}

/* Until what was to be checked later has been. */
static void await_checks(void) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    for (;;) {
        struct htw_scheduler_stats stats = HTW_SCHEDULER_STATS_INIT;
        struct htw_purgatory_stats own = HTW_PURGATORY_STATS_INIT;
        REQUIRE(htw_scheduler_get_stats(scheduler, &stats) == 0 &&
                htw_purgatory_get_stats(requests.purgatory, &own) == 0);
        if (stats.pending <= own.alarms && stats.running == 0)
            return;
        REQUIRE(stress_now_ns() < limit_ns);
        stage_sleep_ns(50 * HTW_MICROSECOND);
    }
}

static void play(uint32_t shards, uint64_t fail_one_in) {
    struct random_source *random = stage_random();
    requests_open(scheduler, shards, random_one_in(random, 2));
    stress_fail_memory(fail_one_in);
    closes = random_one_in(random, 3);
    atomic_store(&round_end_ns, stress_now_ns() + ROUND_NS);
    stress_run(THREADS, work);
    stress_fail_memory(0);
    if (!closes && !stops) {
        await_checks();
        requests_judge_items();
    }
    requests_end();
    totals.rounds++;
    totals.submitted += requests.submitted;
    totals.refused += requests.refused;
    for (unsigned i = 0; i < 4; i++)
        totals.ended[i] += requests.ended[i];
}

/* Where the scheduler is stopped it is another one each round. */
static void part(enum stress_runners by, uint32_t workers, uint32_t shards, uint64_t max_pending,
                 uint64_t fail_one_in) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers > 0 ? workers : HTW_NO_WORKERS;
    options.max_pending = max_pending;
    options.tick_ns = 50 * HTW_MICROSECOND;
    stress_part("%u workers, %u shards, runners %u, at most %u timers, memory fails one in %u%s",
                workers, shards, by, (unsigned)max_pending, (unsigned)fail_one_in,
                stops ? ", stopped before" : "");
    do {
        scheduler = stress_create(&options, by);
        timers.scheduler = scheduler;
        timers.has_limit = max_pending > 0;
        do
            play(shards, fail_one_in);
        while (stress_goes_on() && !stops);
        stress_destroy(scheduler);
    } while (stress_goes_on());
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 8);
    part(BY_THREADS, 0, 0, 0, 0);
    part(BY_THREADS, 1, 1, 0, 0);
    part(BY_THREADS, 4, 16, 1000, 0);
    part(BY_THREADS, 4, 4, 0, 32);
    part(BY_EXECUTOR, 0, 4, 0, 0);
    part(BY_PROCESSING, 0, 4, 0, 0);
    stops = true;
    part(BY_THREADS, 2, 4, 0, 0);
    part(BY_EXECUTOR, 0, 1, 0, 0);
    printf("%" PRIu64 " rounds, submitted %" PRIu64 ", refused %" PRIu64 ", completed %" PRIu64
           ", expired %" PRIu64 ", cancelled %" PRIu64 ", closed %" PRIu64 "\n",
           totals.rounds, totals.submitted, totals.refused, totals.ended[0], totals.ended[1],
           totals.ended[2], totals.ended[3]);
    return 0;
}
