/* SPDX-License-Identifier: MIT */
/* test_histogram - histograms, also those that are read while a value is half recorded. */
#include "../../../src/observe/distribution.h"

#include "../../support/random.h"
#include "../unit.h"

static struct htw__histogram histogram;
static struct htw__histogram other;

static void empty(void) {
    htw__histogram_init(&histogram);
    htw__histogram_init(&other);
}

static uint64_t count_of_all_buckets(void) {
    uint64_t count = 0;
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    while (htw__histogram_next(&histogram, &cursor, &bucket))
        count += bucket.count;
    return count;
}

/* A single value is in a bucket that is narrow enough, and is its own median. */
static void assert_is_recorded_well(uint64_t value) {
    struct htw__histogram_bucket bucket;
    size_t cursor = 0;
    htw__histogram_init(&histogram);
    htw__histogram_record(&histogram, value);
    assert_true(htw__histogram_next(&histogram, &cursor, &bucket));
    assert_int_equal(bucket.count, 1);
    assert_true(bucket.low <= value && value <= bucket.high);
    assert_true(bucket.high - bucket.low <= value / 64);
    assert_false(htw__histogram_next(&histogram, &cursor, &bucket));
    assert_true(htw__histogram_percentile(&histogram, 50.0) == value);
}

UNIT_TEST_BETWEEN(empty, NULL, histogram_of_any_magnitude_is_close) {
    for (unsigned bit = 0; bit < 64; bit++) {
        assert_is_recorded_well(UINT64_C(1) << bit);
        assert_is_recorded_well((UINT64_C(1) << bit) - 1);
        assert_is_recorded_well((UINT64_C(1) << bit) + (UINT64_C(1) << bit) / 3);
    }
    assert_is_recorded_well(UINT64_MAX);
}

UNIT_TEST_BETWEEN(empty, NULL, histogram_buckets_cover_all_values_without_gaps) {
    for (size_t i = 0; i < HTW__HISTOGRAM_BUCKETS; i++)
        htw__counter_add(&histogram.buckets[i], 1);
    htw__counter_set(&histogram.min, 0);
    htw__counter_set(&histogram.max, UINT64_MAX);
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    uint64_t next = 0;
    for (size_t i = 0; i < HTW__HISTOGRAM_BUCKETS; i++) {
        assert_true(htw__histogram_next(&histogram, &cursor, &bucket));
        assert_true(bucket.low == next);
        assert_true(bucket.high >= bucket.low);
        next = bucket.high + 1;
    }
    assert_true(next == 0); /* the last bucket ends with UINT64_MAX */
    assert_false(htw__histogram_next(&histogram, &cursor, &bucket));
}

UNIT_TEST_BETWEEN(empty, NULL, histogram_percentile_is_never_too_small) {
    enum { VALUES = 1000 };
    for (uint64_t i = 1; i <= VALUES; i++)
        htw__histogram_record(&histogram, i * 1000003);
    for (uint64_t percent = 1; percent <= 100; percent++) {
        uint64_t exact = percent * (VALUES / 100) * 1000003;
        uint64_t told = htw__histogram_percentile(&histogram, (double)percent);
        assert_true(told >= exact);
        assert_true(told - exact <= exact / 64);
    }
    assert_int_equal(count_of_all_buckets(), VALUES);
    assert_true(htw__counter_read(&histogram.sum) == 500500 * UINT64_C(1000003)); /* exact */
}

static void assert_same(const struct htw__histogram *a, const struct htw__histogram *b) {
    assert_true(htw__counter_read(&a->count) == htw__counter_read(&b->count));
    assert_true(htw__counter_read(&a->sum) == htw__counter_read(&b->sum));
    assert_true(htw__histogram_min(a) == htw__histogram_min(b));
    assert_true(htw__histogram_max(a) == htw__histogram_max(b));
    for (size_t i = 0; i < HTW__HISTOGRAM_BUCKETS; i++)
        assert_true(htw__counter_read(&a->buckets[i]) == htw__counter_read(&b->buckets[i]));
}

UNIT_TEST_BETWEEN(empty, NULL, histogram_merged_is_as_if_all_had_been_recorded_there) {
    static struct htw__histogram all;
    htw__histogram_init(&all);
    struct random_source random = { 1 };
    for (int i = 0; i < 10000; i++) {
        uint64_t shortened = random_next(&random) >> (i % 64);
        htw__histogram_record(i % 3 == 0 ? &histogram : &other, shortened);
        htw__histogram_record(&all, shortened);
    }
    htw__histogram_merge(&histogram, &other);
    assert_same(&histogram, &all);
}

/* A value that is recorded in part: it is the least one, and its bucket does not have it yet. */
UNIT_TEST_BETWEEN(empty, NULL, histogram_half_recorded_is_read_from_its_buckets) {
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    htw__histogram_record(&histogram, 1000);
    htw__counter_set(&histogram.min, 500);
    htw__counter_set(&histogram.max, 2000);
    assert_true(htw__histogram_next(&histogram, &cursor, &bucket));
    assert_true(bucket.low <= 1000 && bucket.high >= 1000);
    assert_int_equal(htw__histogram_min(&histogram), 500);
    assert_true(htw__histogram_percentile(&histogram, 50.0) == bucket.high);
    htw__histogram_merge(&other, &histogram);
    assert_int_equal(htw__counter_read(&other.count), 1);
    assert_int_equal(htw__histogram_min(&other), 500);
    assert_int_equal(htw__histogram_max(&other), 2000);
}

/* The first value, of which the reader sees all but the maximum. */
UNIT_TEST_BETWEEN(empty, NULL, histogram_without_a_maximum_is_empty) {
    size_t cursor = 0;
    struct htw__histogram_bucket bucket;
    htw__histogram_record(&histogram, 1000);
    htw__counter_set(&histogram.max, 0);
    assert_false(htw__histogram_next(&histogram, &cursor, &bucket));
    assert_int_equal(htw__histogram_min(&histogram), 0);
    assert_int_equal(htw__histogram_percentile(&histogram, 50.0), 0);
    htw__histogram_merge(&other, &histogram);
    assert_int_equal(htw__counter_read(&other.count), 0);
}
