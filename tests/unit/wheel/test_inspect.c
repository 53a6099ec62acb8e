/* SPDX-License-Identifier: MIT */
/* test_inspect - what a wheel tells of its buckets, as numbers and as a drawing. */
#include "../../support/fixture.h"

/* ---- first_buckets */

WHEEL_TEST(wheel_first_buckets_are_in_the_order_of_the_clock, 8, 100, false, 5) {
    struct htw_wheel_bucket buckets[4];
    static const uint64_t armed[] = { 5000, 103, 130, 103, HTW_NEVER_TICK };
    for (size_t i = 0; i < 5; i++)
        arm(f, i, armed[i]);
    assert_int_equal(htw_wheel_first_buckets(f->wheel, buckets, 4), 3);
    static const struct htw_wheel_bucket wanted[] = { { 103, 2, 0, 7 },
                                                      { 130, 1, 1, 0 },
                                                      { 5000, 1, 4, 1 } };
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(buckets[i].tick, wanted[i].tick);
        assert_int_equal(buckets[i].timers, wanted[i].timers);
        assert_int_equal(buckets[i].level, wanted[i].level);
        assert_int_equal(buckets[i].number, wanted[i].number);
    }
    assert_int_equal(htw_wheel_first_buckets(f->wheel, buckets, 2), 2);
    assert_int_equal(htw_wheel_first_buckets(f->wheel, buckets, 0), 0);
    assert_int_equal(htw_wheel_first_buckets(f->wheel, NULL, 4), 0);
    assert_int_equal(htw_wheel_first_buckets(NULL, buckets, 4), 0);
}

/* ---- dump */

/* The dump of a wheel, to be freed. */
static char *dump(const struct fixture *f) {
    char *text = NULL;
    size_t size = 0;
    FILE *stream = open_memstream(&text, &size);
    assert_non_null(stream);
    assert_int_equal(htw_wheel_dump(f->wheel, stream), 0);
    assert_int_equal(fclose(stream), 0);
    assert_non_null(text);
    return text;
}

/* Of a wheel with so many timers at each of three ticks. */
static const struct drawing {
    uint32_t size;
    uint64_t start, first; /* tick */
    size_t counts[3];
    const char *has;
} drawings[] = {
    { 4, 100, 101, { 0 }, "|....|" }, /* a bucket has the power of ten of its timers */
    { 4, 100, 101, { 9 }, "|.9..|" },
    { 4, 100, 101, { 10 }, "|.a..|" },
    { 4, 100, 101, { 99 }, "|.a..|" },
    { 4, 100, 101, { 100 }, "|.b..|" },
    { 4, 100, 101, { 1000 }, "|.c..|" },
    { 256, 0, 7, { 2, 1 }, "|.21." }, /* groups of four */
    { 256, 0, 7, { 2, 1 }, "a group of buckets" },
    { 8, 101, 0, { 0 }, "  |........|\n        ^ clock, in bucket 5\n" },
    { 8, 100, 98765432100, { 1 }, "98765432100" },
};

UNIT_TEST(wheel_dump_draws_the_buckets) {
    for (size_t i = 0; i < COUNT_OF(drawings); i++) {
        const struct drawing *drawing = &drawings[i];
        const size_t *counts = drawing->counts;
        struct fixture f;
        fixture_open(&f, drawing->size, drawing->start, false, counts[0] + counts[1] + counts[2]);
        for (size_t timer = 0; timer < f.count; timer++)
            arm(&f, timer,
                drawing->first + (timer >= counts[0]) + (timer >= counts[0] + counts[1]));
        char *text = dump(&f);
        if (strstr(text, drawing->has) == NULL)
            fail_msg("%s is not in:\n%s", drawing->has, text);
        free(text);
        fixture_close(&f);
    }
}

WHEEL_TEST(wheel_dump_lists_the_first_eight_buckets_of_the_queue, 16, 100, false, 9) {
    for (size_t i = 0; i < 8; i++)
        arm(f, i, 101 + i);
    char *text = dump(f);
    assert_non_null(strstr(text, "8 buckets\n"));
    free(text);
    arm(f, 8, 109);
    text = dump(f);
    assert_non_null(strstr(text, "9 buckets, the first of them:"));
    assert_non_null(strstr(text, "tick 108:"));
    assert_null(strstr(text, "tick 109:"));
    free(text);
    assert_non_null(htw_wheel_poll(f->wheel, 102));
    text = dump(f);
    assert_non_null(strstr(text, "clock 101 (in a round)"));
    free(text);
}

WHEEL_TEST(wheel_dump_to_a_full_device_reports_it, 8, 100, false, 1) {
    arm(f, 0, 101);
    FILE *stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    assert_int_equal(htw_wheel_dump(f->wheel, stream), -EIO);
    fclose(stream);
    stream = fopen("/dev/full", "w");
    assert_non_null(stream);
    setvbuf(stream, NULL, _IONBF, 0); /* each write fails at once; nothing is left to flush */
    assert_int_equal(htw_wheel_dump(f->wheel, stream), -EIO);
    fclose(stream);
}

/* ---- count_in */

WHEEL_TEST_BOTH_ORDERS(wheel_count_in_counts_the_timers_of_buckets, 8, 0, 9) {
    static const uint64_t deadlines[] = { 3, 3, 3, 7, 9, 40, 63, 64, HTW_NEVER_TICK };
    static const struct {
        unsigned level;
        uint32_t first, count;
        size_t most, found;
    } cases[] = {
        { 0, 0, 8, 100, 4 },   { 0, 3, 1, 100, 3 },          { 0, 3, 1, 2, 2 },
        { 0, 4, 100, 100, 1 }, { 0, 4, 3, 100, 0 },          { 1, 0, 8, 100, 3 },
        { 2, 1, 1, 100, 1 },   { 3, 0, 8, 100, 0 },          { 64, 0, 8, 100, 0 },
        { 0, 8, 8, 100, 0 },   { 0, 0, 0, 100, 0 },          { 0, UINT32_MAX, UINT32_MAX, 100, 0 },
        { 0, 0, 8, 0, 0 },     { 0, 3, UINT32_MAX, 100, 4 },
    };
    for (size_t i = 0; i < COUNT_OF(deadlines); i++)
        arm(f, i, deadlines[i]);
    for (size_t i = 0; i < COUNT_OF(cases); i++)
        assert_int_equal(htw_wheel_count_in(f->wheel, cases[i].level, cases[i].first,
                                            cases[i].count, cases[i].most),
                         cases[i].found);
    assert_int_equal(htw_wheel_count_in(NULL, 0, 0, 8, 100), 0);
}

/* ---- all buckets */

/* The deadlines are 1, 2, 4 ... ticks after the clock, and where that is too far the last before HTW_NEVER_TICK. */
static void arm_to_the_end_of_time(struct fixture *f, uint64_t start) {
    for (size_t i = 0; i < f->count; i++) {
        uint64_t delay = (uint64_t)1 << i, most = HTW_NEVER_TICK - 1 - start;
        arm(f, i, start + (delay < most ? delay : most));
    }
}

static size_t count_of_level(const struct fixture *f, unsigned level, uint32_t buckets) {
    size_t found = 0;
    for (uint32_t slot = 0; slot < buckets; slot++)
        found += htw_wheel_count_in(f->wheel, level, slot, 1, SIZE_MAX);
    assert_int_equal(htw_wheel_count_in(f->wheel, level, 0, UINT32_MAX, SIZE_MAX), found);
    assert_int_equal(htw_wheel_count_in(f->wheel, level, buckets, UINT32_MAX, SIZE_MAX), 0);
    return found;
}

static void assert_all_counted(uint32_t size, uint64_t start, bool strict) {
    struct fixture f;
    fixture_open(&f, size, start, strict, 64);
    assert_int_equal(htw_wheel_reserve(f.wheel, HTW_NEVER_TICK), 0);
    arm_to_the_end_of_time(&f, start);
    size_t found = 0;
    uint64_t widths =
        UINT64_MAX; /* less 1: the widths of a bucket of the level that there are in 64 bits */
    for (unsigned level = 0; level < fixture_stats(&f).levels; level++, widths /= size) {
        uint32_t buckets = htw_wheel_level_buckets(f.wheel, level);
        assert_int_equal(buckets, widths < size ? widths + 1 : size);
        found += count_of_level(&f, level, buckets);
    }
    assert_int_equal(found, f.count);
    free(dump(&f));
    fixture_close(&f);
}

UNIT_TEST(wheel_of_any_size_counts_the_buckets_of_all_its_levels) {
    static const uint64_t starts[] = { 0, (uint64_t)1 << 63, UINT64_MAX - 5000,
                                       HTW_NEVER_TICK - 2 };
    for (uint32_t size = HTW_WHEEL_SIZE_MIN; size <= HTW_WHEEL_SIZE_MAX; size *= 2)
        for (size_t i = 0; i < 2 * sizeof starts / sizeof starts[0]; i++)
            assert_all_counted(size, starts[i / 2], i % 2 == 1);
}

WHEEL_TEST(wheel_has_no_buckets_in_a_level_that_does_not_exist, 8, 0, false, 0) {
    assert_int_equal(htw_wheel_level_buckets(f->wheel, 0), 8);
    assert_int_equal(htw_wheel_level_buckets(f->wheel, 1), 0);
    assert_int_equal(htw_wheel_level_buckets(f->wheel, UINT32_MAX), 0);
    assert_int_equal(htw_wheel_level_buckets(NULL, 0), 0);
}
