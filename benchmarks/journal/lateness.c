/* SPDX-License-Identifier: MIT */
/* lateness.c - so many jobs a second with delays of 1 to 1000 ms: how late they are delivered. */
#include "options.h"

#include "../common/process.h"

#define PATIENCE_SECONDS 30

/* Puts what is due of `rate` since `start_ns`. A peer without callbacks is polled each millisecond. */
static void keep_pace(const struct peer *peer, void *connection, struct load *load, uint64_t rate,
                      double seconds) {
    int64_t start_ns = clock_now_ns();
    uint64_t before = load->put;
    for (int64_t ms = 1; ms <= (int64_t)(seconds * 1e3); ms++) {
        clock_sleep_until(start_ns + ms * 1000000);
        load->put_next = (uint64_t)ms * rate / 1000 - (load->put - before);
        peer->round(connection, load);
    }
}

static void await_all(const struct peer *peer, void *connection, struct load *load) {
    int64_t patience_ns = clock_now_ns() + clock_ns(PATIENCE_SECONDS);
    while (load_ended(load) < load->put) {
        if (clock_now_ns() > patience_ns)
            report_failure("%llu jobs were not delivered",
                           (unsigned long long)(load->put - load_ended(load)));
        clock_sleep_until(clock_now_ns() + 1000000);
        if (peer->receive == NULL)
            peer->round(connection, load);
    }
}

static void run(const struct options *options) {
    const struct peer *peer = options->peer;
    peer->start(peer, 0);
    void *connection = peer->connect();
    static struct load warmup, measured;
    for (int i = 0; i < 2; i++) {
        struct load *load = i == 0 ? &warmup : &measured;
        load_init(load, (unsigned)i);
        load->delay_min_ns = clock_ns(1e-3);
        load->delay_max_ns = clock_ns(1);
        if (peer->receive != NULL)
            peer->receive(load);
        int64_t cpu_ns = process_cpu_ns();
        double seconds = i == 0 ? given.warmup : given.seconds;
        keep_pace(peer, connection, load, options->jobs, seconds);
        cpu_ns = process_cpu_ns() - cpu_ns;
        await_all(peer, connection, load);
        if (i == 1 && peer->is_embedded)
            report_number("cpu_us_per_job", (double)cpu_ns / 1e3 / (double)load->put);
    }
    report_percentiles("lateness", &measured.lateness);
    peer->stop();
}

const struct workload workload_lateness = {
    .name = "lateness",
    .about = "jobs at a constant rate, delayed by 1 to 1000 ms",
    .seconds = 2,
    .count = 10000,
    .run = run,
};
