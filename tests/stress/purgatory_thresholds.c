/* SPDX-License-Identifier: MIT */
/*
 * purgatory_thresholds.c - threads wait for values of two thresholds, near and far, that others
 * raise. Timeouts, completions and cancels of single requests and, in every other round, close
 * compete for the same requests. In the parts with `changes`, thresholds are also lowered and
 * emptied, and timeouts are changed.
 *
 * Each request ends once, and as completed only if its value was reached or a call completed it. A
 * call ends its requests in the order of their values. When all is quiet, no request waits for a
 * value that is reached or with a timeout that is due.
 */
/* holds: purgatory-11, purgatory-16, purgatory-17, purgatory-21 */
#include "slots.h"

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
    _Atomic uint64_t highest[THRESHOLDS]; /* value that a thread has advanced to, or is about to */
    _Atomic bool calm;                    /* the hooks make no calls any more */
    _Atomic int64_t round_end;
    bool changes; /* see above */
    bool closes;
    bool completes; /* htw_threshold_end_all() completes the requests, and does not cancel them */
    struct stress_totals totals;
};

static struct scene scene;

static int64_t some_time(struct random_source *random) {
    return (int64_t)random_below(random, 4 * (uint64_t)HTW_MILLISECOND);
}

/* A value that is reached already, soon, or far ahead. */
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

static struct htw_threshold *some_threshold(struct random_source *random) {
    return scene.thresholds[random_below(random, THRESHOLDS)];
}

static void submit(struct random_source *random) {
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
    bool is_reached = request->value <= now && !scene.changes;
    int64_t timeout_ns = random_one_in(random, 3) ? HTW_NEVER_NS : some_time(random);
    uint64_t life = slot_begin(slot);
    int result = stress_await_value(&request->base, threshold, request->value, timeout_ns);
    if (result == HTW_WATCHED)
        slot_open(slot, life);
    CHECK(result < 0 || !is_reached || result == HTW_FINISHED);
    if (result >= 0)
        return;
    slot_shut(slot);
    stress_request_free(&request->base);
    slot_leave(slot, &(struct slot_life) { .refused = true });
}

/* Mostly forward; a value that arrives late changes nothing. */
static void advance(struct random_source *random) {
    unsigned which = (unsigned)random_below(random, THRESHOLDS);
    struct htw_threshold *threshold = scene.thresholds[which];
    uint64_t now = htw_threshold_value(threshold);
    uint64_t to = now + random_below(random, 40);
    if (random_one_in(random, 8))
        to = now - random_below(random, now + 1);
    else if (random_one_in(random, 256))
        to = now + (random_magnitude(random) >> 30);
    uint64_t highest = atomic_load(&scene.highest[which]);
    while (highest < to && !atomic_compare_exchange_weak(&scene.highest[which], &highest, to))
        ;
    stress_advance(&scene.home, threshold, to);
    if (!scene.changes)
        CHECK(htw_threshold_value(threshold) >= to && htw_threshold_value(threshold) >= now);
}

static void lower(struct random_source *random) {
    struct htw_threshold *threshold = some_threshold(random);
    uint64_t now = htw_threshold_value(threshold);
    uint64_t by = random_below(random, random_one_in(random, 8) ? now + 1 : 60);
    CHECK_EQUAL(htw_threshold_lower(threshold, by < now ? now - by : 0), 0);
}

static void change(struct random_source *random) {
    switch (random_below(random, 8)) {
    case 0:
    case 1:
        lower(random);
        break;
    case 2:
        if (random_one_in(random, 4))
            stress_end_all(&scene.home, some_threshold(random),
                           scene.completes ? HTW_REASON_COMPLETED : HTW_REASON_CANCELLED);
        break;
    default:
        slot_set_some_timeout(random, some_time(random));
        break;
    }
}

static void act(struct random_source *random) {
    uint64_t what = random_below(random, 16);
    if (what < 2)
        advance(random);
    else if (what < 4)
        slot_end_some(random);
    else if (what < 6 && scene.changes)
        change(random);
    else
        submit(random);
}

/* ---- the hooks */

static bool ask(struct stress_request *base) {
    (void)base;
    stress_fail(__FILE__, __LINE__, "a request on a threshold was asked");
}

static void end(struct stress_request *base, enum htw_reason reason) {
    struct request *request = (struct request *)base;
    struct random_source *random = stress_own_random();
    uint64_t highest = scene.changes ? atomic_load(&scene.highest[request->threshold])
                                     : htw_threshold_value(scene.thresholds[request->threshold]);
    request->reached = scene.completes || highest >= request->value;
    if (reason == HTW_REASON_COMPLETED || reason == HTW_REASON_CANCELLED)
        stress_in_order(request->value);
    if (reason == HTW_REASON_CANCELLED && !scene.changes)
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
    CHECK(atomic_load(&base->earliest_ns) == HTW_NEVER_NS);
}

/* No other thread is at work. */
static void end_thresholds(void) {
    CHECK_EQUAL(htw_purgatory_destroy(scene.home.purgatory), -EBUSY);
    for (unsigned i = 0; i < THRESHOLDS && scene.changes; i++)
        stress_end_all(&scene.home, scene.thresholds[i], HTW_REASON_CANCELLED);
    CHECK(!scene.changes || slots_are_empty());
    atomic_store(&scene.home.closing, true);
    for (unsigned i = 0; i < THRESHOLDS; i++)
        CHECK_EQUAL(htw_threshold_destroy(scene.thresholds[i]), 0);
    CHECK(slots_are_empty());
}

static void play_round(struct htw_scheduler *scheduler, uint32_t shards, uint64_t initial) {
    static const struct stress_hooks hooks = { ask, end, release };
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    for (unsigned i = 0; i < THRESHOLDS; i++) {
        atomic_store(&scene.highest[i], initial);
        CHECK_EQUAL(htw_threshold_create(scene.home.purgatory, initial, &scene.thresholds[i]), 0);
    }
    atomic_store(&scene.calm, false);
    atomic_store(&scene.round_end, stress_now_ns() + ROUND_NS);
    scene.closes = scene.totals.rounds % 2 == 1;
    scene.completes = scene.changes && scene.totals.rounds % 4 >= 2;
    stress_watchdog_begin(&scene.home);
    stress_run(THREADS, work, NULL);
    atomic_store(&scene.calm, true);
    stress_scheduler_quiet(&scene.home); /* those that remain have no timeout */
    slots_visit(check_unreached);
    end_thresholds();
    stress_purgatory_quiet(&scene.home);
    stress_watchdog_end();
    stress_totals_add(&scene.totals, &scene.home);
    stress_purgatory_end(&scene.home);
}

static void part(uint32_t workers, uint32_t shards, uint64_t initial, bool changes) {
    stress_part("thresholds: %u workers, %u shards, from %llu%s", workers, shards,
                (unsigned long long)initial, changes ? ", lowered and emptied" : "");
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = workers;
    options.tick_ns = 50 * HTW_MICROSECOND;
    struct htw_scheduler *scheduler = stress_create(&options);
    scene.changes = changes;
    scene.totals = (struct stress_totals) { .rounds = 0 };
    do
        play_round(scheduler, shards, initial);
    while (stress_goes_on());
    stress_totals_print(&scene.totals);
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 6);
    part(0, 0, 0, false);
    part(1, 1, 1000, false);
    part(4, 4, UINT64_C(1) << 40, false);
    part(1, 0, UINT64_C(1) << 32, false);
    part(0, 1, 1000, true);
    part(3, 0, 1000, true);
    return 0;
}
