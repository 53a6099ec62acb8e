/* SPDX-License-Identifier: MIT */
/*
 * impl_null.c - does nothing: its figures are those of the harness, with its draws and its access
 * to each object.
 */
#include "implementations.h"

static char nothing;

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity, (void)tally;
    return &nothing;
}

static void init(void *self, void *timer) {
    (void)self, (void)timer;
}

static void schedule(void *self, void *timer, uint64_t deadline) {
    (void)self, (void)timer, (void)deadline;
}

static void cancel(void *self, void *timer) {
    (void)self, (void)timer;
}

static void advance(void *self, uint64_t now) {
    (void)self, (void)now;
}

const struct bench_implementation bench_null = {
    .name = "null",
    .about = "the harness alone",
    .timer_size = 48, /* a cache line with the record, as for most others */
    .counts_only = true,
    .create = create,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = schedule,
    .advance = advance,
};
