/* SPDX-License-Identifier: MIT */
/*
 * headline.c - one thread schedules as fast as it can, and all timers fire. The workload waits for
 * the backlog of the peer afterwards.
 */
#include "../common/process.h"
#include "expirations.h"
#include "options.h"

#define WARMUP_TIMERS_PER_MS 500 /* every peer can sustain this */
#define READ_CLOCK_EVERY 1000
#define READ_MEMORY_EVERY 1000000
#define PATIENCE_SECONDS 60

static void warm_up(const struct options *options, struct delays *delays) {
    uint64_t warm = expirations_keep_pace(&expirations_warmup, options->peer, delays,
                                          WARMUP_TIMERS_PER_MS, given.warmup);
    expirations_await(&expirations_warmup, warm, clock_now_ns() + clock_ns(PATIENCE_SECONDS));
}

/* Returns how many were scheduled. */
static uint64_t schedule(const struct options *options, struct delays *delays, int64_t end_ns) {
    uint64_t enough = process_resident_bytes() + process_available_bytes() / 4 * 3;
    uint64_t scheduled = 0;
    while (clock_now_ns() < end_ns) {
        for (int i = 0; i < READ_CLOCK_EVERY; i++)
            expirations_schedule(&expirations_measured, options->peer, delays_next_ns(delays));
        scheduled += READ_CLOCK_EVERY;
        if (scheduled % READ_MEMORY_EVERY == 0 && process_resident_bytes() > enough)
            report_out_of_memory(); /* or the machine would swap */
    }
    return scheduled;
}

static void report(uint64_t scheduled, int64_t cpu_ns) {
    uint64_t fired = expirations_count(&expirations_measured);
    struct histogram lateness;
    expirations_lateness(&expirations_measured, &lateness);
    report_number("cpu_ns_per_timer", (double)cpu_ns / (double)fired);
    report_percentiles("lateness", &lateness);
    report_count("early", lateness.early);
    expirations_check(&expirations_measured, scheduled);
}

static void run(const struct options *options) {
    options->peer->start(options->workers);
    struct delays delays;
    delays_init(&delays, 1, HTW_MILLISECOND, HTW_SECOND);
    warm_up(options, &delays);

    int64_t cpu_before_ns = process_cpu_ns();
    int64_t start_ns = clock_now_ns();
    uint64_t scheduled = schedule(options, &delays, start_ns + clock_ns(given.seconds));
    uint64_t fired = expirations_count(&expirations_measured);
    int64_t stop_ns = clock_now_ns();
    bool drained =
        expirations_await(&expirations_measured, scheduled, stop_ns + clock_ns(PATIENCE_SECONDS));
    double drain_s = (double)(clock_now_ns() - stop_ns) / 1e9;
    int64_t cpu_ns = process_cpu_ns() - cpu_before_ns;
    double seconds = (double)(stop_ns - start_ns) / 1e9;
    report_number("scheduled_per_s", (double)scheduled / seconds);
    report_number("fired_per_s", (double)fired / seconds);
    report_count("backlog_at_end", scheduled - fired);
    report_number(drained ? "drain_s" : "drain_given_up_after_s", drain_s);
    if (!drained)
        report_count("unfired", scheduled - expirations_count(&expirations_measured));
    report(scheduled, cpu_ns);
}

const struct workload workload_headline = {
    .name = "headline",
    .about = "one thread schedules as fast as it can; all timers fire within a second",
    .seconds = 10,
    .run = run,
};
