/* SPDX-License-Identifier: MIT */
/* test_backoff - delays that grow from attempt to attempt. */
#include <htw/backoff.h>

#include "../unit.h"

#include <math.h>

#define MS INT64_C(1000000)

static struct htw_backoff backoff;

static struct htw_backoff_options without_jitter(int64_t initial_ns, int64_t cap_ns,
                                                 double multiplier) {
    struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
    options.initial_ns = initial_ns;
    options.cap_ns = cap_ns;
    options.multiplier = multiplier;
    options.jitter = HTW_NO_JITTER;
    return options;
}

static void start(const struct htw_backoff_options *options) {
    assert_int_equal(htw_backoff_init(&backoff, options), 0);
}

#define assert_next(expected) assert_true(htw_backoff_next(&backoff) == (expected))

UNIT_TEST(backoff_without_jitter_multiplies_up_to_the_cap) {
    static const struct {
        int64_t initial_ns, cap_ns;
        double multiplier;
        int64_t delays_ns[10]; /* as far as they are not the cap */
    } cases[] = {
        { 100, 3000, 2.0, { 100, 200, 400, 800, 1600 } },
        { 1, 39, 1.5, { 1, 1, 2, 3, 5, 7, 11, 17, 25, 38 } }, /* fractions are kept */
        { 100, 1000, 3.0, { 100, 300, 900 } },
        { INT64_MAX, INT64_MAX, (double)INFINITY, { 0 } },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct htw_backoff_options options =
            without_jitter(cases[i].initial_ns, cases[i].cap_ns, cases[i].multiplier);
        start(&options);
        for (size_t j = 0; j < 10 && cases[i].delays_ns[j] != 0; j++)
            assert_next(cases[i].delays_ns[j]);
        for (int j = 0; j < 5000; j++) /* more than it takes to leave the range of a double */
            assert_next(cases[i].cap_ns);
    }
}

UNIT_TEST(backoff_without_a_cap_ends_at_the_greatest_delay) {
    struct htw_backoff_options options = without_jitter(1, INT64_MAX, 2.0);
    start(&options);
    for (unsigned bit = 0; bit < 63; bit++)
        assert_next(INT64_C(1) << bit);
    assert_next(INT64_MAX);
}

UNIT_TEST(backoff_beyond_double_precision_stays_within_the_cap) {
    for (int64_t less = 0; less < 3000; less++) {
        struct htw_backoff_options options =
            without_jitter(INT64_MAX - 3000, INT64_MAX - less, 1.0);
        options.jitter = less % 2 == 0 ? HTW_NO_JITTER : 1.0;
        start(&options);
        for (int i = 0; i < 3; i++) {
            int64_t delay_ns = htw_backoff_next(&backoff);
            assert_true(delay_ns >= 1 && delay_ns <= options.cap_ns);
        }
    }
}

UNIT_TEST(backoff_with_all_random_is_never_zero) {
    struct htw_backoff_options options = without_jitter(1, 2, 1.01);
    options.jitter = 1.0;
    start(&options);
    for (int i = 0; i < 10000; i++) {
        int64_t delay_ns = htw_backoff_next(&backoff);
        assert_true(delay_ns == 1 || delay_ns == 2);
    }
}

UNIT_TEST(backoff_reset_starts_again) {
    struct htw_backoff_options options = without_jitter(100, 1000, 3.0);
    start(&options);
    assert_int_equal(htw_backoff_attempts(&backoff), 0);
    assert_next(100);
    assert_next(300);
    assert_int_equal(htw_backoff_attempts(&backoff), 2);
    htw_backoff_reset(&backoff);
    assert_int_equal(htw_backoff_attempts(&backoff), 0);
    assert_next(100);
    assert_int_equal(htw_backoff_attempts(&backoff), 1);
}

/* Programs that store a seed get the same delays from each version. The numbers are the known
   first outputs of splitmix64 for this seed; with this cap, what is drawn is their upper 53 bits.
 */
UNIT_TEST(backoff_draws_the_numbers_of_splitmix64) {
    static const uint64_t expected[] = { UINT64_C(6457827717110365317),
                                         UINT64_C(3203168211198807973),
                                         UINT64_C(9817491932198370423) };
    const int64_t all_ns = INT64_C(1) << 53;
    struct htw_backoff_options options = HTW_BACKOFF_OPTIONS_INIT;
    options.initial_ns = options.cap_ns = all_ns;
    options.jitter = 1.0;
    options.seed = 1234567;
    assert_int_equal(htw_backoff_init(&backoff, &options), 0);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(htw_backoff_next(&backoff), all_ns - (int64_t)(expected[i] >> 11));
}

UNIT_TEST(backoff_jitter_is_spread_over_its_whole_range) {
    enum { DRAWS = 100000, PARTS = 10 };
    static const double jitters[] = { 0.25, 0.5, 1.0 };
    for (size_t j = 0; j < sizeof jitters / sizeof jitters[0]; j++) {
        struct htw_backoff_options options = without_jitter(1000 * MS, 1000 * MS, 2.0);
        options.jitter = jitters[j];
        start(&options);
        double low_ns = 1e9 * (1.0 - jitters[j]);
        double width_ns = 1e9 - low_ns;
        double sum_ns = 0.0;
        int parts[PARTS] = { 0 };
        for (int i = 0; i < DRAWS; i++) {
            double delay_ns = (double)htw_backoff_next(&backoff);
            assert_true(delay_ns >= low_ns && delay_ns <= 1e9);
            sum_ns += delay_ns;
            int part = (int)((delay_ns - low_ns) / width_ns * PARTS);
            parts[part < PARTS ? part : PARTS - 1]++;
        }
        /* The mean's standard deviation is a thousandth of the width: this is ten of them. */
        assert_true(fabs(sum_ns / DRAWS - (low_ns + width_ns / 2)) < width_ns / 100);
        for (int i = 0; i < PARTS; i++) /* and that of a part some 95 draws */
            assert_true(parts[i] > DRAWS / PARTS - 1000 && parts[i] < DRAWS / PARTS + 1000);
    }
}

UNIT_TEST(backoff_defaults_are_those_of_the_header) {
    start(NULL);
    int64_t delay_ns = htw_backoff_next(&backoff);
    assert_true(delay_ns >= 50 * MS && delay_ns <= 100 * MS);
    delay_ns = htw_backoff_next(&backoff);
    assert_true(delay_ns >= 100 * MS && delay_ns <= 200 * MS);
    for (int i = 0; i < 100; i++)
        delay_ns = htw_backoff_next(&backoff);
    assert_true(delay_ns >= 15000 * MS && delay_ns <= 30000 * MS);
}

static void assert_refused(const struct htw_backoff_options *options) {
    struct htw_backoff before;
    memcpy(&before, &backoff, sizeof before);
    assert_int_equal(htw_backoff_init(&backoff, options), -EINVAL);
    assert_memory_equal(&before, &backoff, sizeof before);
}

UNIT_TEST(backoff_with_bad_options_is_refused) {
    memset(&backoff, 0, sizeof backoff);
    assert_int_equal(htw_backoff_init(NULL, NULL), -EINVAL);
    const struct htw_backoff_options good = HTW_BACKOFF_OPTIONS_INIT;
    struct htw_backoff_options bad;
#define ASSERT_REFUSED(member, value)                        \
    (bad = good, bad.member = (value), assert_refused(&bad), \
     assert_string_equal(htw_invalid_member(), #member))
    ASSERT_REFUSED(struct_size, 0);
    ASSERT_REFUSED(struct_size, sizeof bad + 1);
    ASSERT_REFUSED(initial_ns, -1);
    ASSERT_REFUSED(cap_ns, 100 * MS - 1);
    ASSERT_REFUSED(cap_ns, INT64_MIN);
    ASSERT_REFUSED(multiplier, 0.99);
    ASSERT_REFUSED(multiplier, -2.0);
    ASSERT_REFUSED(multiplier, (double)NAN);
    ASSERT_REFUSED(jitter, -0.01);
    ASSERT_REFUSED(jitter, 1.01);
    ASSERT_REFUSED(jitter, (double)NAN);
    bad = without_jitter(2, 1, 2.0);
    assert_refused(&bad);
    assert_string_equal(htw_invalid_member(), "cap_ns");
}

UNIT_TEST(backoff_that_is_null_or_zeroed_is_refused) {
    memset(&backoff, 0, sizeof backoff);
    assert_true(htw_backoff_next(&backoff) == -EINVAL);
    assert_true(htw_backoff_next(NULL) == -EINVAL);
    assert_int_equal(htw_backoff_attempts(NULL), 0);
    htw_backoff_reset(NULL);
}
