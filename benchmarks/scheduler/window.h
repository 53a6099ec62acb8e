/* SPDX-License-Identifier: MIT */
/*
 * window.h - the measured time of a workload whose threads run on their own: reads what they have
 * done, and what the process has cost, at its start and at its end.
 */
#ifndef BENCH_SCHEDULER_WINDOW_H
#define BENCH_SCHEDULER_WINDOW_H

#include "options.h"

/* Returns how many pairs of schedule and cancel are done. */
typedef uint64_t window_pairs(void);

/* Sleeps for the warm-up and the measured time, then reports pairs. */
void window_measure_pairs(const struct options *options, window_pairs *pairs);

/* Call this when all threads have ended. Fails unless each timer was cancelled or has fired. */
void window_check(const struct options *options, uint64_t scheduled, uint64_t cancelled);

#endif
