/* SPDX-License-Identifier: MIT */
/*
 * pair.c - one thread schedules a timer and cancels the oldest of a thousand that are pending,
 * with no other thread beside it. The median of many laps.
 */
#include "delays.h"
#include "expirations.h"
#include "options.h"

#define LAG 1000
#define LAPS 10 /* in one measurement, so that reading the clock costs little */

static uint64_t handles[LAG];

static void pairs(const struct peer *peer, struct delays *delays) {
    for (int lap = 0; lap < LAPS; lap++) {
        int64_t now_ns = clock_now_ns();
        for (int i = 0; i < LAG; i++) {
            uint64_t oldest = handles[i];
            peer_schedule(peer, now_ns, delays_next_ns(delays), stray_expired, NULL, &handles[i]);
            if (!peer->cancel(oldest))
                report_failure("a timer that was pending could not be cancelled");
        }
    }
}

static void repeat(const struct peer *peer, struct delays *delays, struct histogram *histogram,
                   double seconds) {
    int64_t end_ns = clock_now_ns() + clock_ns(seconds);
    int64_t before_ns = clock_now_ns();
    while (before_ns < end_ns) {
        pairs(peer, delays);
        int64_t after_ns = clock_now_ns();
        histogram_record(histogram, after_ns - before_ns);
        before_ns = after_ns;
    }
}

static void run(const struct options *options) {
    const struct peer *peer = options->peer;
    peer->start(options->workers);
    struct delays delays;
    delays_init(&delays, 1, HTW_SECOND, 30 * HTW_SECOND);
    for (int i = 0; i < LAG; i++)
        peer_schedule(peer, clock_now_ns(), delays_next_ns(&delays), stray_expired, NULL,
                      &handles[i]);
    static struct histogram warmup, measured;
    repeat(peer, &delays, &warmup, given.warmup);
    repeat(peer, &delays, &measured, given.seconds);
    if (peer->pending() != LAG || stray_count() != 0)
        report_failure("%llu timers are pending", (unsigned long long)peer->pending());
    report_number("ns_per_pair_p50", (double)histogram_quantile_ns(&measured, 0.5) / LAPS / LAG);
}

const struct workload workload_pair = {
    .name = "pair",
    .about =
        "one thread schedules a timer and cancels the oldest of a thousand, with nothing beside it",
    .seconds = 5,
    .run = run,
};
