/* SPDX-License-Identifier: MIT */
#include "firing.h"

#include "../common/report.h"

static atomic_uint threads;
static _Thread_local unsigned own; /* number of this thread, counted from 1 */
static _Atomic uint64_t strays;

static struct tally *tally_here(struct firing *firing) {
    if (own == 0) {
        own = atomic_fetch_add(&threads, 1) + 1;
        if (own > FIRING_THREADS)
            report_failure("too many threads run callbacks");
    }
    return &firing->tallies[own - 1];
}

static void record(struct firing *firing, void *deadline) {
    struct tally *tally = tally_here(firing);
    histogram_record(&tally->lateness, clock_now_ns() - (int64_t)deadline);
    uint64_t fired = atomic_load_explicit(&tally->fired, memory_order_relaxed);
    atomic_store_explicit(&tally->fired, fired + 1, memory_order_release);
}

static void fire_warmup(void *deadline, const struct htw_expiration *unused) {
    (void)unused;
    record(&firing_warmup, deadline);
}

static void fire_measured(void *deadline, const struct htw_expiration *unused) {
    (void)unused;
    record(&firing_measured, deadline);
}

struct firing firing_warmup = { .callback = fire_warmup };
struct firing firing_measured = { .callback = fire_measured };

uint64_t firing_count(const struct firing *firing) {
    unsigned used = atomic_load(&threads);
    uint64_t count = 0;
    for (unsigned i = 0; i < used; i++)
        count += atomic_load_explicit(&firing->tallies[i].fired, memory_order_acquire);
    return count;
}

bool firing_await(const struct firing *firing, uint64_t count, int64_t deadline_ns) {
    while (firing_count(firing) < count) {
        int64_t now_ns = clock_now_ns();
        if (now_ns >= deadline_ns)
            return false;
        clock_sleep_until(now_ns + 1000000);
    }
    return true;
}

void firing_lateness(const struct firing *firing, struct histogram *ret_lateness) {
    *ret_lateness = (struct histogram) { 0 };
    unsigned used = atomic_load(&threads);
    for (unsigned i = 0; i < used; i++)
        if (atomic_load_explicit(&firing->tallies[i].fired, memory_order_acquire) > 0)
            histogram_merge(ret_lateness, &firing->tallies[i].lateness);
}

void firing_check(const struct firing *firing, uint64_t scheduled) {
    uint64_t fired = firing_count(firing);
    if (fired > scheduled)
        report_failure("%llu timers were scheduled, and %llu fired", (unsigned long long)scheduled,
                       (unsigned long long)fired);
}

void stray_fired(void *arg, const struct htw_expiration *firing) {
    (void)arg;
    (void)firing;
    atomic_fetch_add(&strays, 1);
}

uint64_t stray_count(void) {
    return atomic_load(&strays);
}
