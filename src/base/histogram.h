/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - counters, and histograms: these count 64-bit values by size, in a fixed amount of
 * memory, with a relative error of at most 1/64.
 *
 * Each power of two is divided into 64 buckets of equal width, as in HdrHistogram. Values below 128
 * have a bucket each.
 *
 * One thread at a time records, without a lock; any thread may read meanwhile. A reader may see a
 * value that is being recorded in part: in its bucket but not in the count, or the other way round.
 * Each function says what that does to its answer. When the writer rests, and the reader has
 * synchronized with it, every answer is exact.
 */
#ifndef HTW_SRC_BASE_HISTOGRAM_H
#define HTW_SRC_BASE_HISTOGRAM_H

#include "compiler.h"

#include <htw/base.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * A number that one thread at a time writes and any thread may read.
 *
 * The writer loads and stores, both relaxed, which is as cheap as a plain number: an atomic
 * addition would lock the cache line. Two writers at once would lose additions, so they must use a
 * lock. A reader sees each counter whole, but may see changes of several counters in any order.
 */
struct htw__counter {
    _Atomic uint64_t value;
};

static inline uint64_t htw__counter_read(const struct htw__counter *counter) {
    /* order: A statistic: whole, and in no order with others. */
    return atomic_load_explicit(&counter->value, memory_order_relaxed);
}

/* The writer only. */
static inline void htw__counter_set(struct htw__counter *counter, uint64_t value) {
    /* order: A statistic; one thread at a time writes. */
    atomic_store_explicit(&counter->value, value, memory_order_relaxed);
}

/* The writer only. Wraps round at 2^64. */
static inline void htw__counter_add(struct htw__counter *counter, uint64_t n) {
    htw__counter_set(counter, htw__counter_read(counter) + n);
}

#define HTW__HISTOGRAM_BUCKET_BITS 6u

/* 64 for the values below 64, and 64 for each of the 58 powers of two above. */
#define HTW__HISTOGRAM_BUCKETS \
    ((64u - HTW__HISTOGRAM_BUCKET_BITS + 1u) << HTW__HISTOGRAM_BUCKET_BITS)

struct htw__histogram {
    struct htw__counter count;
    struct htw__counter sum;
    struct htw__counter min; /* greater than max when empty */
    struct htw__counter max;
    struct htw__counter buckets[HTW__HISTOGRAM_BUCKETS];
};

/* Makes it empty. No other thread may use it yet. */
HTW__SHARED void htw__histogram_init(struct htw__histogram *histogram);

static inline size_t htw__histogram_bucket_of(uint64_t value) {
    /* Values below 128 are not shifted. */
    const uint64_t least_power = UINT64_C(1) << HTW__HISTOGRAM_BUCKET_BITS;
    unsigned top_bit = 63u - (unsigned)__builtin_clzll(value | least_power);
    unsigned shift = top_bit - HTW__HISTOGRAM_BUCKET_BITS;
    /* From 64 on, `value >> shift` is 64 to 127: the 64 skips the buckets of the values below. */
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

/* The exact sum of all values, modulo 2^64 (584 years in nanoseconds). */
uint64_t htw__histogram_sum(const struct htw__histogram *histogram);

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

/* How many values were at most `limit`, which is the upper end of a bucket or near it. O(buckets). */
uint64_t htw__histogram_count_up_to(const struct htw__histogram *histogram, uint64_t limit);

/*
 * Adds all values of `from` to `into`, of which the caller is the writer. O(buckets).
 *
 * While another thread records to `from`: count and buckets of `into` still agree; the least and
 * the greatest value may be another one of their bucket; and the sum may include more or fewer of
 * the values that are being recorded.
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

#endif /* HTW_SRC_BASE_HISTOGRAM_H */
