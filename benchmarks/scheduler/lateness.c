/* SPDX-License-Identifier: MIT */
/* lateness.c - 100 000 timers a second, all of which fire: how late, and at what price. */
#include "delays.h"
#include "firing.h"
#include "../common/process.h"
#include "options.h"
#include "pace.h"
#include "../common/report.h"

#define TIMERS_PER_MS 100
#define PATIENCE_SECONDS 60

static void run(const struct options *options) {
    options->peer->start(options->workers);
    struct delays delays;
    delays_init(&delays, 1, HTW_MILLISECOND, HTW_SECOND);
    pace_keep(options->peer, &firing_warmup, &delays, TIMERS_PER_MS, options->warmup);

    int64_t cpu_before_ns = process_cpu_ns();
    uint64_t timers =
        pace_keep(options->peer, &firing_measured, &delays, TIMERS_PER_MS, options->seconds);
    int64_t cpu_ns = process_cpu_ns() - cpu_before_ns;
    int64_t patience_ns = clock_now_ns() + clock_ns(PATIENCE_SECONDS);
    if (!firing_await(&firing_measured, timers, patience_ns))
        report_count("unfired", timers - firing_count(&firing_measured));
    struct histogram lateness;
    firing_lateness(&firing_measured, &lateness);
    report_percentiles("lateness", &lateness);
    report_count("early", lateness.early);
    report_number("cpu_ns_per_timer", (double)cpu_ns / (double)timers);
    firing_check(&firing_measured, timers);
}

const struct workload workload_lateness = {
    .name = "lateness",
    .about = "100 timers each millisecond; all fire",
    .seconds = 10,
    .run = run,
};
