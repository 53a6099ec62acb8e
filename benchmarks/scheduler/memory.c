/* SPDX-License-Identifier: MIT */
/*
 * memory.c - the memory of a million pending timers, and what is left of ten million that have
 * ended: first by firing, then by being cancelled.
 */
#include "../common/process.h"
#include "delays.h"
#include "expirations.h"
#include "options.h"

#define WAVE 10              /* times as many timers */
#define SETTLE_NS 1000000000 /* the peer has returned its memory by then */
#define AHEAD_NS 4000000000  /* when the first wave starts to fire */
#define PATIENCE_SECONDS 120

static uint64_t *handles;

/* Waits until the peer has armed or freed its timers, if it does that in other threads. */
static void settle(const struct peer *peer, uint64_t timers) {
    int64_t patience_ns = clock_now_ns() + clock_ns(PATIENCE_SECONDS);
    while (peer->pending() != timers) {
        if (clock_now_ns() > patience_ns)
            report_failure("timers are left that were cancelled");
        clock_sleep_until(clock_now_ns() + SETTLE_NS / 100);
    }
    if (peer->arms_later)
        clock_sleep_until(clock_now_ns() + SETTLE_NS);
}

/* So that what the peer allocates for its first timer is not measured. */
static void use_once(const struct peer *peer) {
    expirations_schedule(&expirations_warmup, peer, HTW_MILLISECOND);
    if (!expirations_await(&expirations_warmup, 1, clock_now_ns() + clock_ns(PATIENCE_SECONDS)))
        report_failure("a timer did not fire");
    clock_sleep_until(clock_now_ns() + SETTLE_NS / 10);
    settle(peer, 0);
}

static void schedule(const struct peer *peer, uint64_t timers) {
    struct delays delays;
    delays_init(&delays, 1, 3600 * HTW_SECOND, 7200 * HTW_SECOND);
    for (uint64_t i = 0; i < timers; i++)
        peer_schedule(peer, clock_now_ns(), delays_next_ns(&delays), stray_expired, NULL,
                      &handles[i]);
    settle(peer, timers);
}

static void cancel(const struct peer *peer, uint64_t timers) {
    for (uint64_t i = 0; i < timers; i++)
        if (!peer->cancel(handles[i]))
            report_failure("a timer that was pending could not be cancelled");
    settle(peer, 0);
}

static void report_left(const char *metric, uint64_t before, uint64_t peak) {
    clock_sleep_until(clock_now_ns() + SETTLE_NS);
    uint64_t after = process_resident_bytes();
    report_number(metric, 100 * ((double)after - (double)before) / ((double)peak - (double)before));
}

static void wave_of_fired(const struct options *options, uint64_t before) {
    uint64_t timers = WAVE * options->timers;
    struct delays delays;
    delays_init(&delays, 2, 0, HTW_SECOND);
    int64_t due_ns = clock_now_ns() + AHEAD_NS;
    for (uint64_t i = 0; i < timers; i++)
        expirations_schedule(&expirations_measured, options->peer,
                             due_ns + delays_next_ns(&delays) - clock_now_ns());
    uint64_t peak = process_resident_bytes();
    report_count("pending_at_peak", options->peer->pending());
    report_number("bytes_per_timer_at_peak", ((double)peak - (double)before) / (double)timers);
    if (!expirations_await(&expirations_measured, timers,
                           clock_now_ns() + clock_ns(PATIENCE_SECONDS)))
        report_failure("%llu timers did not fire",
                       (unsigned long long)(timers - expirations_count(&expirations_measured)));
    report_left("memory_left_percent", before, peak);
    expirations_check(&expirations_measured, timers);
}

static void wave_of_cancelled(const struct options *options, uint64_t before) {
    uint64_t timers = WAVE * options->timers;
    schedule(options->peer, timers);
    uint64_t peak = process_resident_bytes();
    cancel(options->peer, timers);
    report_left("memory_left_cancelled_percent", before, peak);
}

static void run(const struct options *options) {
    const struct peer *peer = options->peer;
    size_t size = WAVE * options->timers * sizeof(*handles);
    handles = malloc(size);
    if (handles == NULL)
        report_out_of_memory();
    for (uint64_t i = 0; i < WAVE * options->timers; i++)
        handles[i] = UINT64_MAX; /* resident from now on */
    uint64_t without = process_resident_bytes();
    peer->start(options->workers);
    use_once(peer);
    uint64_t before = process_resident_bytes();
    report_count("fixed_bytes", before - without);

    schedule(peer, options->timers);
    uint64_t full = process_resident_bytes();
    report_number("bytes_per_timer", ((double)full - (double)before) / (double)options->timers);
    cancel(peer, options->timers);

    wave_of_fired(options, before);
    wave_of_cancelled(options, before);
    if (stray_count() != 0)
        report_failure("timers fired that were cancelled");
}

const struct workload workload_memory = {
    .name = "memory",
    .about =
        "a million pending timers; then ten million that fire, and ten million that are cancelled",
    .count = 1000000,
    .quick_count = 200000,
    .run = run,
};
