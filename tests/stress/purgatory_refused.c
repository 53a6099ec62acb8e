/* SPDX-License-Identifier: MIT */
/*
 * purgatory_refused.c - submissions fail because the scheduler holds no more timers, while other
 * threads complete or cancel the request, check its keys, and cancel them.
 *
 * Either the request is the caller's again, and no call has returned that it ends it, or it has
 * ended in the call.
 */
/* holds: purgatory-13 */
#include "slots.h"

#include <sched.h>

#define THREADS 6u
#define SUBMITTERS 2u
#define KEYS 3u

struct request {
    struct stress_request base;
    struct slot *slot;
    uint64_t life;
};

struct scene {
    struct stress_purgatory home;
    struct slot *slots[SUBMITTERS];
};

static struct scene scene;

static bool ask(struct stress_request *base) {
    struct request *request = (struct request *)base;
    slot_open(request->slot, request->life);
    stress_dawdle();
    return random_one_in(stress_own_random(), 32);
}

static void release(struct stress_request *base) {
    struct request *request = (struct request *)base;
    struct slot_life life = { .reason = base->reason, .said_yes = base->said_yes };
    struct slot *slot = request->slot;
    slot_shut(slot);
    slot_check(slot, &life);
    stress_request_free(base);
}

static void submit(struct slot *slot) {
    struct random_source *random = stress_own_random();
    struct request *request = stress_request_create(&scene.home, sizeof(*request));
    uint64_t keys[] = { random_below(random, KEYS), random_below(random, KEYS), KEYS };
    request->slot = slot;
    request->life = slot_begin(slot);
    slot->request = &request->base;
    int result =
        stress_submit(&request->base, keys, 1 + (size_t)random_below(random, 3), HTW_SECOND);
    CHECK(result == HTW_FINISHED || result == -EAGAIN);
    if (result == HTW_FINISHED)
        return;
    slot_shut(slot);
    slot_check(slot, &(struct slot_life) { .refused = true });
    stress_request_free(&request->base);
}

static void interfere(struct random_source *random) {
    uint64_t key = random_below(random, KEYS);
    if (!random_one_in(random, 8)) {
        if (!slot_end(scene.slots[random_below(random, SUBMITTERS)], random))
            sched_yield(); /* the request is not on its keys yet */
    } else if (random_one_in(random, 4)) {
        stress_cancel_key(&scene.home, key);
    } else {
        stress_check(&scene.home, key, STRESS_ALL);
    }
}

static void work(struct stress_thread *thread) {
    while (stress_goes_on())
        for (unsigned i = 0; i < 32; i++)
            if (thread->index < SUBMITTERS)
                submit(scene.slots[thread->index]);
            else
                interfere(&thread->random);
}

static void never(void *arg, const struct htw_expiration *expiration) {
    (void)expiration;
    stress_item_release(arg);
}

static void part(uint32_t shards) {
    stress_part("refused: %u shards", shards);
    static const struct stress_hooks hooks = { ask, NULL, release };
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.max_pending = 1;
    struct htw_scheduler *scheduler = stress_create(&options);
    CHECK_EQUAL(htw_schedule(scheduler, HTW_NEVER_NS, never, stress_item_create(0), NULL), 0);
    stress_purgatory_open(&scene.home, scheduler, &hooks, shards);
    for (unsigned i = 0; i < SUBMITTERS; i++) {
        scene.slots[i] = slot_claim();
        CHECK(scene.slots[i] != NULL);
    }
    stress_run(THREADS, work, NULL);
    struct stress_totals totals = { .rounds = 0 };
    stress_totals_add(&totals, &scene.home);
    stress_totals_print(&totals);
    stress_purgatory_end(&scene.home);
    for (unsigned i = 0; i < SUBMITTERS; i++) {
        slot_begin(scene.slots[i]); /* and what the last life has counted is forgotten */
        slot_leave(scene.slots[i], &(struct slot_life) { .refused = true });
    }
    stress_finish(scheduler);
}

int main(int argc, char **argv) {
    stress_begin(argc, argv, 2);
    part(0);
    part(1);
    return 0;
}
