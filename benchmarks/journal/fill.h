/* SPDX-License-Identifier: MIT */
/* fill.h - puts many jobs that are due far in the future. */
#ifndef BENCH_JOURNAL_FILL_H
#define BENCH_JOURNAL_FILL_H

#include "options.h"

/* Returns how many a second, until all are durable. `client`: another number for each call. */
double fill(const struct options *options, unsigned client, uint64_t jobs);

#endif
