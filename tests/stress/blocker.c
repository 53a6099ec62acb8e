/* SPDX-License-Identifier: MIT */
/*
 * blocker.c - a callback that does not return delays only its own worker: no timer of its own
 * batch, none of another shard, and no later one.
 *
 * The callback returns when all others have run. A timer that waits for it would wait for ever.
 */
/* holds: scheduler-13 */
#include "stress.h"

enum { TIMERS = 200 };

struct scene {
    _Atomic uint64_t ran, blocked;
    _Atomic uint64_t others;
};

static struct scene scene;

static void block(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
    atomic_fetch_add(&scene.blocked, 1);
    stress_await(&scene.ran, atomic_load(&scene.others));
}

static void pass_by(void *arg, const struct htw_expiration *expiration) {
    (void)arg;
    stress_check_firing(expiration);
    atomic_fetch_add(&scene.ran, 1);
}

static void arm(struct htw_scheduler *scheduler, int64_t deadline_ns, uint64_t key,
                htw_callback *callback) {
    struct htw_spec spec = HTW_SPEC_INIT;
    spec.callback = callback;
    spec.absolute = true;
    spec.when_ns = deadline_ns;
    spec.key = &key; /* spreads them over the shards */
    spec.key_size = sizeof(key);
    CHECK_EQUAL(htw_schedule_spec(scheduler, &spec, NULL, NULL), 0);
}

/* `blockers` callbacks block at once, and one worker is left for the others. */
static void play(uint32_t shards, uint32_t blockers, unsigned others) {
    stress_part("blocker: %u shards, %u blockers, %u others", shards, blockers, others);
    for (uint64_t round = 0; stress_goes_on(); round++) {
        struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
        options.shards = shards;
        options.workers = blockers + 1;
        struct htw_scheduler *scheduler = stress_create(&options);
        atomic_store(&scene.ran, 0);
        atomic_store(&scene.blocked, 0);
        atomic_store(&scene.others, others);
        int64_t deadline_ns = htw_scheduler_now(scheduler) + 3 * HTW_MILLISECOND;
        for (unsigned i = 0; i < others / 2; i++)
            arm(scheduler, deadline_ns, i, pass_by);
        for (unsigned i = 0; i < blockers; i++)
            arm(scheduler, deadline_ns, TIMERS + i + round * blockers, block);
        for (unsigned i = others / 2; i < others; i++)
            arm(scheduler, deadline_ns + (i % 2) * 2 * HTW_MILLISECOND, i, pass_by);
        stress_await(&scene.ran, others);
        stress_await(&scene.blocked, blockers);
        stress_finish(scheduler);
    }
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 5);
    play(1, 1, 1);
    play(2, 1, 1);
    play(1, 1, TIMERS);
    play(8, 2, TIMERS);
    play(8, 1, 3);
    return 0;
}
