/* SPDX-License-Identifier: MIT */
/* test_histogram - histograms, also read while they are written. */
#include "../../../src/base/histogram.h"

#include "../../support/random.h"
#include "../unit.h"

#include <pthread.h>
#include <stdatomic.h>

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
}

UNIT_TEST_BETWEEN(empty, NULL, histogram_sum_is_exact_beyond_the_buckets) {
    for (uint64_t i = 1; i <= 1000; i++)
        htw__histogram_record(&histogram, i * 1000003);
    assert_true(htw__histogram_sum(&histogram) == 500500 * UINT64_C(1000003));
}

static void assert_same(const struct htw__histogram *a, const struct htw__histogram *b) {
    assert_true(htw__histogram_count(a) == htw__histogram_count(b));
    assert_true(htw__histogram_sum(a) == htw__histogram_sum(b));
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

UNIT_TEST_BETWEEN(empty, NULL, histogram_merged_with_a_narrower_one_keeps_its_extremes) {
    htw__histogram_record(&histogram, 300);
    htw__histogram_record(&histogram, 70000);
    htw__histogram_record(&other, 400);
    htw__histogram_merge(&histogram, &other);
    assert_int_equal(htw__histogram_min(&histogram), 300);
    assert_int_equal(htw__histogram_max(&histogram), 70000);
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
    assert_int_equal(htw__histogram_count(&other), 1);
    assert_true(htw__histogram_min(&other) == bucket.low);
    assert_true(htw__histogram_max(&other) == bucket.high);
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
    assert_int_equal(htw__histogram_count(&other), 0);
}

enum { RECORDS = 300000, RECORDED_MIN = 1000, RECORDED_MAX = 1000999 };
static atomic_bool is_written;

static void *record_many(void *arg) {
    (void)arg;
    for (uint64_t i = 0; i < RECORDS; i++)
        htw__histogram_record(&histogram, RECORDED_MIN + i * 7919 % 1000000);
    atomic_store(&is_written, true);
    return NULL;
}

/* What a reader found wrong. The test reads it after the join. */
struct reading {
    const char *error;
    uint64_t rounds;
};

static const char *read_once(uint64_t *last_count) {
    uint64_t count = htw__histogram_count(&histogram);
    if (count < *last_count || count > RECORDS)
        return "the count went back, or too far";
    *last_count = count;

    htw__histogram_init(&other);
    htw__histogram_merge(&other, &histogram);
    if (htw__histogram_count(&other) > RECORDS)
        return "more values were merged than recorded";
    if (htw__histogram_count(&other) == 0)
        return NULL;
    if (htw__histogram_min(&other) < RECORDED_MIN * 63 / 64 ||
        htw__histogram_max(&other) > RECORDED_MAX / 64 * 65 ||
        htw__histogram_min(&other) > htw__histogram_max(&other))
        return "an extreme value that was never recorded was merged";

    for (unsigned percent = 0; percent <= 100; percent += 50) {
        uint64_t told = htw__histogram_percentile(&histogram, percent);
        if (told < RECORDED_MIN || told > RECORDED_MAX / 64 * 65)
            return "a percentile lies outside of what was recorded";
    }
    return NULL;
}

static void *read_all_the_while(void *arg) {
    struct reading *reading = arg;
    uint64_t last_count = 0;
    bool is_last;
    do {
        is_last = atomic_load(&is_written);
        reading->error = read_once(&last_count);
        reading->rounds++;
    } while (reading->error == NULL && !is_last);
    return NULL;
}

UNIT_TEST_BETWEEN(empty, NULL, histogram_read_by_another_thread_is_always_consistent) {
    pthread_t writer;
    pthread_t reader;
    struct reading reading = { 0 };
    atomic_store(&is_written, false);
    assert_int_equal(pthread_create(&reader, NULL, read_all_the_while, &reading), 0);
    assert_int_equal(pthread_create(&writer, NULL, record_many, NULL), 0);
    pthread_join(writer, NULL);
    pthread_join(reader, NULL);
    if (reading.error != NULL)
        fail_msg("%s (round %llu)", reading.error, (unsigned long long)reading.rounds);
    assert_same(&other, &histogram); /* the last round began after the last value */
}
