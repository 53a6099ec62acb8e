/* SPDX-License-Identifier: MIT */
/* window.c - measures pairs of schedule and cancel while the threads of a workload run. */
#include "window.h"

#include "../common/process.h"
#include "expirations.h"

#define SAMPLE_NS 10000000
#define PATIENCE_NS 5000000000

static uint64_t count_pending(const struct peer *peer) {
    return peer->pending != NULL ? peer->pending() : 0;
}

void window_measure_pairs(const struct options *options, window_pairs *pairs) {
    clock_sleep_until(clock_now_ns() + clock_ns(given.warmup));
    uint64_t pairs_before = pairs();
    int64_t cpu_before_ns = process_cpu_ns();
    int64_t start_ns = clock_now_ns();
    int64_t end_ns = start_ns + clock_ns(given.seconds);
    uint64_t pending_max = 0;
    for (int64_t next_ns = start_ns; next_ns < end_ns; next_ns += SAMPLE_NS) {
        clock_sleep_until(next_ns);
        uint64_t pending = count_pending(options->peer);
        pending_max = pending > pending_max ? pending : pending_max;
    }
    clock_sleep_until(end_ns);
    /* On a busy machine no lap may end in a short time. */
    while (pairs() == pairs_before && clock_now_ns() < end_ns + PATIENCE_NS)
        clock_sleep_until(clock_now_ns() + SAMPLE_NS);
    double seconds = (double)(clock_now_ns() - start_ns) / 1e9;
    int64_t cpu_ns = process_cpu_ns() - cpu_before_ns;
    uint64_t done = pairs() - pairs_before;
    if (done == 0)
        report_failure("no pair was done in the measured time");
    report_number("pairs_per_s", (double)done / seconds);
    report_number("cpu_ns_per_pair", (double)cpu_ns / (double)done);
    if (options->peer->pending != NULL)
        report_count("pending_max", pending_max);
}

void window_check(const struct options *options, uint64_t scheduled, uint64_t cancelled) {
    int64_t deadline_ns = clock_now_ns() + PATIENCE_NS;
    for (;;) {
        uint64_t pending = count_pending(options->peer);
        if (cancelled + stray_count() == scheduled && pending == 0)
            return;
        if (clock_now_ns() >= deadline_ns)
            report_failure("of %llu timers %llu were cancelled, %llu fired, %llu are pending",
                           (unsigned long long)scheduled, (unsigned long long)cancelled,
                           (unsigned long long)stray_count(), (unsigned long long)pending);
        clock_sleep_until(clock_now_ns() + SAMPLE_NS);
    }
}
