/* SPDX-License-Identifier: MIT */
/*
 * driver.h - a thread that submits requests as a Poisson process has them arrive, and completes
 * each when its latency is over, unless it has expired before.
 *
 * Time goes in steps of a millisecond, as in Kafka's benchmark. In each the driver completes what
 * is due, submits what has arrived, and sleeps when it is not late. What is to be completed when
 * lies in a ring of lists, one a millisecond, so that this costs next to nothing.
 */
#ifndef BENCH_PURGATORY_DRIVER_H
#define BENCH_PURGATORY_DRIVER_H

#include "keys.h"
#include "samples.h"
#include "service.h"

#include "../common/histogram.h"
#include "../common/thread.h"

#include <stdalign.h>

#define DRIVER_KEYS 100
#define DRIVER_KEYS_A_REQUEST 3
#define DRIVER_TIMEOUT_MS 200
#define DRIVER_RING 256 /* milliseconds; more than the timeout */

struct arrival;

struct driver {
    alignas(64) struct service *service;
    const struct samples *samples;
    double rate; /* arrivals a second */
    int64_t start_ns, half_ns, end_ns;

    struct random random;
    struct arrival *ring[DRIVER_RING];
    struct arrival *free;
    int64_t step;   /* up to here the ring has been served */
    double next_ns; /* after the start: when the next arrival is due */
    pthread_t thread;

    uint64_t submitted, served, completed; /* served: those whose place is free again */
    double half_late_ns;                   /* at half time: how late the arrivals were */
    double end_late_ns;                    /* and at the end */
    int64_t submitting_ns;                 /* how long arrivals went on */
    struct histogram late;                 /* completions, a step each, in the second half */
};

extern const struct hooks driver_hooks;

/* Runs until the end, and then until nothing is pending. `context` is a driver. */
void *driver_work(void *context);

#endif
