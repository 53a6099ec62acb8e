/* SPDX-License-Identifier: MIT */
/*
 * instructions.c - the main operations of the wheel, the scheduler and the purgatory, for a
 * simulator that counts instructions. Times depend on the machine; this count does not.
 * instructions.py counts the function measured() and all that it calls.
 *
 * usage: htw-instructions WORKLOAD TIMERS     prints the number of operations
 */
#include "common/random.h"

#include <htw/htw.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PAIRS 100000
#define EXPIRE_TICKS 60000
#define DAY 86400000.0
#define BATCH 64

struct state {
    struct htw_wheel *wheel;
    struct htw_timer *timers;
    size_t count;
    struct random random;
    struct htw_scheduler *scheduler;
    htw_handle *handles;
    struct htw_purgatory *purgatory;
    struct htw_request *requests;
    const struct htw_request *ready; /* the only request that can be completed */
};

static void arm(struct state *state, size_t i, uint64_t deadline) {
    if (htw_wheel_schedule(state->wheel, &state->timers[i], deadline) != 0)
        abort();
}

static size_t advance(struct state *state, uint64_t now) {
    struct htw_timer *timers[BATCH];
    size_t total = 0;
    size_t count;
    int progress;
    do {
        progress = htw_wheel_poll_batch(state->wheel, now, timers, BATCH, 0, &count);
        total += count;
    } while (progress == HTW_MORE);
    return total;
}

static void prepare_churn(struct state *state) {
    for (size_t i = 0; i < state->count; i++)
        arm(state, i, 1000 + random_scale(random_low(random_draw(&state->random)), 59000));
}

static size_t churn(struct state *state) {
    for (size_t i = 0; i < PAIRS; i++) {
        uint64_t draw = random_draw(&state->random);
        size_t index = random_scale(random_high(draw), state->count);
        if (!htw_wheel_cancel(state->wheel, &state->timers[index]))
            abort();
        arm(state, index, 1000 + random_scale(random_low(draw), 59000));
    }
    return PAIRS;
}

static void prepare_expire(struct state *state) {
    for (size_t i = 0; i < state->count; i++)
        arm(state, i, 1 + random_scale(random_low(random_draw(&state->random)), EXPIRE_TICKS));
}

static size_t expire(struct state *state) {
    size_t expired = 0;
    for (uint64_t tick = 1; tick <= EXPIRE_TICKS; tick++)
        expired += advance(state, tick);
    return expired;
}

static void prepare_long(struct state *state) {
    for (size_t i = 0; i < state->count; i++) {
        double even = (double)(random_draw(&state->random) >> 11) * 0x1p-53;
        arm(state, i, (uint64_t)exp(even * log(DAY)));
    }
}

static size_t drain_long(struct state *state) {
    size_t expired = 0;
    uint64_t next;
    while ((next = htw_wheel_next(state->wheel)) != HTW_NEVER_TICK)
        expired += advance(state, next);
    return expired;
}

static void never_due(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    abort();
}

/* Long enough that no timer falls due, even in a simulator. */
static int64_t draw_delay_ns(struct state *state) {
    return HTW_SECOND *
           (int64_t)(3600 + random_scale(random_low(random_draw(&state->random)), 3600));
}

/* One shard and no threads: the count must not depend on the CPU of a thread. */
static void prepare_pair(struct state *state) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.workers = HTW_NO_WORKERS;
    options.embedded = true;
    options.shards = 1;
    if (htw_scheduler_create(&state->scheduler, &options) != 0)
        abort();
    for (size_t i = 0; i < state->count; i++)
        if (htw_schedule(state->scheduler, draw_delay_ns(state), never_due, NULL,
                         &state->handles[i]) != 0)
            abort();
}

static void prepare_pair_observed(struct state *state) {
    prepare_pair(state);
    if (htw_scheduler_observe(state->scheduler, HTW_OBSERVE_SITES) != 0)
        abort();
}

/* Each caller passes a constant flag. */
static inline size_t pairs(struct state *state, bool is_absolute) {
    int64_t now_ns = htw_scheduler_now(state->scheduler);
    for (size_t i = 0, oldest = 0; i < PAIRS; i++) {
        htw_handle *place = &state->handles[oldest], handle = *place;
        int64_t delay_ns = draw_delay_ns(state);
        int error = is_absolute ? htw_schedule_at(state->scheduler, now_ns + delay_ns, never_due,
                                                  NULL, place)
                                : htw_schedule(state->scheduler, delay_ns, never_due, NULL, place);
        if (error != 0 || htw_cancel(state->scheduler, handle) != HTW_CANCELLED)
            abort();
        oldest = oldest + 1 == state->count ? 0 : oldest + 1;
    }
    return PAIRS;
}

static size_t pair(struct state *state) {
    return pairs(state, false);
}

static size_t pair_absolute(struct state *state) {
    return pairs(state, true);
}

static bool is_ready(void *context, struct htw_request *request) {
    const struct state *state = context;
    return request == state->ready;
}

static void do_nothing(void *context, struct htw_request *request, enum htw_reason reason) {
    (void)context, (void)request, (void)reason;
}

/* Request `i` waits on a key of its own, and on one that it shares with about three others. */
static void submit(struct state *state, size_t i) {
    uint64_t own = i, shared = state->count + i / 4;
    struct htw_key keys[] = { { &own, sizeof(own) }, { &shared, sizeof(shared) } };
    if (htw_purgatory_try_complete_else_watch(state->purgatory, &state->requests[i], keys, 2,
                                              draw_delay_ns(state)) != HTW_WATCHED)
        abort();
}

static void prepare_requests(struct state *state) {
    prepare_pair(state);
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = is_ready;
    options.on_complete = do_nothing;
    options.context = state;
    if (htw_purgatory_create(&state->purgatory, state->scheduler, &options) != 0)
        abort();
    for (size_t i = 0; i < state->count; i++)
        submit(state, i);
}

/* A check of one of its keys completes the oldest request, which is then submitted again. */
static size_t requests(struct state *state) {
    for (size_t i = 0, oldest = 0; i < PAIRS; i++) {
        uint64_t key = i % 2 == 0 ? oldest : state->count + oldest / 4;
        state->ready = &state->requests[oldest];
        if (htw_purgatory_check(state->purgatory, &key, sizeof(key)) != 1)
            abort();
        state->ready = NULL;
        submit(state, oldest);
        oldest = oldest + 1 == state->count ? 0 : oldest + 1;
    }
    return PAIRS;
}

static const struct workload {
    const char *name;
    void (*prepare)(struct state *state);
    size_t (*run)(struct state *state); /* returns how many operations it was */
} workloads[] = {
    { "churn", prepare_churn, churn },
    { "expire", prepare_expire, expire },
    { "long", prepare_long, drain_long },
    { "scheduler-pair", prepare_pair, pair },
    { "scheduler-pair-observed", prepare_pair_observed, pair },
    { "scheduler-pair-absolute", prepare_pair, pair_absolute },
    { "purgatory-request", prepare_requests, requests },
};

static __attribute__((noinline)) size_t measured(const struct workload *workload,
                                                 struct state *state) {
    return workload->run(state);
}

static const struct workload *find_workload(const char *name) {
    for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
        if (strcmp(workloads[i].name, name) == 0)
            return &workloads[i];
    return NULL;
}

int main(int argc, char **argv) {
    const struct workload *workload = argc == 3 ? find_workload(argv[1]) : NULL;
    struct state state = { .count = workload == NULL ? 0 : strtoul(argv[2], NULL, 10) };
    if (state.count == 0) {
        fprintf(stderr, "usage: htw-instructions WORKLOAD TIMERS; workloads:\n");
        for (size_t i = 0; i < sizeof(workloads) / sizeof(workloads[0]); i++)
            fprintf(stderr, "  %s\n", workloads[i].name);
        return 2;
    }
    random_init(&state.random, 1);
    state.timers = calloc(state.count, sizeof(*state.timers));
    state.handles = calloc(state.count, sizeof(*state.handles));
    state.requests = calloc(state.count, sizeof(*state.requests));
    if (state.timers == NULL || state.handles == NULL || state.requests == NULL ||
        htw_wheel_create(&state.wheel, NULL) != 0) {
        fprintf(stderr, "htw-instructions: no memory\n");
        return 1;
    }
    workload->prepare(&state);
    printf("%zu\n", measured(workload, &state));
    htw_wheel_destroy(state.wheel);
    htw_purgatory_destroy(state.purgatory);
    htw_scheduler_destroy(state.scheduler);
    free(state.requests);
    free(state.handles);
    free(state.timers);
    return 0;
}
