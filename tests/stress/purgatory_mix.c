/* SPDX-License-Identifier: MIT */
/*
 * purgatory_mix.c - twenty threads with a hundred requests each, on one to four of fifty keys.
 *
 * Events, timeouts, cancels, completions from outside and, in every other round, close compete for
 * them. The hooks check, cancel, complete and submit, and some requests are submitted again in
 * their release. Each must end once, for a reason that a call or a timeout gave, and none may be
 * left.
 */
/* holds: purgatory-1, purgatory-4, purgatory-9, purgatory-10, purgatory-15, purgatory-19,
   purgatory-21, purgatory-24, purgatory-25 */
#include "slots.h"

#include <stdio.h>

#define THREADS 20u
#define KEYS 50u
#define KEYS_MAX 4u
#define DEPTH_MAX 3u
#define ROUND_NS (250 * HTW_MILLISECOND)

struct request {
    struct stress_request base;
    struct slot *slot;
    uint64_t life; /* in the slot */
    uint64_t keys[KEYS_MAX];
    size_t key_count;
    uint64_t cancels_before; /* of its keys, that had returned before it was submitted */
};

struct scene {
    struct stress_purgatory home;
    _Atomic uint64_t cancels_begun[KEYS], cancels_done[KEYS];
    _Atomic bool calm;         /* the hooks do nothing of their own any more */
    _Atomic int64_t round_end; /* when the threads end this round */
    bool closes;
    struct stress_totals totals;
};

static struct scene scene;

/* ---- what threads and hooks do */

static uint64_t sum_of_keys(const struct request *request, const _Atomic uint64_t counts[KEYS]) {
    uint64_t sum = 0;
    for (size_t i = 0; i < request->key_count; i++)
        sum += atomic_load_explicit(&counts[request->keys[i]], memory_order_relaxed);
    return sum;
}

static int64_t some_timeout(struct random_source *random) {
    switch (random_below(random, 8)) {
    case 0:
        return random_one_in(random, 2) ? 0 : -HTW_SECOND;
    case 1:
        return HTW_NEVER_NS;
    case 2:
        return HTW_SECOND * (int64_t)(1 + random_below(random, 3600));
    default:
        return (int64_t)random_below(random, 20 * (uint64_t)HTW_MILLISECOND);
    }
}

/* Gives the request of a claimed slot a new life. */
static void submit(struct request *request) {
    struct random_source *random = stress_own_random();
    request->key_count = 1 + (size_t)random_below(random, KEYS_MAX);
    for (size_t i = 0; i < request->key_count; i++)
        request->keys[i] = random_below(random, KEYS);
    request->cancels_before = sum_of_keys(request, scene.cancels_done);
    struct slot *slot = request->slot;
    request->life = slot_begin(slot);
    if (stress_submit(&request->base, request->keys, request->key_count, some_timeout(random)) >= 0)
        return;
    slot_shut(slot);
    stress_request_free(&request->base);
    slot_leave(slot, &(struct slot_life) { .refused = true });
}

static void submit_new(void) {
    struct slot *slot = slot_claim();
    if (slot == NULL)
        return;
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    request->slot = slot;
    slot->request = &request->base;
    submit(request);
}

static void cancel_key(uint64_t key) {
    atomic_fetch_add_explicit(&scene.cancels_begun[key], 1, memory_order_relaxed);
    stress_cancel_key(&scene.home, key);
    atomic_fetch_add_explicit(&scene.cancels_done[key], 1, memory_order_relaxed);
}

static void look(void) {
    struct htw_purgatory_stats stats = stress_purgatory_stats(&scene.home);
    CHECK(stats.pending < UINT32_MAX && stats.watched < UINT32_MAX && stats.delayed < UINT32_MAX);
    CHECK(stats.keys <= KEYS);
    FILE *nowhere = fopen("/dev/null", "w");
    CHECK(nowhere != NULL);
    CHECK_EQUAL(htw_purgatory_prometheus(scene.home.purgatory, nowhere), 0);
    fclose(nowhere);
}

static void count_key(uint64_t key) {
    struct stress_key bytes = stress_key(key);
    int64_t count = htw_purgatory_count_key(scene.home.purgatory, bytes.bytes, bytes.size);
    CHECK(count >= 0 && count <= SLOTS);
}

static void act(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    switch (random_below(random, 24)) {
    case 0:
    case 1:
        stress_check(&scene.home, key, STRESS_ALL);
        break;
    case 2:
    case 3:
    case 4:
        stress_check(&scene.home, key, random_below(random, 4));
        break;
    case 5:
    case 6:
        stress_check_later(&scene.home, key);
        break;
    case 7:
        if (random_one_in(random, 24))
            cancel_key(key);
        break;
    case 8:
    case 9:
    case 10:
        slot_end_some(random);
        break;
    case 11:
        if (random_one_in(random, 8))
            look();
        break;
    case 12:
        count_key(key);
        break;
    case 13:
        slot_set_some_timeout(random, (int64_t)random_below(random, 20 * HTW_MILLISECOND));
        break;
    default:
        submit_new();
        break;
    }
}

/* ---- the hooks */

static bool is_playful(struct random_source *random, uint64_t one_in) {
    return random_one_in(random, one_in) && stress_depth() < DEPTH_MAX && !atomic_load(&scene.calm);
}

static bool ask(struct stress_request *base) {
    struct request *request = (struct request *)base;
    struct random_source *random = stress_own_random();
    slot_open(request->slot, request->life); /* others may end it from now on */
    if (is_playful(random, 64))
        act(random);
    else if (random_one_in(random, 64))
        stress_check(&scene.home, request->keys[0], 1); /* which it is asked by now */
    return random_one_in(random, 96);
}

static void end(struct stress_request *base, enum htw_reason reason) {
    struct request *request = (struct request *)base;
    struct random_source *random = stress_own_random();
    if (reason == HTW_REASON_CANCELLED &&
        sum_of_keys(request, scene.cancels_begun) == request->cancels_before)
        slot_expect_cancel(request->slot); /* no cancel of a key: then of itself */
    if (is_playful(random, 8))
        act(random);
}

static void release(struct stress_request *base) {
    struct request *request = (struct request *)base;
    struct random_source *random = stress_own_random();
    struct slot *slot = request->slot;
    struct slot_life life = { .reason = base->reason, .said_yes = base->said_yes };
    bool is_alone = slot_shut(slot);
    if (is_alone && stress_depth() <= DEPTH_MAX && random_one_in(random, 4) &&
        !atomic_load(&scene.calm)) {
        slot_check(slot, &life);
        submit(request);
        return;
    }
    stress_request_free(base);
    slot_leave(slot, &life);
}

/* ---- rounds */

static void work(struct stress_thread *thread) {
    bool closed = false;
    int64_t end_ns = atomic_load(&scene.round_end);
    int64_t now_ns;
    while ((now_ns = stress_now_ns()) < end_ns) {
        for (unsigned i = 0; i < 16; i++)
            act(stress_own_random());
        if (scene.closes && thread->index < 2 && !closed && now_ns > end_ns - ROUND_NS / 5) {
            stress_close(&scene.home);
            closed = true;
        }
        stress_progress();
    }
}

/* Ends what would wait for ever, or for long. Hooks may still be at work in other threads. */
static void end_all(void) {
    int64_t limit_ns = stress_now_ns() + STRESS_LIMIT_NS;
    while (!slots_are_empty()) {
        CHECK(stress_now_ns() < limit_ns);
        if (scene.closes)
            stress_close(&scene.home);
        for (uint64_t key = 0; key < KEYS; key++)
            cancel_key(key);
    }
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards, uint64_t fail_one_in) {
    static const struct stress_hooks hooks = { ask, end, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    stress_purgatory_fail(&scene.home, fail_one_in);
    atomic_store(&scene.calm, false);
    atomic_store(&scene.round_end, stress_now_ns() + ROUND_NS);
    scene.closes = scene.totals.rounds % 2 == 1;
    stress_watchdog_begin(&scene.home);
    stress_run(THREADS, work, NULL);
    atomic_store(&scene.calm, true);
    stress_purgatory_fail(&scene.home, 0);
    end_all();
    stress_purgatory_quiet(&scene.home);
    stress_totals_add(&scene.totals, &scene.home);
    stress_watchdog_end();
    stress_purgatory_end(&scene.home);
}

static void part(uint32_t workers, uint32_t shards, uint64_t max_pending, uint64_t fail_one_in) {
    stress_part("mix: %u workers, %u shards, at most %u timers, memory fails one in %u", workers,
                shards, (unsigned)max_pending, (unsigned)fail_one_in);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 100 * HTW_MICROSECOND;
    options.max_pending = max_pending;
    struct htw_scheduler *scheduler = stress_create(&options);
    scene.totals = (struct stress_totals) { .rounds = 0 };
    do
        play_round(scheduler, shards, fail_one_in);
    while (stress_goes_on());
    stress_totals_print(&scene.totals);
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 5);
    part(0, 0, 0, 0);
    part(1, 1, 0, 0);
    part(4, 16, 0, 0);
    part(1, 0, 1000, 0);
    part(4, 4, 0, 32);
    return 0;
}
