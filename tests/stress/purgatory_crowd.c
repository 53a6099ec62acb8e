/* SPDX-License-Identifier: MIT */
/*
 * purgatory_crowd.c - all threads check one key, on which few requests wait. In some parts the
 * hooks check it, too. So a request is marked nearly all the time.
 *
 * No call may go on for ever because of other threads' events: the test counts what it asks. No
 * event may be lost: when all is quiet, there is no token that a request waits for.
 */
/* holds: purgatory-23 */
#include "request.h"

#include <sched.h>
#include <stdio.h>

#define THREADS 8u
#define REQUESTS 4u
#define KEY 1u
#define ROUND_NS (100 * HTW_MILLISECOND)

/* A call visits a request in each of its rounds, and asks it then, once more for its own events,
   and for 16 events of other threads (and a few, for what is not exact here). There is one round,
   and where hooks check the key one more for each request, and 16. */
#define ASKED_MAX_FLAT (REQUESTS * (2u + 16 + 2))
#define ASKED_MAX_NESTED (ASKED_MAX_FLAT * (1 + REQUESTS + 16))

struct request {
    struct stress_request base;
    _Atomic bool *place;
};

static struct scene {
    struct stress_purgatory home;
    bool nested;
} scene;

static struct {
    _Atomic bool places[REQUESTS];
    _Atomic uint64_t tokens;
    _Atomic uint64_t checks;
    _Atomic uint64_t most_asked;
    _Atomic uint64_t round_end;
} shared;

static _Thread_local uint64_t asked;

static bool take_token(void) {
    uint64_t tokens = atomic_load(&shared.tokens);
    while (tokens > 0)
        if (atomic_compare_exchange_weak(&shared.tokens, &tokens, tokens - 1))
            return true;
    return false;
}

static bool ask(struct stress_request *base) {
    struct random_source *random = stress_own_random();
    (void)base;
    asked++;
    uint64_t before = atomic_load(&shared.checks);
    for (unsigned i = 0; i < 100 && atomic_load(&shared.checks) == before; i++)
        sched_yield(); /* until another thread has marked this request */
    if (scene.nested && random_one_in(random, 4)) {
        if (random_one_in(random, 64))
            atomic_fetch_add(&shared.tokens, 1);
        stress_check(&scene.home, KEY, STRESS_ALL);
    }
    return take_token();
}

static void release(struct stress_request *base) {
    _Atomic bool *place = ((struct request *)base)->place;
    stress_request_free(base);
    atomic_store(place, false);
}

/* In the call that has just returned. */
static void note_asked(void) {
    uint64_t most = atomic_load(&shared.most_asked);
    CHECK(asked <= (scene.nested ? ASKED_MAX_NESTED : ASKED_MAX_FLAT));
    while (asked > most && !atomic_compare_exchange_weak(&shared.most_asked, &most, asked))
        ;
    asked = 0;
}

static void submit(unsigned index) {
    static const uint64_t keys[] = { KEY };
    if (atomic_exchange(&shared.places[index], true))
        return;
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    request->place = &shared.places[index];
    CHECK(stress_submit(&request->base, keys, 1, HTW_NEVER_NS) >= 0);
    note_asked();
}

static void work(struct stress_thread *thread) {
    while (stress_now_ns() < (int64_t)atomic_load(&shared.round_end)) {
        for (unsigned i = 0; i < 16; i++) {
            if (random_one_in(&thread->random, 4))
                submit((unsigned)random_below(&thread->random, REQUESTS));
            if (random_one_in(&thread->random, 256) && atomic_load(&shared.tokens) == 0)
                atomic_fetch_add(&shared.tokens, 1);
            stress_check(&scene.home, KEY, STRESS_ALL);
            atomic_fetch_add(&shared.checks, 1);
            note_asked();
        }
        stress_progress();
    }
}

static void play_round(struct htw_scheduler *scheduler) {
    static const struct stress_hooks hooks = { ask, NULL, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, 1);
    atomic_store(&shared.tokens, 0);
    atomic_store(&shared.round_end, (uint64_t)(stress_now_ns() + ROUND_NS));
    stress_watchdog_begin(&scene.home);
    stress_run(THREADS, work, NULL);
    stress_scheduler_quiet(&scene.home);
    CHECK(atomic_load(&shared.tokens) == 0 || stress_purgatory_stats(&scene.home).pending == 0);
    stress_cancel_key(&scene.home, KEY);
    stress_purgatory_quiet(&scene.home);
    stress_watchdog_end();
    stress_purgatory_end(&scene.home);
}

static void part(uint32_t workers, bool nested) {
    stress_part("crowd: %u workers%s", workers, nested ? ", hooks check the key" : "");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    struct htw_scheduler *scheduler = stress_create(&options);
    uint64_t rounds = 0;
    scene.nested = nested;
    atomic_store(&shared.most_asked, 0);
    do {
        play_round(scheduler);
        rounds++;
    } while (stress_goes_on());
    printf("  %llu rounds, a call asked at most %llu times\n", (unsigned long long)rounds,
           (unsigned long long)shared.most_asked);
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 4);
    part(0, false);
    part(2, false);
    part(0, true);
    part(2, true);
    return 0;
}
