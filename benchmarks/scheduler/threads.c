/* SPDX-License-Identifier: MIT */
/* threads.c - each producer schedules a timer and cancels the one that it scheduled 1000 before. */
#include "../common/thread.h"
#include "delays.h"
#include "expirations.h"
#include "window.h"

#define LAG 1000 /* pending timers of a producer */

struct producer {
    alignas(64) _Atomic uint64_t pairs; /* written by the producer */
    const struct peer *peer;
    struct delays delays;
    pthread_t thread;
    uint64_t scheduled, cancelled, handles[LAG];
};

static struct producer *producers;
static uint64_t producer_count;
static atomic_bool stopping;

static void schedule(struct producer *producer, int64_t now_ns, unsigned i) {
    peer_schedule(producer->peer, now_ns, delays_next_ns(&producer->delays), stray_expired, NULL,
                  &producer->handles[i]);
}

static void lap(struct producer *producer) {
    const struct peer *peer = producer->peer;
    int64_t now_ns = clock_now_ns();
    unsigned cancelled = 0;
    thread_let_others_run(now_ns);
    for (unsigned i = 0; i < LAG; i++) {
        uint64_t oldest = producer->handles[i];
        schedule(producer, now_ns, i);
        cancelled += peer->cancel(oldest);
    }
    producer->scheduled += LAG;
    producer->cancelled += cancelled;
}

static void *produce(void *context) {
    struct producer *producer = context;
    for (unsigned i = 0; i < LAG; i++)
        schedule(producer, clock_now_ns(), i);
    producer->scheduled = LAG;
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        lap(producer);
        atomic_store_explicit(&producer->pairs, producer->pairs + LAG, memory_order_relaxed);
    }
    for (unsigned i = 0; i < LAG; i++)
        producer->cancelled += producer->peer->cancel(producer->handles[i]);
    return NULL;
}

static uint64_t pairs(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < producer_count; i++)
        sum += atomic_load_explicit(&producers[i].pairs, memory_order_relaxed);
    return sum;
}

static void start_producer(const struct options *options, uint64_t number) {
    struct producer *producer = &producers[number];
    producer->peer = options->peer;
    delays_init(&producer->delays, number, HTW_SECOND, 30 * HTW_SECOND);
    producer->thread = thread_start(produce, producer);
}

static void run(const struct options *options) {
    options->peer->start(options->workers);
    producer_count = options->producers;
    producers = thread_allocate(producer_count, sizeof(*producers));
    for (uint64_t i = 0; i < producer_count; i++)
        start_producer(options, i);
    window_measure_pairs(options, pairs);
    atomic_store(&stopping, true);
    uint64_t scheduled = 0, cancelled = 0;
    for (uint64_t i = 0; i < producer_count; i++) {
        pthread_join(producers[i].thread, NULL);
        scheduled += producers[i].scheduled;
        cancelled += producers[i].cancelled;
    }
    window_check(options, scheduled, cancelled);
}

const struct workload workload_threads = {
    .name = "threads",
    .about = "each producer schedules a timer and cancels the one from 1000 before",
    .seconds = 5,
    .run = run,
};
