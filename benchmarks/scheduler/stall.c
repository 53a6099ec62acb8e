/* SPDX-License-Identifier: MIT */
/*
 * stall.c - a million timers fall due within a millisecond, while another thread, the bystander,
 * schedules and cancels: how long its calls take.
 */
#include "../common/thread.h"
#include "expirations.h"
#include "options.h"

#define WARMUP_BURST 100000
#define AHEAD_NS 3000000000
/* The measured second starts so long before the burst. */
#define BEFORE_NS 100000000
#define PATIENCE_SECONDS 60
#define LAG 1000

static struct histogram unseen, calls;
static struct histogram *_Atomic recording = &unseen; /* takes the durations of calls */
static atomic_ullong laps;
static uint64_t handles[LAG];

static void lap(const struct peer *peer, struct histogram *histogram) {
    thread_let_others_run(clock_now_ns());
    for (int i = 0; i < LAG; i++) {
        uint64_t oldest = handles[i];
        int64_t before_ns = clock_now_ns();
        peer_schedule(peer, before_ns, 30 * HTW_SECOND, stray_expired, NULL, &handles[i]);
        histogram_record(histogram, clock_now_ns() - before_ns);
        if (!peer->cancel(oldest))
            report_failure("a timer of the bystander fired, or could not be cancelled");
    }
}

static void *stand_by(void *context) {
    const struct peer *peer = context;
    for (int i = 0; i < LAG; i++)
        peer_schedule(peer, clock_now_ns(), 30 * HTW_SECOND, stray_expired, NULL, &handles[i]);
    for (;;) {
        lap(peer, atomic_load(&recording));
        atomic_fetch_add(&laps, 1);
    }
    return NULL;
}

/* When this returns, the bystander has stopped recording anywhere else. */
static void record_to(struct histogram *histogram) {
    atomic_store(&recording, histogram);
    unsigned long long seen = atomic_load(&laps);
    while (atomic_load(&laps) == seen)
        clock_sleep_until(clock_now_ns() + 1000000);
}

/* All fall due within a millisecond. */
static void schedule(const struct peer *peer, struct expirations *expirations, uint64_t timers,
                     int64_t due_ns) {
    for (uint64_t i = 0; i < timers; i++)
        expirations_schedule(expirations, peer,
                             due_ns + (int64_t)(i * 1000000 / timers) - clock_now_ns());
}

static void warm_up(const struct peer *peer, uint64_t timers) {
    int64_t start_ns = clock_now_ns();
    schedule(peer, &expirations_warmup, timers, start_ns + AHEAD_NS / 3);
    expirations_await(&expirations_warmup, timers, start_ns + AHEAD_NS / 3 + AHEAD_NS);
}

static void report(const struct options *options) {
    report_percentiles("schedule", &calls);
    int64_t patience_ns = clock_now_ns() + clock_ns(PATIENCE_SECONDS);
    if (expirations_await(&expirations_measured, options->timers, patience_ns)) {
        struct histogram lateness;
        expirations_lateness(&expirations_measured, &lateness);
        report_number("last_fired_late_ms", (double)lateness.max_ns / 1e6);
        report_count("early", lateness.early);
    } else {
        report_count("unfired", options->timers - expirations_count(&expirations_measured));
    }
    expirations_check(&expirations_measured, options->timers);
}

static void run(const struct options *options) {
    const struct peer *peer = options->peer;
    peer->start(options->workers);
    thread_start(stand_by, (void *)(uintptr_t)peer);
    warm_up(peer, options->timers < WARMUP_BURST ? options->timers : WARMUP_BURST);

    int64_t due_ns = clock_now_ns() + AHEAD_NS;
    schedule(peer, &expirations_measured, options->timers, due_ns);
    clock_sleep_until(due_ns - BEFORE_NS);
    record_to(&calls);
    clock_sleep_until(due_ns - BEFORE_NS + HTW_SECOND);
    record_to(&unseen);
    report(options);
}

const struct workload workload_stall = {
    .name = "stall",
    .about = "a million timers fall due within 1 ms while another thread schedules and cancels",
    .count = 1000000,
    .run = run,
};
