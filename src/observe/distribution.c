/* SPDX-License-Identifier: MIT */
/* distribution.c - percentiles and sums of histograms. */
#include "distribution.h"

#include <string.h>

#define BUCKETS_PER_POWER (UINT64_C(1) << HTW__HISTOGRAM_BUCKET_BITS)

static uint64_t bucket_low(size_t bucket) {
    if (bucket < BUCKETS_PER_POWER)
        return bucket;
    size_t shift = (bucket >> HTW__HISTOGRAM_BUCKET_BITS) - 1;
    return (BUCKETS_PER_POWER + (bucket & (BUCKETS_PER_POWER - 1))) << shift;
}

static uint64_t bucket_high(size_t bucket) {
    return bucket + 1 < HTW__HISTOGRAM_BUCKETS ? bucket_low(bucket + 1) - 1 : UINT64_MAX;
}

/* Compares with max, not count: a reader may see the count of the first value before its minimum.
   */
uint64_t htw__histogram_min(const struct htw__histogram *histogram) {
    uint64_t min = htw__counter_read(&histogram->min);
    return min <= htw__counter_read(&histogram->max) ? min : 0;
}

uint64_t htw__histogram_max(const struct htw__histogram *histogram) {
    return htw__counter_read(&histogram->max);
}

/* A reader may see another count than the buckets add up to. */
static uint64_t count_in_buckets(const struct htw__histogram *histogram) {
    struct htw__histogram_bucket bucket;
    size_t cursor = 0;
    uint64_t count = 0;
    while (htw__histogram_next(histogram, &cursor, &bucket))
        count += bucket.count;
    return count;
}

static uint64_t percentile_of(const struct htw__histogram *histogram, uint64_t count,
                              double percent) {
    /* Rounded up; 0 percent is the first value. */
    double exact = percent / 100.0 * (double)count;
    uint64_t rank = (uint64_t)exact;
    if ((double)rank < exact || rank == 0)
        rank++;

    /* Counts only grow, and so does what lies between minimum and maximum. So the rank is reached even if other threads
       record meanwhile. */
    size_t cursor = 0;
    uint64_t passed = 0;
    struct htw__histogram_bucket bucket = { 0 };
    while (passed < rank && htw__histogram_next(histogram, &cursor, &bucket))
        passed += bucket.count;
    /* The values of the last bucket do not exceed the maximum, unless the reader sees an older or newer one. */
    uint64_t max = htw__histogram_max(histogram);
    return bucket.low <= max && max <= bucket.high ? max : bucket.high;
}

uint64_t htw__histogram_percentile(const struct htw__histogram *histogram, double percent) {
    return percentile_of(histogram, count_in_buckets(histogram), percent);
}

struct htw_distribution htw__histogram_distribution(const struct htw__histogram *histogram) {
    const uint64_t count = count_in_buckets(histogram);
    return (struct htw_distribution) {
        .count = htw__counter_read(&histogram->count),
        .sum_ns = htw__counter_read(&histogram->sum),
        .p50_ns = percentile_of(histogram, count, 50),
        .p90_ns = percentile_of(histogram, count, 90),
        .p99_ns = percentile_of(histogram, count, 99),
        .p999_ns = percentile_of(histogram, count, 99.9),
        .max_ns = htw__histogram_max(histogram),
    };
}

void htw__histogram_copy(const struct htw__histogram *histogram,
                         uint64_t counts[HTW_SCHEDULER_HISTOGRAM_BUCKETS]) {
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    memset(counts, 0, HTW_SCHEDULER_HISTOGRAM_BUCKETS * sizeof(counts[0]));
    while (htw__histogram_next(histogram, &cursor, &bucket)) {
        uint64_t middle_us = (bucket.low + (bucket.high - bucket.low) / 2) / 1000;
        counts[htw__power_bucket_of(middle_us, HTW_SCHEDULER_HISTOGRAM_BUCKETS)] += bucket.count;
    }
}

void htw__histogram_merge(struct htw__histogram *into, const struct htw__histogram *from) {
    struct htw__histogram_bucket bucket;
    size_t cursor = 0;
    uint64_t min = htw__counter_read(&from->min), max = htw__counter_read(&from->max);
    if (min < htw__counter_read(&into->min))
        htw__counter_set(&into->min, min);
    if (max > htw__counter_read(&into->max))
        htw__counter_set(&into->max, max);
    while (htw__histogram_next(from, &cursor, &bucket)) {
        htw__counter_add(&into->buckets[cursor - 1], bucket.count);
        htw__counter_add(&into->count, bucket.count);
    }
    htw__counter_add(&into->sum, htw__counter_read(&from->sum));
}

bool htw__histogram_next(const struct htw__histogram *histogram, size_t *cursor,
                         struct htw__histogram_bucket *ret_bucket) {
    uint64_t count = 0;
    size_t bucket =
        *cursor > 0 ? *cursor : htw__histogram_bucket_of(htw__counter_read(&histogram->min));
    size_t end = htw__histogram_bucket_of(htw__counter_read(&histogram->max)) + 1;
    while (bucket < end && (count = htw__counter_read(&histogram->buckets[bucket])) == 0)
        bucket++;
    *cursor = bucket + 1;
    if (bucket >= end)
        return false;
    *ret_bucket = (struct htw__histogram_bucket) {
        .low = bucket_low(bucket),
        .high = bucket_high(bucket),
        .count = count,
    };
    return true;
}
