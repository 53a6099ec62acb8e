/* SPDX-License-Identifier: MIT */
/*
 * foreign.c - each producer schedules timers, and another thread cancels them: two threads a
 * producer. A ring hands the handles over in batches, so that it costs little beside the calls.
 */
#include "../common/thread.h"
#include "delays.h"
#include "expirations.h"
#include "window.h"

#define RING_BATCH 100
#define RING_CAPACITY (64 * RING_BATCH)
#define NAP_NS 50000

struct ring {
    alignas(64) _Atomic uint64_t pushed; /* written by the producer */
    _Atomic bool closed;                 /* the same: it pushes no more */
    alignas(64) _Atomic uint64_t popped; /* written by the canceller */
    alignas(64) uint64_t slots[RING_CAPACITY];
};

struct couple {
    struct ring ring;
    const struct peer *peer;
    struct delays delays;
    pthread_t producer, canceller;
    uint64_t scheduled, cancelled;
};

static struct couple *couples;
static uint64_t couple_count;
static atomic_bool stopping;

/* On few cores a thread that spins would take the CPU time of the thread that it waits for. */
static void nap(void) {
    nanosleep(&(struct timespec) { .tv_nsec = NAP_NS }, NULL);
}

static void push(struct ring *ring, const uint64_t *batch) {
    uint64_t position = atomic_load_explicit(&ring->pushed, memory_order_relaxed);
    while (position - atomic_load_explicit(&ring->popped, memory_order_acquire) == RING_CAPACITY)
        nap();
    memcpy(&ring->slots[position % RING_CAPACITY], batch, RING_BATCH * sizeof(*batch));
    atomic_store_explicit(&ring->pushed, position + RING_BATCH, memory_order_release);
}

/* False if the ring is closed and empty. */
static bool pop(struct ring *ring, uint64_t *batch) {
    uint64_t position = atomic_load_explicit(&ring->popped, memory_order_relaxed);
    while (position == atomic_load_explicit(&ring->pushed, memory_order_acquire)) {
        if (atomic_load_explicit(&ring->closed, memory_order_acquire) &&
            position == atomic_load_explicit(&ring->pushed, memory_order_acquire))
            return false;
        nap();
    }
    memcpy(batch, &ring->slots[position % RING_CAPACITY], RING_BATCH * sizeof(*batch));
    atomic_store_explicit(&ring->popped, position + RING_BATCH, memory_order_release);
    return true;
}

static void *produce(void *context) {
    struct couple *couple = context;
    uint64_t batch[RING_BATCH];
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        int64_t now_ns = clock_now_ns();
        for (int i = 0; i < RING_BATCH; i++)
            peer_schedule(couple->peer, now_ns, delays_next_ns(&couple->delays), stray_expired,
                          NULL, &batch[i]);
        couple->scheduled += RING_BATCH;
        push(&couple->ring, batch);
    }
    atomic_store_explicit(&couple->ring.closed, true, memory_order_release);
    return NULL;
}

static void *cancel(void *context) {
    struct couple *couple = context;
    uint64_t batch[RING_BATCH];
    while (pop(&couple->ring, batch))
        for (int i = 0; i < RING_BATCH; i++)
            couple->cancelled += couple->peer->cancel(batch[i]);
    return NULL;
}

static uint64_t pairs(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < couple_count; i++)
        sum += atomic_load_explicit(&couples[i].ring.popped, memory_order_relaxed);
    return sum;
}

static void run(const struct options *options) {
    options->peer->start(options->workers);
    couple_count = options->producers;
    couples = thread_allocate(couple_count, sizeof(*couples));
    for (uint64_t i = 0; i < couple_count; i++) {
        couples[i].peer = options->peer;
        delays_init(&couples[i].delays, i, HTW_SECOND, 30 * HTW_SECOND);
        couples[i].producer = thread_start(produce, &couples[i]);
        couples[i].canceller = thread_start(cancel, &couples[i]);
    }
    window_measure_pairs(options, pairs);
    atomic_store(&stopping, true);
    uint64_t scheduled = 0, cancelled = 0;
    for (uint64_t i = 0; i < couple_count; i++) {
        pthread_join(couples[i].producer, NULL);
        pthread_join(couples[i].canceller, NULL);
        scheduled += couples[i].scheduled;
        cancelled += couples[i].cancelled;
    }
    window_check(options, scheduled, cancelled);
}

const struct workload workload_foreign = {
    .name = "foreign",
    .about = "each producer schedules timers, and another thread cancels them",
    .seconds = 5,
    .run = run,
};
