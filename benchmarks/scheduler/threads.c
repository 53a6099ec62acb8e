/* SPDX-License-Identifier: MIT */
/* threads.c - each producer schedules a timer and cancels the one that it scheduled 1000 before. */
#include "delays.h"
#include "firing.h"
#include "thread.h"
#include "window.h"

#include <stdlib.h>

#define LAG 1000

struct producer {
    alignas(64) _Atomic uint64_t pairs; /* written by the producer */
    const struct peer *peer;
    struct delays delays;
    pthread_t thread;
    uint64_t scheduled, cancelled;
    uint64_t handles[LAG];
};

static struct producer *producers;
static int producer_count;
static atomic_bool stopping;

static void fill(struct producer *producer) {
    for (int i = 0; i < LAG; i++)
        peer_schedule(producer->peer, clock_now_ns(), delays_next_ns(&producer->delays),
                      stray_fired, NULL, &producer->handles[i]);
    producer->scheduled += LAG;
}

static void lap(struct producer *producer) {
    const struct peer *peer = producer->peer;
    int64_t now_ns = clock_now_ns();
    unsigned cancelled = 0;
    for (int i = 0; i < LAG; i++) {
        uint64_t oldest = producer->handles[i];
        peer_schedule(peer, now_ns, delays_next_ns(&producer->delays), stray_fired, NULL,
                      &producer->handles[i]);
        cancelled += peer->cancel(oldest);
    }
    producer->scheduled += LAG;
    producer->cancelled += cancelled;
}

static void *produce(void *context) {
    struct producer *producer = context;
    fill(producer);
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        lap(producer);
        atomic_store_explicit(&producer->pairs, producer->pairs + LAG, memory_order_relaxed);
    }
    for (int i = 0; i < LAG; i++)
        producer->cancelled += producer->peer->cancel(producer->handles[i]);
    return NULL;
}

static uint64_t pairs(void) {
    uint64_t sum = 0;
    for (int i = 0; i < producer_count; i++)
        sum += atomic_load_explicit(&producers[i].pairs, memory_order_relaxed);
    return sum;
}

static void run(const struct options *options) {
    options->peer->start(options->workers);
    producer_count = options->producers;
    producers = aligned_alloc(64, sizeof(*producers) * (size_t)producer_count);
    if (producers == NULL)
        report_out_of_memory();
    for (int i = 0; i < producer_count; i++) {
        producers[i] = (struct producer) { .peer = options->peer };
        delays_init(&producers[i].delays, (uint64_t)i, HTW_SECOND, 30 * HTW_SECOND);
        producers[i].thread = thread_start(produce, &producers[i]);
    }
    window_measure_pairs(options, pairs);
    atomic_store(&stopping, true);
    uint64_t scheduled = 0, cancelled = 0;
    for (int i = 0; i < producer_count; i++) {
        pthread_join(producers[i].thread, NULL);
        scheduled += producers[i].scheduled;
        cancelled += producers[i].cancelled;
    }
    window_check(options, scheduled, cancelled);
}

const struct workload workload_threads = {
    .name = "threads",
    .many_producers = true,
    .seconds = 5,
    .run = run,
};
