/* SPDX-License-Identifier: MIT */
/*
 * ring.h - hands handles from one thread to one other, a batch at a time, so that the hand-over
 * costs little beside what is done with them. Whoever has to wait sleeps: on few cores a
 * spinning thread would take the time of those that it waits for.
 */
#ifndef BENCH_SCHEDULER_RING_H
#define BENCH_SCHEDULER_RING_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RING_BATCH 100
#define RING_CAPACITY (64 * RING_BATCH)

struct ring {
    alignas(64) _Atomic uint64_t put;   /* written by the giver */
    _Atomic bool closed;                /* the same */
    alignas(64) _Atomic uint64_t taken; /* written by the taker */
    alignas(64) uint64_t slots[RING_CAPACITY];
};

void ring_give(struct ring *ring, const uint64_t *batch);

/* The giver gives no more. */
void ring_close(struct ring *ring);

/* False when there is nothing left in a ring that is closed. */
bool ring_take(struct ring *ring, uint64_t *batch);

/* How many have been taken. */
static inline uint64_t ring_taken(struct ring *ring) {
    return atomic_load_explicit(&ring->taken, memory_order_relaxed);
}

#endif
