/* SPDX-License-Identifier: MIT */
/*
 * expirations.h - how many timers have fired, and how late. Each thread that runs callbacks has
 * counters of its own, because some peers have several. The argument of a timer is its deadline.
 */
#ifndef BENCH_SCHEDULER_EXPIRATIONS_H
#define BENCH_SCHEDULER_EXPIRATIONS_H

#include "../common/clock.h"
#include "../common/histogram.h"
#include "delays.h"
#include "peer.h"

#include <stdalign.h>
#include <stdatomic.h>

#define EXPIRATIONS_THREADS 300 /* the most threads that run callbacks */

struct tally {
    alignas(64) _Atomic uint64_t count; /* written last, and read first */
    struct histogram lateness;
};

struct expirations {
    htw_callback *callback; /* records here */
    struct tally tallies[EXPIRATIONS_THREADS];
};

/* Two, so that late timers of the warm-up are not measured. */
extern struct expirations expirations_warmup, expirations_measured;

_Static_assert(sizeof(void *) == sizeof(int64_t), "a deadline fits into an argument");

/* Schedules a timer that is counted here. Its delay counts from before the call. */
static inline void expirations_schedule(struct expirations *expirations, const struct peer *peer,
                                        int64_t delay_ns) {
    int64_t now_ns = clock_now_ns();
    peer_schedule(peer, now_ns, delay_ns, expirations->callback, (void *)(now_ns + delay_ns), NULL);
}

/* Schedules so many timers each millisecond, and catches up if it is late. Returns how many. */
uint64_t expirations_keep_pace(struct expirations *expirations, const struct peer *peer,
                               struct delays *delays, unsigned timers_per_ms, double seconds);

uint64_t expirations_count(const struct expirations *expirations);

/* Waits until so many have fired. Returns false if they have not by the deadline. */
bool expirations_await(const struct expirations *expirations, uint64_t count, int64_t deadline_ns);

/* Of all threads together. Call this when the timers that count have fired. */
void expirations_lateness(const struct expirations *expirations, struct histogram *ret_lateness);

/* Ends the process if more timers have fired than were scheduled. */
void expirations_check(const struct expirations *expirations, uint64_t scheduled);

/* A callback for timers that are going to be cancelled, as in threads. */
void stray_expired(void *arg, const struct htw_expiration *expiration);

/* How many of these have fired. */
uint64_t stray_count(void);

#endif
