/* SPDX-License-Identifier: MIT */
/* test_inspect - htw_wheel_check() finds damage, for_each visits, dump draws. */
#include "../../support/fixture.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

WHEEL_TEST(wheel_check_finds_a_timer_that_has_left_unnoticed, 8, 100, true, 3) {
    /* The neighbours are linked past the second timer, as by a race of two threads. */
    for (size_t i = 0; i < 3; i++)
        arm(f, i, 104);
    struct htw_timer intact[3];
    memcpy(intact, f->timers, sizeof intact);
    f->timers[0]._link._next = &f->timers[2]._link;
    f->timers[2]._link._back = &f->timers[0]._link._next;
    int broken = htw_wheel_check(f->wheel);
    memcpy(f->timers, intact, sizeof intact);
    assert_true(broken > 0);
}

/* ---- for_each */

static bool count_down(struct htw_timer *timer, void *arg) {
    (void)timer;
    return --*(size_t *)arg > 0;
}

WHEEL_TEST(wheel_for_each_stops_at_any_place_when_the_visitor_says_so, 8, 100, false, 7) {
    arm(f, 0, 50);
    arm(f, 1, 60);
    assert_non_null(
        htw_wheel_poll(f->wheel, 100)); /* inside the round the next goes to `next_round` */
    static const uint64_t armed[] = { 70, 101, 120, 5000, HTW_NEVER_TICK };
    for (size_t i = 0; i < 5; i++)
        arm(f, 2 + i, armed[i]);
    for (size_t wanted = 1; wanted <= 6; wanted++) {
        size_t left = wanted;
        assert_int_equal(htw_wheel_for_each(f->wheel, count_down, &left), wanted);
    }
}

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

WHEEL_TEST_BOTH_ORDERS(wheel_dump_shows_the_clock_and_the_keys, 8, 123456, 5) {
    arm(f, 0, 123457);
    arm(f, 1, 123999);
    arm(f, 2, 98765432100);
    arm(f, 3, HTW_NEVER_TICK);
    arm(f, 4, 5);
    char *text = dump(f);
    assert_non_null(strstr(text, "123456"));
    assert_non_null(strstr(text, "123457"));
    assert_non_null(strstr(text, "123999"));
    assert_non_null(strstr(text, "98765432100"));
    assert_true(text[strlen(text) - 1] == '\n');
    free(text);
}

WHEEL_TEST(wheel_dump_of_an_empty_wheel_shows_no_key, 8, 123456, false, 1) {
    arm(f, 0, 123999);
    assert_true(htw_wheel_cancel(f->wheel, &f->timers[0]));
    char *text = dump(f);
    assert_non_null(strstr(text, "123456"));
    free(text);
}

/* Of a wheel with `count` timers in one bucket: the drawing of that level begins with `strip`. */
static void assert_drawn(size_t count, const char *strip) {
    struct fixture f;
    fixture_open(&f, 4, 100, false, count);
    for (size_t i = 0; i < count; i++)
        arm(&f, i, 101);
    char *text = dump(&f);
    assert_non_null(strstr(text, strip));
    free(text);
    fixture_close(&f);
}

UNIT_TEST(wheel_dump_marks_a_bucket_by_the_power_of_ten_of_its_timers) {
    assert_drawn(0, "|....|");
    assert_drawn(9, "|.9..|");
    assert_drawn(10, "|.a..|");
    assert_drawn(99, "|.a..|");
    assert_drawn(100, "|.b..|");
    assert_drawn(1000, "|.c..|");
}

WHEEL_TEST(wheel_dump_of_a_large_wheel_draws_groups_of_buckets, 256, 0, false, 3) {
    arm(f, 0, 4);
    arm(f, 1, 7); /* the group of 4 */
    arm(f, 2, 8);
    char *text = dump(f);
    assert_non_null(strstr(text, "a group of buckets"));
    assert_non_null(strstr(text, "|.21."));
    free(text);
}

WHEEL_TEST(wheel_dump_points_at_the_bucket_of_the_clock, 8, 101, false, 0) {
    char *text = dump(f);
    assert_non_null(strstr(text, "  |........|\n"
                                 "        ^ clock, in bucket 5\n"));
    free(text);
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
}

WHEEL_TEST(wheel_dump_says_that_a_round_is_on, 8, 100, false, 2) {
    arm(f, 0, 101);
    arm(f, 1, 101);
    assert_non_null(htw_wheel_poll(f->wheel, 101));
    char *text = dump(f);
    assert_non_null(strstr(text, "clock 101 (in a round)"));
    free(text);
}

/* Field by field: the bytes of padding between them are not defined. */
static void assert_same_stats(const struct htw_wheel_stats *a, const struct htw_wheel_stats *b) {
    assert_int_equal(a->scheduled, b->scheduled);
    assert_int_equal(a->moved, b->moved);
    assert_int_equal(a->cancelled, b->cancelled);
    assert_int_equal(a->expired, b->expired);
    assert_int_equal(a->drained, b->drained);
    assert_int_equal(a->demoted, b->demoted);
    assert_int_equal(a->advances, b->advances);
    assert_int_equal(a->pending, b->pending);
    assert_int_equal(a->levels, b->levels);
    assert_int_equal(a->size, b->size);
    assert_int_equal(a->queued_buckets, b->queued_buckets);
    assert_int_equal(a->memory_bytes, b->memory_bytes);
}

WHEEL_TEST(wheel_dump_changes_nothing, 8, 100, false, 3) {
    arm(f, 0, 101);
    arm(f, 1, 5000);
    arm(f, 2, 7);
    struct htw_wheel_stats before = fixture_stats(f);
    free(dump(f));
    struct htw_wheel_stats after = fixture_stats(f);
    assert_same_stats(&before, &after);
    assert_round(f, 5000, 2, 0, 1);
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

WHEEL_TEST(wheel_dump_without_a_stream_is_refused, 8, 100, false, 0) {
    assert_int_equal(htw_wheel_dump(f->wheel, NULL), -EINVAL);
}

/* ---- count_in */

UNIT_TEST(wheel_count_in_counts_the_timers_of_buckets) {
    for (int strict = 0; strict <= 1; strict++) {
        struct fixture f;
        fixture_open(&f, 8, 0, strict == 1, 12);
        static const uint64_t deadlines[] = { 3, 3, 3, 7, 9, 40, 63, 64, HTW_NEVER_TICK };
        for (size_t i = 0; i < sizeof deadlines / sizeof deadlines[0]; i++)
            arm(&f, i, deadlines[i]);
        assert_int_equal(htw_wheel_count_in(f.wheel, 0, 0, 8, 100), 4);
        assert_int_equal(htw_wheel_count_in(f.wheel, 0, 3, 1, 100), 3);
        assert_int_equal(htw_wheel_count_in(f.wheel, 0, 3, 1, 2), 2);
        assert_int_equal(htw_wheel_count_in(f.wheel, 0, 4, 100, 100), 1);
        assert_int_equal(htw_wheel_count_in(f.wheel, 0, 4, 3, 100), 0);
        assert_int_equal(htw_wheel_count_in(f.wheel, 1, 0, 8, 100), 3);
        assert_int_equal(htw_wheel_count_in(f.wheel, 2, 1, 1, 100), 1);
        fixture_close(&f);
    }
}

/* Behind the last bucket of a level are the first one of the next, and the next chain of the first. */
WHEEL_TEST(wheel_count_in_ends_with_the_level, 8, 60, false, 13) {
    for (size_t i = 0; i < 12; i++)
        arm(f, i, 64);
    arm(f, 12, 70);
    assert_int_equal(htw_wheel_count_in(f->wheel, 0, 0, 100, 100), 12);
    assert_int_equal(htw_wheel_count_in(f->wheel, 0, 4, 100, 100), 0);
    assert_int_equal(htw_wheel_count_in(f->wheel, 1, 0, 1, 100), 1);
}

UNIT_TEST(wheel_count_in_of_what_does_not_exist_is_zero) {
    struct fixture f;
    fixture_open(&f, 8, 0, false, 1);
    arm(&f, 0, 3);
    assert_int_equal(htw_wheel_count_in(NULL, 0, 0, 8, 100), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 1, 0, 8, 100), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 64, 0, 8, 100), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 0, 8, 8, 100), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 0, UINT32_MAX, UINT32_MAX, 100), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 0, 0, 0, 100), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 0, 0, 8, 0), 0);
    assert_int_equal(htw_wheel_count_in(f.wheel, 0, 3, UINT32_MAX, 100), 1);
    fixture_close(&f);
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
