/* SPDX-License-Identifier: MIT */
/*
 * Threads wait for values of two thresholds, near and far ones, that others raise, while time-outs,
 * completions and cancels of single requests and, in every other round, close want them, too. Each
 * ends once, as completed only if its value has been reached or somebody has said so; an
 * advance ends its requests in the order of their values; and when all is quiet nobody waits for
 * what has been reached.
 */
#include "slots.h"

#include <stdio.h>

#define THREADS 10u
#define THRESHOLDS 2u
#define DEPTH_MAX 3u
#define ROUND_NS (40 * HTW_MILLISECOND)

struct request {
    struct stress_request base;
    struct slot *slot;
    unsigned threshold;
    uint64_t value;
    bool reached;
};

struct scene {
    struct stress_purgatory home;
    struct htw_threshold *thresholds[THRESHOLDS];
    _Atomic bool calm; /* the hooks do nothing of their own any more */
    _Atomic int64_t round_end;
    bool closes;
    uint64_t rounds, submitted, ended[4];
};

static struct scene scene;

static int64_t some_timeout(struct random_source *random) {
    if (random_one_in(random, 3))
        return HTW_NEVER_NS;
    return (int64_t)random_below(random, 4 * (uint64_t)HTW_MILLISECOND);
}

/* What has been reached already, what soon will be, and what lies far ahead. */
static uint64_t some_value(struct random_source *random, uint64_t now) {
    switch (random_below(random, 8)) {
    case 0:
        return now - random_below(random, now + 1);
    case 1:
        return random_one_in(random, 64) ? UINT64_MAX : now + (random_magnitude(random) >> 20);
    default:
        return now + random_below(random, 300);
    }
}

static void submit(void) {
    struct random_source *random = stress_own_random();
    struct slot *slot = slot_claim();
    if (slot == NULL)
        return;
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    request->slot = slot;
    request->threshold = (unsigned)random_below(random, THRESHOLDS);
    struct htw_threshold *threshold = scene.thresholds[request->threshold];
    uint64_t now = htw_threshold_value(threshold);
    request->value = some_value(random, now);
    slot->request = &request->base;
    bool is_reached = request->value <= now;
    uint64_t life = slot_begin(slot);
    int result =
        stress_await_value(&request->base, threshold, request->value, some_timeout(random));
    if (result == HTW_WATCHED)
        slot_open(slot, life);
    CHECK(result < 0 || !is_reached || result == HTW_FINISHED);
    if (result >= 0)
        return;
    slot_shut(slot);
    stress_request_free(&request->base);
    slot_leave(slot, &(struct slot_life) { .refused = true });
}

/* Mostly forward; a value that is told late changes nothing. */
static void advance(struct random_source *random) {
    struct htw_threshold *threshold = scene.thresholds[random_below(random, THRESHOLDS)];
    uint64_t now = htw_threshold_value(threshold);
    uint64_t to = now + random_below(random, 40);
    if (random_one_in(random, 8))
        to = now - random_below(random, now + 1);
    else if (random_one_in(random, 256))
        to = now + (random_magnitude(random) >> 30);
    stress_advance(&scene.home, threshold, to);
    CHECK(htw_threshold_value(threshold) >= to && htw_threshold_value(threshold) >= now);
}

static void act(struct random_source *random) {
    switch (random_below(random, 16)) {
    case 0:
    case 1:
        advance(random);
        break;
    case 2:
    case 3:
        slot_end_some(random);
        break;
    default:
        submit();
        break;
    }
}

/* ---- the hooks */

static bool ask(struct stress_request *base) {
    (void)base;
    stress_fail(__FILE__, __LINE__, "a request on a threshold was asked");
}

static void end(struct stress_request *base, enum htw_reason reason) {
    struct request *request = (struct request *)base;
    struct random_source *random = stress_own_random();
    request->reached = htw_threshold_value(scene.thresholds[request->threshold]) >= request->value;
    if (reason == HTW_REASON_COMPLETED)
        stress_in_order(request->value);
    if (reason == HTW_REASON_CANCELLED)
        slot_expect_cancel(request->slot);
    if (random_one_in(random, 8) && stress_depth() < DEPTH_MAX && !atomic_load(&scene.calm))
        act(random);
}

static void release(struct stress_request *base) {
    struct request *request = (struct request *)base;
    struct slot *slot = request->slot;
    struct slot_life life = { .reason = base->reason, .reached = request->reached };
    slot_shut(slot);
    stress_request_free(base);
    slot_leave(slot, &life);
}

/* ---- rounds */

static void work(struct stress_thread *thread) {
    int64_t end_ns = atomic_load(&scene.round_end);
    int64_t now_ns;
    bool closed = false;
    while ((now_ns = stress_now_ns()) < end_ns) {
        for (unsigned i = 0; i < 16; i++)
            act(stress_own_random());
        if (scene.closes && thread->index < 2 && !closed && now_ns > end_ns - ROUND_NS / 4) {
            stress_close(&scene.home);
            closed = true;
        }
        stress_progress();
    }
}

static void check_unreached(const struct stress_request *base) {
    const struct request *request = (const struct request *)base;
    uint64_t now = htw_threshold_value(scene.thresholds[request->threshold]);
    if (request->value <= now)
        stress_fail(__FILE__, __LINE__, "a request waits for %llu at %llu",
                    (unsigned long long)request->value, (unsigned long long)now);
}

static void end_thresholds(void) {
    CHECK_EQUAL(htw_purgatory_destroy(scene.home.purgatory), -EBUSY);
    atomic_store(&scene.home.closing, true);
    for (unsigned i = 0; i < THRESHOLDS; i++) {
        CHECK_EQUAL(htw_threshold_destroy(scene.thresholds[i]), 0);
        scene.thresholds[i] = NULL;
    }
    CHECK(slots_are_empty());
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards, uint64_t initial) {
    static const struct stress_hooks hooks = { ask, end, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    for (unsigned i = 0; i < THRESHOLDS; i++)
        CHECK_EQUAL(htw_threshold_create(scene.home.purgatory, initial, &scene.thresholds[i]), 0);
    atomic_store(&scene.calm, false);
    atomic_store(&scene.round_end, stress_now_ns() + ROUND_NS);
    scene.closes = scene.rounds++ % 2 == 1;
    stress_watchdog_begin(&scene.home);
    stress_run(THREADS, work, NULL);
    atomic_store(&scene.calm, true);
    stress_scheduler_quiet(&scene.home); /* who is left waits for ever */
    slots_visit(check_unreached);
    end_thresholds();
    stress_purgatory_quiet(&scene.home);
    stress_watchdog_end();
    scene.submitted += scene.home.submitted;
    for (unsigned i = 0; i < 4; i++)
        scene.ended[i] += scene.home.ended[i];
    stress_purgatory_end(&scene.home);
}

static void part(uint32_t workers, uint32_t shards, uint64_t initial) {
    stress_part("thresholds: %u workers, %u shards, from %llu", workers, shards,
                (unsigned long long)initial);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 50 * HTW_MICROSECOND;
    struct htw_scheduler *scheduler = stress_create(&options);
    scene.rounds = scene.submitted = 0;
    for (unsigned i = 0; i < 4; i++)
        scene.ended[i] = 0;
    do
        play_round(scheduler, shards, initial);
    while (stress_goes_on());
    printf("  submitted %llu, completed %llu, expired %llu, cancelled %llu, closed %llu\n",
           (unsigned long long)scene.submitted, (unsigned long long)scene.ended[0],
           (unsigned long long)scene.ended[1], (unsigned long long)scene.ended[2],
           (unsigned long long)scene.ended[3]);
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    HTW__ANNOTATE_ATOMIC(&scene, sizeof(scene));
    stress_begin(argc, argv, 4);
    part(0, 0, 0);
    part(1, 1, 1000);
    part(4, 4, UINT64_C(1) << 40);
    part(1, 0, UINT64_C(1) << 32);
    return 0;
}
