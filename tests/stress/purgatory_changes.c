/* SPDX-License-Identifier: MIT */
/*
 * Threads wait for values of two thresholds that others raise, lower and empty, while time-outs
 * (which others change), completions and cancels of single requests and, in every other round,
 * close want them, too. Each request ends once, as completed only if its value has been reached at
 * some time or a call said so; each call ends its requests in the order of their values; and when
 * all is quiet nobody waits for what is reached, or with a timeout that is over.
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
    _Atomic uint64_t highest[THRESHOLDS]; /* that anybody has raised them to, or is about to */
    _Atomic bool calm;                    /* the hooks do nothing of their own any more */
    _Atomic int64_t round_end;
    bool closes;
    bool completes; /* all requests of a threshold are ended as completed, not as cancelled */
    uint64_t rounds, submitted, ended[4];
    _Atomic uint64_t ended_by_all;
};

static struct scene scene;

static int64_t some_time(struct random_source *random) {
    return (int64_t)random_below(random, 4 * (uint64_t)HTW_MILLISECOND);
}

static int64_t some_timeout(struct random_source *random) {
    return random_one_in(random, 3) ? HTW_NEVER_NS : some_time(random);
}

static void submit(struct random_source *random) {
    struct slot *slot = slot_claim();
    if (slot == NULL)
        return;
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    request->slot = slot;
    request->threshold = (unsigned)random_below(random, THRESHOLDS);
    struct htw_threshold *threshold = scene.thresholds[request->threshold];
    request->value = htw_threshold_value(threshold) + random_below(random, 300);
    slot->request = &request->base;
    uint64_t life = slot_begin(slot);
    int result =
        stress_await_value(&request->base, threshold, request->value, some_timeout(random));
    if (result == HTW_WATCHED)
        slot_open(slot, life);
    if (result >= 0)
        return;
    slot_shut(slot);
    stress_request_free(&request->base);
    slot_leave(slot, &(struct slot_life) { .refused = true });
}

static void advance(struct random_source *random) {
    unsigned which = (unsigned)random_below(random, THRESHOLDS);
    uint64_t to = htw_threshold_value(scene.thresholds[which]) + random_below(random, 40);
    uint64_t highest = atomic_load(&scene.highest[which]);
    while (highest < to && !atomic_compare_exchange_weak(&scene.highest[which], &highest, to))
        ;
    stress_advance(&scene.home, scene.thresholds[which], to);
}

static void lower(struct random_source *random) {
    struct htw_threshold *threshold = scene.thresholds[random_below(random, THRESHOLDS)];
    uint64_t now = htw_threshold_value(threshold);
    uint64_t by = random_below(random, random_one_in(random, 8) ? now + 1 : 60);
    CHECK_EQUAL(htw_threshold_lower(threshold, by < now ? now - by : 0), 0);
}

static void end_all(struct random_source *random) {
    int64_t ended = stress_end_all(&scene.home, scene.thresholds[random_below(random, THRESHOLDS)],
                                   scene.completes ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED);
    atomic_fetch_add_explicit(&scene.ended_by_all, (uint64_t)ended, memory_order_relaxed);
}

static void act(struct random_source *random) {
    switch (random_below(random, 32)) {
    case 0:
    case 1:
    case 2:
        advance(random);
        break;
    case 3:
        lower(random);
        break;
    case 4:
    case 5:
        slot_end_some(random);
        break;
    case 6:
        if (random_one_in(random, 8))
            end_all(random);
        break;
    case 7:
    case 8:
    case 9:
        slot_set_some_timeout(random, some_time(random));
        break;
    default:
        submit(random);
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
    request->reached =
        scene.completes || atomic_load(&scene.highest[request->threshold]) >= request->value;
    if (reason == HTW_REASON_COMPLETED || reason == HTW_REASON_CANCELLED)
        stress_in_order(request->value);
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
    CHECK(request->value > htw_threshold_value(scene.thresholds[request->threshold]));
    CHECK(atomic_load(&base->earliest_ns) == HTW_NEVER_NS);
}

/* Nobody else is at work: none is left behind. */
static void end_thresholds(void) {
    for (unsigned i = 0; i < THRESHOLDS; i++)
        stress_end_all(&scene.home, scene.thresholds[i], HTW_REASON_CANCELLED);
    CHECK(slots_are_empty());
    for (unsigned i = 0; i < THRESHOLDS; i++)
        CHECK_EQUAL(htw_threshold_destroy(scene.thresholds[i]), 0);
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards) {
    static const struct stress_hooks hooks = { ask, end, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    for (unsigned i = 0; i < THRESHOLDS; i++) {
        atomic_store(&scene.highest[i], 1000);
        CHECK_EQUAL(htw_threshold_create(scene.home.purgatory, 1000, &scene.thresholds[i]), 0);
    }
    atomic_store(&scene.calm, false);
    atomic_store(&scene.round_end, stress_now_ns() + ROUND_NS);
    scene.closes = scene.rounds % 2 == 1;
    scene.completes = scene.rounds++ % 4 >= 2;
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

static void part(uint32_t workers, uint32_t shards) {
    stress_part("changes: %u workers, %u shards", workers, shards);
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 50 * HTW_MICROSECOND;
    struct htw_scheduler *scheduler = stress_create(&options);
    scene.rounds = scene.submitted = 0;
    for (unsigned i = 0; i < 4; i++)
        scene.ended[i] = 0;
    do
        play_round(scheduler, shards);
    while (stress_goes_on());
    printf("  submitted %llu, completed %llu, expired %llu, cancelled %llu, closed %llu\n"
           "  of these, ended with all others of a threshold %llu\n",
           (unsigned long long)scene.submitted, (unsigned long long)scene.ended[0],
           (unsigned long long)scene.ended[1], (unsigned long long)scene.ended[2],
           (unsigned long long)scene.ended[3],
           (unsigned long long)atomic_exchange(&scene.ended_by_all, 0));
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    HTW__ANNOTATE_ATOMIC(&scene, sizeof(scene));
    stress_begin(argc, argv, 2);
    part(0, 1);
    part(3, 0);
    return 0;
}
