/* SPDX-License-Identifier: MIT */
/*
 * chains.c - no wake-up is lost.
 *
 * Each callback of a chain schedules the next one, and nothing else wakes the expirer. An earlier
 * timer wakes an expirer that sleeps until a later one.
 */
#include "stress.h"

enum { CHAINS = 12 };

struct chain {
    struct random_source random;
    _Atomic uint64_t links;
    _Atomic uint64_t over;
    unsigned kind;
};

static struct chain chains[CHAINS];
static _Atomic uint64_t chains_over;
static const int64_t tick_ns = 200 * HTW_MICROSECOND;

static int64_t next_delay(struct chain *chain) {
    switch (chain->kind % 3) {
    case 0:
        return 0;
    case 1:
        return tick_ns;
    default:
        return (int64_t)random_below(&chain->random, (uint64_t)(3 * HTW_MILLISECOND));
    }
}

static void link(void *arg, const struct htw_expiration *expiration) {
    struct chain *chain = arg;
    stress_check_firing(expiration);
    atomic_fetch_add_explicit(&chain->links, 1, memory_order_relaxed);
    if (!stress_goes_on()) {
        atomic_fetch_add(&chains_over, 1);
        return;
    }
    int64_t delay_ns = next_delay(chain);
    if (chain->kind % 2 == 0)
        CHECK_EQUAL(htw_schedule(expiration->scheduler, delay_ns, link, chain, NULL), 0);
    else
        CHECK_EQUAL(htw_reschedule(expiration->scheduler, expiration->handle, delay_ns), HTW_MOVED);
}

static void go_on(uint32_t workers, uint32_t shards, uint32_t expirers) {
    stress_part("chains: %u workers, %u shards, %u expirers", workers, shards, expirers);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.shards = shards;
    options.expirers = expirers;
    options.tick_ns = tick_ns;
    struct htw_scheduler *scheduler = stress_create(&options);
    atomic_store(&chains_over, 0);
    for (unsigned i = 0; i < CHAINS; i++) {
        atomic_store(&chains[i].links, 0);
        chains[i].random = stress_random(i + 1);
        chains[i].kind = i;
    }
    for (unsigned i = 0; i < CHAINS; i++)
        CHECK_EQUAL(htw_schedule(scheduler, 0, link, &chains[i], NULL), 0);
    /* A chain that has stopped too early never says that it has ended. */
    stress_await(&chains_over, CHAINS);
    for (unsigned i = 0; i < CHAINS; i++)
        CHECK(atomic_load(&chains[i].links) > 0);
    stress_finish(scheduler);
}

static void note(void *arg, const struct htw_expiration *expiration) {
    stress_check_firing(expiration);
    atomic_fetch_add((_Atomic uint64_t *)arg, 1);
}

struct sleeper {
    struct htw_scheduler *scheduler;
    int64_t delay_ns;
    _Atomic uint64_t rung, rounds;
};

static void arm_earlier(struct stress_thread *thread) {
    struct sleeper *sleeper = thread->context;
    CHECK_EQUAL(htw_schedule(sleeper->scheduler, sleeper->delay_ns, note, &sleeper->rung, NULL), 0);
    stress_await(&sleeper->rung, atomic_load(&sleeper->rounds) + 1);
}

/* From threads that have never been seen, which run on whatever processor. */
static void wake_a_sleeper(uint32_t shards, uint32_t expirers, int64_t delay_ns) {
    stress_part("wake a sleeper: %u shards, %u expirers", shards, expirers);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.shards = shards;
    options.expirers = expirers;
    static struct sleeper sleeper;
    sleeper = (struct sleeper) { .scheduler = stress_create(&options), .delay_ns = delay_ns };
    htw_handle later;
    CHECK_EQUAL(htw_schedule(sleeper.scheduler, 3600 * HTW_SECOND, note, &sleeper.rung, &later), 0);
    for (uint64_t round = 0; round < 200 && stress_goes_on(); round++) {
        atomic_store(&sleeper.rounds, round);
        stress_run(1, arm_earlier, &sleeper);
        /* An hour again, by another way. */
        CHECK_EQUAL(htw_reschedule(sleeper.scheduler, later, 3600 * HTW_SECOND), HTW_MOVED);
    }
    CHECK_EQUAL(htw_cancel(sleeper.scheduler, later), HTW_CANCELLED);
    stress_finish(sleeper.scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 8);
    go_on(0, 1, 1);
    go_on(1, 1, 1);
    go_on(4, 2, 1);
    go_on(0, 8, 4);
    go_on(2, 8, 8);
    wake_a_sleeper(1, 1, 5 * HTW_MILLISECOND);
    wake_a_sleeper(2, 2, 5 * HTW_MILLISECOND);
    wake_a_sleeper(2, 1, 0);
    return 0;
}
