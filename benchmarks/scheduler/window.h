/* SPDX-License-Identifier: MIT */
/*
 * window.h - the measured time of a workload whose threads go on by themselves: what they had
 * done, and what the process had cost, is read when it begins and when it ends.
 */
#ifndef BENCH_SCHEDULER_WINDOW_H
#define BENCH_SCHEDULER_WINDOW_H

#include "options.h"

/* How many pairs of schedule and cancel are done, by now. */
typedef uint64_t window_pairs(void);

/* Sleeps through the warm-up and the measured time, then reports pairs. */
void window_measure_pairs(const struct options *options, window_pairs *pairs);

/* After all threads have ended: each timer was cancelled or has fired, and none is left. */
void window_check(const struct options *options, uint64_t scheduled, uint64_t cancelled);

#endif
