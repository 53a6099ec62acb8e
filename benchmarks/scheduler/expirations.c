/* SPDX-License-Identifier: MIT */
/* expirations.c - counts timers that fire, by thread. */
#include "expirations.h"

#include "../common/report.h"

#define PERIOD_NS 1000000

static atomic_uint threads;
static _Thread_local unsigned own; /* the number of this thread, from 1 on */
static _Atomic uint64_t strays;

static struct tally *tally_here(struct expirations *expirations) {
    if (own == 0) {
        own = atomic_fetch_add(&threads, 1) + 1;
        if (own > EXPIRATIONS_THREADS)
            report_failure("too many threads run callbacks");
    }
    return &expirations->tallies[own - 1];
}

static void record(struct expirations *expirations, void *deadline) {
    struct tally *tally = tally_here(expirations);
    histogram_record(&tally->lateness, clock_now_ns() - (int64_t)deadline);
    uint64_t count = atomic_load_explicit(&tally->count, memory_order_relaxed);
    atomic_store_explicit(&tally->count, count + 1, memory_order_release);
}

static void fire_warmup(void *deadline, const struct htw_expiration *unused) {
    (void)unused;
    record(&expirations_warmup, deadline);
}

static void fire_measured(void *deadline, const struct htw_expiration *unused) {
    (void)unused;
    record(&expirations_measured, deadline);
}

struct expirations expirations_warmup = { .callback = fire_warmup };
struct expirations expirations_measured = { .callback = fire_measured };

uint64_t expirations_keep_pace(struct expirations *expirations, const struct peer *peer,
                               struct delays *delays, unsigned timers_per_ms, double seconds) {
    int64_t periods = clock_ns(seconds) / PERIOD_NS;
    int64_t start_ns = clock_now_ns();
    for (int64_t i = 0; i < periods; i++) {
        clock_sleep_until(start_ns + i * PERIOD_NS);
        for (unsigned j = 0; j < timers_per_ms; j++)
            expirations_schedule(expirations, peer, delays_next_ns(delays));
    }
    clock_sleep_until(start_ns + periods * PERIOD_NS);
    return (uint64_t)periods * timers_per_ms;
}

uint64_t expirations_count(const struct expirations *expirations) {
    unsigned used = atomic_load(&threads);
    uint64_t count = 0;
    for (unsigned i = 0; i < used; i++)
        count += atomic_load_explicit(&expirations->tallies[i].count, memory_order_acquire);
    return count;
}

bool expirations_await(const struct expirations *expirations, uint64_t count, int64_t deadline_ns) {
    while (expirations_count(expirations) < count) {
        int64_t now_ns = clock_now_ns();
        if (now_ns >= deadline_ns)
            return false;
        clock_sleep_until(now_ns + 1000000);
    }
    return true;
}

void expirations_lateness(const struct expirations *expirations, struct histogram *ret_lateness) {
    *ret_lateness = (struct histogram) { 0 };
    unsigned used = atomic_load(&threads);
    for (unsigned i = 0; i < used; i++)
        if (atomic_load_explicit(&expirations->tallies[i].count, memory_order_acquire) > 0)
            histogram_merge(ret_lateness, &expirations->tallies[i].lateness);
}

void expirations_check(const struct expirations *expirations, uint64_t scheduled) {
    uint64_t fired = expirations_count(expirations);
    if (fired > scheduled)
        report_failure("%llu timers were scheduled, and %llu fired", (unsigned long long)scheduled,
                       (unsigned long long)fired);
}

void stray_expired(void *arg, const struct htw_expiration *expiration) {
    (void)arg, (void)expiration;
    atomic_fetch_add(&strays, 1);
}

uint64_t stray_count(void) {
    return atomic_load(&strays);
}
