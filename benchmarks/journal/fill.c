/* SPDX-License-Identifier: MIT */
/* fill.c - puts many jobs that are due far in the future. */
#include "fill.h"

#define HOUR 3600.0
#define DAY (24 * HOUR)

double fill(const struct options *options, unsigned client, uint64_t jobs) {
    const struct peer *peer = options->peer;
    static struct load load; /* has histograms */
    load_init(&load, client);
    load.payload_size = options->payload_size;
    load.delay_min_ns = clock_ns(HOUR);
    load.delay_max_ns = clock_ns(2 * HOUR);
    load.in_order = !options->is_random;
    load.step_ns = clock_ns(DAY) / (int64_t)jobs;
    void *connection = peer->connect();
    uint64_t before = peer->count();
    int64_t begin_ns = clock_now_ns();
    while (load.put < jobs) {
        load.put_next = jobs - load.put < ROUND_MAX ? jobs - load.put : ROUND_MAX;
        peer->round(connection, &load);
    }
    uint64_t found = peer->count() - before;
    int64_t duration_ns = clock_now_ns() - begin_ns;
    if (found != jobs)
        report_failure("%llu jobs were put, but the store has %llu", (unsigned long long)jobs,
                       (unsigned long long)found);
    return (double)jobs * 1e9 / (double)duration_ns;
}
