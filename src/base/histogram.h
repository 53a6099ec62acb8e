/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - how often which value occurred, for any 64-bit values, in a fixed
 * amount of memory and with a relative error of at most 1/64.
 *
 * Log-linear: each power of two is divided into 64 buckets of equal width (the idea of
 * HdrHistogram). Values below 128 have buckets of their own.
 *
 * One thread at a time records, without any lock; any number of threads read meanwhile.
 * What is being recorded at that moment a reader may see in part: in its bucket and not in the
 * count, say, or the other way round. Each function tells what that does to its answer; once
 * the writer rests (and the reader has synchronised with it) every answer is exact.
 */
#ifndef HTW_SRC_BASE_HISTOGRAM_H
#define HTW_SRC_BASE_HISTOGRAM_H

#include "counter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HTW__HISTOGRAM_BUCKET_BITS 6u

/* The values below 64, and then 64 buckets for each of the 58 powers of two that follow. */
#define HTW__HISTOGRAM_BUCKETS \
    ((64u - HTW__HISTOGRAM_BUCKET_BITS + 1u) << HTW__HISTOGRAM_BUCKET_BITS)

struct htw__histogram {
    struct htw__counter count;
    struct htw__counter sum;
    struct htw__counter min; /* greater than max when empty */
    struct htw__counter max;
    struct htw__counter buckets[HTW__HISTOGRAM_BUCKETS];
};

/* Makes it empty. No other thread may know of it yet. */
void htw__histogram_init(struct htw__histogram *histogram);

static inline size_t htw__histogram_bucket_of(uint64_t value) {
    /* All values below 128 are taken as those of one power, and not shifted. */
    const uint64_t least_power = UINT64_C(1) << HTW__HISTOGRAM_BUCKET_BITS;
    unsigned top_bit = 63u - (unsigned)__builtin_clzll(value | least_power);
    unsigned shift = top_bit - HTW__HISTOGRAM_BUCKET_BITS;
    /* The leading bit of `value >> shift` stands for the first of the 64 buckets, and so
     * advances the index by the one power that lies below all the shifted ones. */
    return ((size_t)shift << HTW__HISTOGRAM_BUCKET_BITS) + (size_t)(value >> shift);
}

/* Counts one value; the writer only. O(1), a few instructions. */
static inline void htw__histogram_record(struct htw__histogram *histogram, uint64_t value) {
    if (value < htw__counter_read(&histogram->min))
        htw__counter_set(&histogram->min, value);
    if (value > htw__counter_read(&histogram->max))
        htw__counter_set(&histogram->max, value);
    htw__counter_add(&histogram->buckets[htw__histogram_bucket_of(value)], 1);
    htw__counter_add(&histogram->sum, value);
    htw__counter_add(&histogram->count, 1);
}

/* How many values were counted. */
uint64_t htw__histogram_count(const struct htw__histogram *histogram);

/* The sum of all values, exactly, modulo 2^64 (of nanoseconds that is 584 years). */
uint64_t htw__histogram_sum(const struct htw__histogram *histogram);

/* The least and the greatest value, exactly; 0 when empty, or as good as empty to a reader
 * who meets the first value half recorded. */
uint64_t htw__histogram_min(const struct htw__histogram *histogram);
uint64_t htw__histogram_max(const struct htw__histogram *histogram);

/*
 * A value that at least `percent` (0 to 100) of the values do not exceed, never too
 * small, and too great by 1/64 at most; 0 when empty. O(buckets).
 *
 * The total is that of the buckets, not the count. While the greatest value is being recorded,
 * a reader may be told another one of its bucket, too small by 1/64 at most.
 */
uint64_t htw__histogram_percentile(const struct htw__histogram *histogram, double percent);

/*
 * Adds all values of `from`, to which another thread may be recording, to `into`, which the
 * caller writes. O(buckets).
 *
 * While another thread records: the count grows by what was found in the buckets, so that the
 * two still agree; the least and the greatest value may be another one of the same bucket; and
 * the sum may be ahead or behind by the values recorded meanwhile.
 */
void htw__histogram_merge(struct htw__histogram *into, const struct htw__histogram *from);

/* A bucket that is not empty: it stands for the values from `low` to `high`, both included. */
struct htw__histogram_bucket {
    uint64_t low;
    uint64_t high;
    uint64_t count;
};

/*
 * Gives the next bucket that is not empty, in ascending order; false when there is none.
 * `*cursor` is 0 at first; after each bucket it is one more than the bucket's index.
 */
bool htw__histogram_next(const struct htw__histogram *histogram, size_t *cursor,
                         struct htw__histogram_bucket *ret_bucket);

#endif /* HTW_SRC_BASE_HISTOGRAM_H */
