/* SPDX-License-Identifier: MIT */
/*
 * distribution.h - reads histograms: percentiles, and their sums.
 *
 * How many values were counted, and their sum modulo 2^64, are the counters `count` and `sum`.
 *
 * A reader may see a value that is being recorded in part: in its bucket but not in the count, or the other way round.
 * Each function says what that does to its answer. When the writer rests, and the reader has synchronized with it,
 * every answer is exact.
 */
#ifndef HTW_SRC_OBSERVE_DISTRIBUTION_H
#define HTW_SRC_OBSERVE_DISTRIBUTION_H

#include "../base/histogram.h"

#include <htw/observe.h>

/* The least and the greatest value, exactly. 0 if it is empty, or if the reader sees the first
   value in part. */
uint64_t htw__histogram_min(const struct htw__histogram *histogram);
uint64_t htw__histogram_max(const struct htw__histogram *histogram);

/*
 * The value that `percent` (0 to 100) of the values do not exceed: never too small, and at most
 * 1/64 too great; 0 if it is empty. O(buckets).
 *
 * While the greatest value is being recorded, the answer may be another value of its bucket, at
 * most 1/64 too small.
 */
uint64_t htw__histogram_percentile(const struct htw__histogram *histogram, double percent);

/* Of nanoseconds: what statistics tell. Each part as the function above that returns it. */
HTW__SHARED struct htw_distribution
htw__histogram_distribution(const struct htw__histogram *histogram);

/* How many values are in each bucket of struct htw_scheduler_histograms, of which [i] is less than 1000 * 2^i. O(buckets). */
void htw__histogram_copy(const struct htw__histogram *histogram,
                         uint64_t counts[HTW_SCHEDULER_HISTOGRAM_BUCKETS]);

/*
 * Adds all values of `from` to `into`, of which the caller is the writer. O(buckets).
 *
 * While another thread records to `from`: count and buckets of `into` still agree; the least value, the greatest
 * one and the sum may include more or fewer of the values that are being recorded.
 */
HTW__SHARED void htw__histogram_merge(struct htw__histogram *into,
                                      const struct htw__histogram *from);

/* A bucket that is not empty: the values from `low` to `high`, both included. */
struct htw__histogram_bucket {
    uint64_t low;
    uint64_t high;
    uint64_t count;
};

/* The next bucket that is not empty, in ascending order; false: there is none. `*cursor` is 0 at
   first, and afterwards the index of the bucket plus 1. It looks from the least to the greatest value only,
   so while one of these is being recorded, its bucket may be left out. */
bool htw__histogram_next(const struct htw__histogram *histogram, size_t *cursor,
                         struct htw__histogram_bucket *ret_bucket);

#endif /* HTW_SRC_OBSERVE_DISTRIBUTION_H */
