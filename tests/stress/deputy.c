/* SPDX-License-Identifier: MIT */
/*
 * deputy.c - expirers that run callbacks themselves are replaced when these take long: timers that
 * fall due meanwhile run, never more callbacks at once than there are workers, whatever way a
 * callback ends and whenever the scheduler is stopped.
 */
/* holds: scheduler-13 */
#include "stress.h"

#include <pthread.h>

/* ---- timers that are armed while all threads but one are in callbacks */

static struct {
    struct htw_scheduler *scheduler;
    _Atomic uint64_t inside,
        later; /* callbacks that wait; callbacks of timers that fell due then */
    _Atomic bool open;
} chain;

static void wait_inside(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
    atomic_fetch_add(&chain.inside, 1);
    while (!atomic_load(&chain.open))
        stress_sleep_ns(100 * HTW_MICROSECOND);
}

static void count_later(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
    atomic_fetch_add(&chain.later, 1);
}

/* Each callback of a row begins when the expirer of that time has fallen asleep or stays in a callback;
   the last thread runs what falls due after all of them. */
static void play_chain(uint32_t workers, uint32_t expirers) {
    stress_part("chain: %u workers, %u expirers", workers, expirers);
    while (stress_goes_on()) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.workers = workers;
        options.expirers = options.shards = expirers;
        chain.scheduler = stress_create(&options);
        atomic_store(&chain.inside, 0);
        atomic_store(&chain.later, 0);
        atomic_store(&chain.open, false);
        for (uint64_t i = 0; i + 1 < workers; i++) {
            CHECK_EQUAL(htw_schedule(chain.scheduler, HTW_MILLISECOND, wait_inside, NULL, NULL), 0);
            stress_await(&chain.inside, i + 1);
        }
        for (uint64_t i = 0; i < 3; i++) {
            CHECK_EQUAL(htw_schedule(chain.scheduler, HTW_MILLISECOND, count_later, NULL, NULL), 0);
            stress_await(&chain.later, i + 1);
        }
        atomic_store(&chain.open, true);
        stress_finish(chain.scheduler);
    }
}

/* ---- callbacks of every length */

static struct {
    _Atomic uint64_t ran;
    _Atomic unsigned inside;
    unsigned most;
} mix;

enum { SHORT, AWAKE, ASLEEP, KINDS };

static void run(void *arg, const struct htw_expiration *expiration) {
    uintptr_t kind = (uintptr_t)arg % KINDS;
    int64_t length_ns = (int64_t)((uintptr_t)arg / KINDS % 8) * 300 * HTW_MICROSECOND;
    stress_check_firing(expiration);
    CHECK(atomic_fetch_add(&mix.inside, 1) < mix.most);
    if (kind == AWAKE)
        for (int64_t end_ns = stress_now_ns() + length_ns; stress_now_ns() < end_ns;)
            ;
    else if (kind != SHORT)
        stress_sleep_ns(length_ns);
    atomic_fetch_sub(&mix.inside, 1);
    atomic_fetch_add(&mix.ran, 1);
}

static void schedule_all(struct stress_thread *thread) {
    struct htw_scheduler *scheduler = thread->context;
    for (unsigned i = 0; i < 300; i++) {
        uint64_t some = random_next(&thread->random);
        uintptr_t kind = some % 16 == 0 ? AWAKE + (uintptr_t)(some / 16 % 2) : SHORT;
        uintptr_t arg = kind + KINDS * (uintptr_t)(some / 64 % 8);
        int64_t delay_ns = (int64_t)(some / 1024 % 20) * HTW_MILLISECOND;
        CHECK_EQUAL(htw_schedule(scheduler, delay_ns, run, (void *)arg, NULL), 0);
    }
}

/* `early`: it is stopped while callbacks run and threads exchange their places. */
static void play_mix(uint32_t workers, uint32_t expirers, bool early) {
    stress_part("mix: %u workers, %u expirers, %s", workers, expirers,
                early ? "stopped early" : "to the end");
    for (uint64_t round = 0; stress_goes_on(); round++) {
        struct random_source random = stress_random(1000 + round);
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.workers = workers;
        options.expirers = expirers;
        options.shards = 2;
        struct htw_scheduler *scheduler = stress_create(&options);
        atomic_store(&mix.ran, 0);
        mix.most = workers;
        stress_run(2, schedule_all, scheduler);
        if (early)
            stress_sleep_ns((int64_t)(random_next(&random) % 20) * HTW_MILLISECOND);
        else
            stress_await(&mix.ran, 600);
        CHECK_EQUAL(htw_scheduler_stop(scheduler, NULL, NULL), 0);
        CHECK_EQUAL(atomic_load(&mix.inside), 0);
        stress_check_stats(scheduler);
        CHECK_EQUAL(htw_scheduler_destroy(scheduler), 0);
    }
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 8);
    play_chain(2, 1);
    play_chain(2, 2);
    play_chain(6, 1);
    play_mix(1, 1, false);
    play_mix(2, 1, false);
    play_mix(4, 2, false);
    play_mix(2, 1, true);
    play_mix(3, 2, true);
    return 0;
}
