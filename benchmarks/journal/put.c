/* SPDX-License-Identifier: MIT */
/* put.c - threads that put one job after the other, and wait until each is durable; or also lease and end it. */
#include "options.h"

#include "../common/thread.h"

struct putter {
    const struct peer *peer;
    enum passage { PUTS, LEASES, LEASES_DURABLY } passage;
    void *connection;
    struct load load;
    struct histogram durations; /* of the measured time */
    pthread_t thread;
};

enum phase { WARMUP, MEASURED, ENDING };

static _Atomic(enum phase) phase;

static void put_or_pass(struct putter *putter, int64_t deadline_ns, const char *payload) {
    const struct peer *peer = putter->peer;
    if (putter->passage == PUTS)
        peer->put(putter->connection, deadline_ns, payload, putter->load.payload_size);
    else
        peer->pass(putter->connection, payload, putter->load.payload_size,
                   putter->passage == LEASES_DURABLY);
}

static void *put(void *arg) {
    struct putter *putter = arg;
    char payload[PAYLOAD_MAX + 1];
    for (enum phase seen; (seen = atomic_load(&phase)) != ENDING;) {
        int64_t deadline_ns = load_next(&putter->load, payload);
        int64_t begin_ns = clock_now_ns();
        put_or_pass(putter, deadline_ns, payload);
        if (seen == MEASURED)
            histogram_record(&putter->durations, clock_now_ns() - begin_ns);
    }
    return NULL;
}

static void putter_init(struct putter *putter, const struct options *options, unsigned index,
                        enum passage passage) {
    putter->peer = options->peer;
    putter->passage = passage;
    putter->connection = options->peer->connect();
    load_init(&putter->load, index);
    putter->load.delay_min_ns = putter->load.delay_max_ns = clock_ns(86400);
}

static void run(const struct options *options, enum passage passage) {
    const struct peer *peer = options->peer;
    if (passage != PUTS && peer->pass == NULL)
        report_failure("%s has no queues here", peer->name);
    peer->start(peer, 0);
    struct putter *putters = thread_allocate(options->threads, sizeof(*putters));
    for (unsigned i = 0; i < options->threads; i++)
        putter_init(&putters[i], options, i, passage);
    for (unsigned i = 0; i < options->threads; i++)
        putters[i].thread = thread_start(put, &putters[i]);
    clock_sleep_until(clock_now_ns() + clock_ns(given.warmup));
    int64_t begin_ns = clock_now_ns();
    atomic_store(&phase, MEASURED);
    clock_sleep_until(begin_ns + clock_ns(given.seconds));
    atomic_store(&phase, ENDING);
    double seconds = (double)(clock_now_ns() - begin_ns) / 1e9;

    struct histogram durations = { 0 };
    uint64_t all = 0;
    for (unsigned i = 0; i < options->threads; i++) {
        pthread_join(putters[i].thread, NULL);
        histogram_merge(&durations, &putters[i].durations);
        all += putters[i].load.put;
    }
    uint64_t found = peer->count(), left = passage == PUTS ? all : 0;
    if (found != left)
        report_failure("%llu jobs were put, and the store has %llu", (unsigned long long)all,
                       (unsigned long long)found);
    report_number(passage == PUTS ? "puts_per_s" : "jobs_per_s", (double)durations.total / seconds);
    report_percentiles(passage == PUTS ? "put" : "job", &durations);
    peer->stop();
}

static void run_put(const struct options *options) {
    run(options, PUTS);
}

static void run_queue(const struct options *options) {
    run(options, LEASES);
}

static void run_queue_durable(const struct options *options) {
    run(options, LEASES_DURABLY);
}

const struct workload workload_put = {
    .name = "put",
    .about = "threads put jobs, each waiting until its job is durable",
    .seconds = 1.5,
    .run = run_put,
};

const struct workload workload_queue = {
    .name = "queue",
    .about = "threads put a job, lease the next one, and end it; put and end are durable",
    .seconds = 1.5,
    .run = run_queue,
};

const struct workload workload_queue_durable = {
    .name = "queue-durable",
    .about = "the same, and the lease is durable, too",
    .seconds = 1.5,
    .run = run_queue_durable,
};
