/* SPDX-License-Identifier: MIT */
/*
 * instructions.c - the main workloads on htw's wheel alone, for a simulator that counts
 * instructions. Times wobble with the machine; this count does not. What is counted is the
 * function measured() and all that it calls (instructions.py).
 *
 * usage: htw-instructions WORKLOAD TIMERS     prints for how many operations
 */
#include "random.h"

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
    while ((next = htw_wheel_next(state->wheel)) != HTW_NEVER)
        expired += advance(state, next);
    return expired;
}

static const struct workload {
    const char *name;
    void (*prepare)(struct state *state);
    size_t (*run)(struct state *state); /* returns how many operations it was */
} workloads[] = {
    { "churn", prepare_churn, churn },
    { "expire", prepare_expire, expire },
    { "long", prepare_long, drain_long },
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
        fprintf(stderr, "usage: htw-instructions churn|expire|long TIMERS\n");
        return 2;
    }
    random_init(&state.random, 1);
    state.timers = calloc(state.count, sizeof(*state.timers));
    if (state.timers == NULL || htw_wheel_create(&state.wheel, NULL) != 0) {
        fprintf(stderr, "htw-instructions: no memory\n");
        return 1;
    }
    workload->prepare(&state);
    printf("%zu\n", measured(workload, &state));
    htw_wheel_destroy(state.wheel);
    free(state.timers);
    return 0;
}
