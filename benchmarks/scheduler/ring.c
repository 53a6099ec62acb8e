/* SPDX-License-Identifier: MIT */
#include "ring.h"

#include "../common/clock.h"

#include <string.h>

#define NAP_NS 50000

static void nap(void) {
    nanosleep(&(struct timespec) { .tv_nsec = NAP_NS }, NULL);
}

void ring_give(struct ring *ring, const uint64_t *batch) {
    uint64_t position = atomic_load_explicit(&ring->put, memory_order_relaxed);
    while (position - atomic_load_explicit(&ring->taken, memory_order_acquire) == RING_CAPACITY)
        nap();
    memcpy(&ring->slots[position % RING_CAPACITY], batch, RING_BATCH * sizeof(*batch));
    atomic_store_explicit(&ring->put, position + RING_BATCH, memory_order_release);
}

void ring_close(struct ring *ring) {
    atomic_store_explicit(&ring->closed, true, memory_order_release);
}

bool ring_take(struct ring *ring, uint64_t *batch) {
    uint64_t position = atomic_load_explicit(&ring->taken, memory_order_relaxed);
    while (position == atomic_load_explicit(&ring->put, memory_order_acquire)) {
        if (atomic_load_explicit(&ring->closed, memory_order_acquire) &&
            position == atomic_load_explicit(&ring->put, memory_order_acquire))
            return false;
        nap();
    }
    memcpy(batch, &ring->slots[position % RING_CAPACITY], RING_BATCH * sizeof(*batch));
    atomic_store_explicit(&ring->taken, position + RING_BATCH, memory_order_release);
    return true;
}
