/* SPDX-License-Identifier: MIT */
/*
 * driver.h - a thread that submits requests as a Poisson process, and completes each when its
 * latency is over, unless it has expired.
 *
 * Time goes in steps of a millisecond, as in Kafka's benchmark. In each step the driver completes
 * what is due, submits what has arrived, and sleeps if it is not late. A ring of lists, one a
 * millisecond, holds what is to be completed.
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
    struct arrival *ring[DRIVER_RING], *free;
    int64_t step;   /* the last step whose list was served */
    double next_ns; /* when the next arrival is due, from the start on */
    pthread_t thread;

    uint64_t submitted, served, completed; /* served: the place is free again */
    double half_late_ns;                   /* how late the arrivals were at half time, */
    double end_late_ns;                    /* and at the end */
    int64_t submitting_ns;                 /* how long there were arrivals */
    struct histogram late;                 /* of completions in the second half, a value a step */
};

extern const struct hooks driver_hooks;

/* Runs until the end of the driver `context`, and then until nothing is pending. */
void *driver_work(void *context);

#endif
