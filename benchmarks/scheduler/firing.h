/* SPDX-License-Identifier: MIT */
/*
 * firing.h - timers that fire: how many have, and how late. Counted by each thread that runs
 * callbacks for itself, since some peers have several.
 *
 * Their argument is the deadline itself: a callback in C needs no object to find it in.
 */
#ifndef BENCH_SCHEDULER_FIRING_H
#define BENCH_SCHEDULER_FIRING_H

#include "../common/clock.h"
#include "../common/histogram.h"
#include "peer.h"

#include <stdalign.h>
#include <stdatomic.h>

#define FIRING_THREADS 300 /* that may run callbacks in a process */

struct tally {
    alignas(64) _Atomic uint64_t fired; /* written last, and read first */
    struct histogram lateness;
};

struct firing {
    htw_callback *callback; /* that records here */
    struct tally tallies[FIRING_THREADS];
};

/* Two, so that timers of the warm-up that fire late do not count for the rest. */
extern struct firing firing_warmup, firing_measured;

_Static_assert(sizeof(void *) == sizeof(int64_t), "a deadline fits into an argument");

/* Schedules a timer that reports here; its delay counts from before the call. */
static inline void firing_schedule(struct firing *firing, const struct peer *peer,
                                   int64_t delay_ns) {
    int64_t now_ns = clock_now_ns();
    peer_schedule(peer, now_ns, delay_ns, firing->callback, (void *)(now_ns + delay_ns), NULL);
}

uint64_t firing_count(const struct firing *firing);

/* Waits until so many have fired; false when that is not by the deadline. */
bool firing_await(const struct firing *firing, uint64_t count, int64_t deadline_ns);

/* Of all threads together. Once those timers that are counted have fired. */
void firing_lateness(const struct firing *firing, struct histogram *ret_lateness);

/* Ends the process if timers fire that were not scheduled, or twice. */
void firing_check(const struct firing *firing, uint64_t scheduled);

/* A callback for timers that are to be cancelled, as in threads. */
void stray_fired(void *arg, const struct htw_expiration *firing);

/* How many of them have fired all the same. */
uint64_t stray_count(void);

#endif
