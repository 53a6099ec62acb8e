/* SPDX-License-Identifier: MIT */
/* foreign.c - each producer schedules timers, and another thread cancels them: two threads a
 * producer. */
#include "delays.h"
#include "firing.h"
#include "ring.h"
#include "../common/thread.h"
#include "window.h"

#include <stdlib.h>

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

static void *produce(void *context) {
    struct couple *couple = context;
    uint64_t batch[RING_BATCH];
    while (!atomic_load_explicit(&stopping, memory_order_relaxed)) {
        int64_t now_ns = clock_now_ns();
        for (int i = 0; i < RING_BATCH; i++)
            peer_schedule(couple->peer, now_ns, delays_next_ns(&couple->delays), stray_fired, NULL,
                          &batch[i]);
        couple->scheduled += RING_BATCH;
        ring_give(&couple->ring, batch);
    }
    ring_close(&couple->ring);
    return NULL;
}

static void *cancel(void *context) {
    struct couple *couple = context;
    uint64_t batch[RING_BATCH];
    while (ring_take(&couple->ring, batch))
        for (int i = 0; i < RING_BATCH; i++)
            couple->cancelled += couple->peer->cancel(batch[i]);
    return NULL;
}

static uint64_t pairs(void) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < couple_count; i++)
        sum += ring_taken(&couples[i].ring);
    return sum;
}

static void run(const struct options *options) {
    options->peer->start(options->workers);
    couple_count = options->producers;
    couples = aligned_alloc(64, sizeof(*couples) * couple_count);
    if (couples == NULL)
        report_out_of_memory();
    for (uint64_t i = 0; i < couple_count; i++) {
        couples[i] = (struct couple) { .peer = options->peer };
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
