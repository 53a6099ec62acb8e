/* SPDX-License-Identifier: MIT */
/*
 * load.h - the jobs that one client puts, and what has become of them. A payload is text, and holds
 * the deadline and a number, so that each delivery can be checked and no two payloads are equal.
 */
#ifndef BENCH_JOURNAL_LOAD_H
#define BENCH_JOURNAL_LOAD_H

#include "../common/clock.h"
#include "../common/histogram.h"
#include "../common/random.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAYLOAD_MIN 32
#define PAYLOAD_MAX 4096

/* The most jobs of a round. */
#define ROUND_MAX 1000

struct load {
    size_t payload_size;
    int64_t delay_min_ns, delay_max_ns;
    bool in_order;    /* deadlines are a step apart, from delay_min_ns on; otherwise at random */
    bool replaces;    /* puts a job for each that ends */
    size_t in_flight; /* the most */
    size_t put_next;  /* jobs that the next round puts, besides those */
    struct random random;
    uint64_t serial;
    int64_t start_ns, step_ns; /* of in_order */

    uint64_t put;
    atomic_uint_fast64_t ended; /* durably */
    struct histogram lateness;  /* of those delivered */
};

void load_init(struct load *load, unsigned client);

/* Writes the next payload, of load->payload_size bytes and a NUL, and returns its deadline. */
int64_t load_next(struct load *load, char *payload);

/* A job has been delivered; ends the process if it is early or damaged. */
void load_delivered(struct load *load, const char *payload, size_t size);

/* Who has seen the count sees what came before, such as `lateness`. */
static inline void load_end(struct load *load, size_t count) {
    atomic_fetch_add_explicit(&load->ended, count, memory_order_release);
}

static inline uint64_t load_ended(const struct load *load) {
    return atomic_load_explicit(&load->ended, memory_order_acquire);
}

#endif
