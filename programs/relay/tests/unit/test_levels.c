/* SPDX-License-Identifier: MIT */
/* test_levels.c - which bucket a deadline belongs to. */
#include "../../src/levels.h"

#include "support/random.h"
#include "unit/unit.h"

/* The defaults of the program: buckets of 1 s, 32 s, 17 min, 9 h and 12 days. */
static const struct htw__levels usual = { 1000, 64, 5 };

UNIT_TEST(levels_in_range_are_valid) {
    static const struct htw__levels good[] = {
        { 1, 4, 2 }, { 1000, 64, 5 }, { 86400000, 1024, 2 }, { 1, 4, 12 }
    };
    static const struct htw__levels bad[] = {
        { 0, 64, 5 },   { -1, 64, 5 },       { 1000, 64, 1 },   { 1000, 64, 13 },
        { 1000, 2, 5 }, { 1000, 48, 5 },     { 1000, 2048, 2 }, { 1000, 1024, 9 },
        { 1000, 0, 5 }, { INT64_MAX, 4, 2 },
    };
    for (size_t i = 0; i < COUNT_OF(good); i++)
        assert_true(htw__levels_are_valid(&good[i]));
    for (size_t i = 0; i < COUNT_OF(bad); i++)
        assert_false(htw__levels_are_valid(&bad[i]));
}

UNIT_TEST(levels_place_is_the_lowest_level_that_reaches) {
    const int64_t clock_ms = 1700000000000;
    static const struct {
        int64_t after_ms;
        uint32_t level;
    } cases[] = {
        { 0, 0 },       { 63999, 0 },   { 64000, 1 },    { 64 * 32000 - 32000, 1 },
        { 2048000, 2 }, { 3600000, 2 }, { 86400000, 3 }, { INT64_C(30) * 86400000, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(htw__levels_place(&usual, clock_ms, clock_ms + cases[i].after_ms).level,
                         cases[i].level);
    /* What is overdue is due with the present bucket. */
    assert_int_equal(htw__levels_place(&usual, clock_ms, 5).number, 1700000000);
    int64_t end_ms = (clock_ms / 1048576000 + 64) * 1048576000;
    assert_true(htw__levels_reach(&usual, clock_ms, end_ms - 1));
    assert_false(htw__levels_reach(&usual, clock_ms, end_ms));
}

/*
 * The argument on which everything rests: a bucket is demoted while the clock lies from one bucket before
 * it to its end, and all that it may hold then goes to a lower level; or, from the highest, to another slot.
 */
/* holds: relay-5 */
UNIT_TEST(levels_demotion_never_returns_to_the_same_slot) {
    struct random_source source = { 7 };
    for (int i = 0; i < 200000; i++) {
        struct htw__levels levels = { 1 + (int64_t)random_below(&source, 5000),
                                      4u << random_below(&source, 5),
                                      2 + (uint32_t)random_below(&source, 4) };
        int64_t clock_ms =
            htw__levels_round(&levels, 1700000000000 + (int64_t)random_below(&source, 10000000000));
        uint32_t level = 1 + (uint32_t)random_below(&source, levels.count - 1);
        int64_t width_ms = htw__levels_width(&levels, level);
        /* The clock demotes the bucket, and allows it; or a former version has let the clock enter it. */
        bool is_entered = random_below(&source, 2) == 0;
        struct htw__relay_place place = { level, clock_ms / width_ms + !is_entered };
        assert_true(htw__levels_demotion(&levels, place) <= clock_ms);
        assert_true(is_entered || clock_ms <= htw__levels_limit(&levels, place));
        int64_t deadline_ms =
            place.number * width_ms + (int64_t)random_below(&source, (uint64_t)width_ms);
        struct htw__relay_place below = htw__levels_place(&levels, clock_ms, deadline_ms);
        assert_true(below.level < level);
        /* And what was put there because it was beyond the window: */
        struct htw__relay_place far = htw__levels_place(&levels, clock_ms, HTW__RELAY_DEADLINE_MAX);
        if (level == levels.count - 1)
            assert_true(htw__levels_slot(&levels, far.number) !=
                            htw__levels_slot(&levels, place.number) ||
                        far.number == place.number + levels.size - 1);
    }
}
