/* SPDX-License-Identifier: MIT */
/*
 * lateness.c - 100 000 timers a second, all of which fire: how late they are, and what they cost.
 */
#include "../common/process.h"
#include "expirations.h"
#include "options.h"

#define TIMERS_PER_MS 100
#define PATIENCE_SECONDS 60

static void run(const struct options *options) {
    options->peer->start(options->workers);
    struct delays delays;
    delays_init(&delays, 1, HTW_MILLISECOND, HTW_SECOND);
    expirations_keep_pace(&expirations_warmup, options->peer, &delays, TIMERS_PER_MS, given.warmup);

    int64_t cpu_before_ns = process_cpu_ns();
    uint64_t timers = expirations_keep_pace(&expirations_measured, options->peer, &delays,
                                            TIMERS_PER_MS, given.seconds);
    int64_t cpu_ns = process_cpu_ns() - cpu_before_ns;
    int64_t patience_ns = clock_now_ns() + clock_ns(PATIENCE_SECONDS);
    if (!expirations_await(&expirations_measured, timers, patience_ns))
        report_count("unfired", timers - expirations_count(&expirations_measured));
    struct histogram lateness;
    expirations_lateness(&expirations_measured, &lateness);
    report_percentiles("lateness", &lateness);
    report_count("early", lateness.early);
    report_number("cpu_ns_per_timer", (double)cpu_ns / (double)timers);
    expirations_check(&expirations_measured, timers);
}

const struct workload workload_lateness = {
    .name = "lateness",
    .about = "100 timers each millisecond; all fire",
    .seconds = 10,
    .run = run,
};
