/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - counters, and histograms: these count 64-bit values by size, in a fixed amount of
 * memory, with a relative error of at most 1/64.
 *
 * Each power of two is divided into 64 buckets of equal width, as in HdrHistogram. Values below 128
 * have a bucket each.
 *
 * One thread at a time records, without a lock; any thread may read meanwhile: ../observe/distribution.h.
 */
#ifndef HTW_SRC_BASE_HISTOGRAM_H
#define HTW_SRC_BASE_HISTOGRAM_H

#include "compiler.h"

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

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
static inline void htw__histogram_init(struct htw__histogram *histogram) {
    memset(histogram, 0, sizeof(*histogram));
    htw__counter_set(&histogram->min, UINT64_MAX);
}

/*@ assigns \nothing;
    ensures bound: \result < HTW__HISTOGRAM_BUCKETS;
    ensures small: value < 64 ==> \result == value;
    ensures large: value >= 64 ==> value >> (\result / 64 - 1) == 64 + \result % 64; */
static inline size_t htw__histogram_bucket_of(uint64_t value) {
    /* Values below 128 are not shifted. */
    const uint64_t least_power = UINT64_C(1) << HTW__HISTOGRAM_BUCKET_BITS;
    unsigned top_bit = htw__highest_bit(value | least_power);
    unsigned shift = top_bit - HTW__HISTOGRAM_BUCKET_BITS;
    /* From 64 on, `value >> shift` is 64 to 127: the 64 skips the buckets of the values below. */
    return ((size_t)shift << HTW__HISTOGRAM_BUCKET_BITS) + (size_t)(value >> shift);
}

/* The bucket of a histogram of powers of two: 0 for 0, i from 2^(i-1) on; the last one of `count` also for all that is greater. */
/*@ requires count > 0;
    assigns \nothing;
    ensures bound: \result < count;
    ensures power: \result < count - 1 ==> (value == 0 ? \result == 0 : value >> (\result - 1) == 1); */
static inline size_t htw__power_bucket_of(uint64_t value, size_t count) {
    size_t bucket = value == 0 ? 0 : htw__highest_bit(value) + 1;
    return bucket < count ? bucket : count - 1;
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

#endif /* HTW_SRC_BASE_HISTOGRAM_H */
