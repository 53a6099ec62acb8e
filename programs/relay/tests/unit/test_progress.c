/* SPDX-License-Identifier: MIT */
/* test_progress.c - the metadata of offsets, also such as the relay never wrote. */
#include "../../src/progress.h"

#include "unit/unit.h"

UNIT_TEST(progress_of_nothing_is_none) {
    struct htw__relay_progress read;
    assert_int_equal(htw__progress_parse((struct htw__bytes) { NULL, 0 }, 40, &read), 0);
    assert_int_equal(read.read_end, 40);
    assert_false(htw__progress_covers(&read, 0, 39));
    assert_int_equal(htw__progress_parse(htw__bytes_of(""), 40, &read), 0);
}

UNIT_TEST(progress_covers_what_was_read_up_to_its_place) {
    const struct htw__relay_progress progress = { 100, 2000, 50, 9999 };
    assert_true(htw__progress_covers(&progress, 1999, 99));
    assert_true(htw__progress_covers(&progress, 2000, 50));
    assert_false(htw__progress_covers(&progress, 2000, 51));
    assert_false(htw__progress_covers(&progress, 2001, 0));
    assert_false(htw__progress_covers(&progress, 0, 100)); /* came later */
}

/* holds: relay-10 */
UNIT_TEST(progress_of_others_is_refused) {
    static const char *const texts[] = {
        "x",
        "htw-bucket-1",
        "htw-bucket-1 ",
        "htw-bucket-1 5 5 5",
        "htw-bucket-1 5 5 5 5 5",
        "htw-bucket-1 5 5 5 5 ",
        "htw-bucket-1  5 5 5 5",
        "htw-bucket-1 -5 5 5 5",
        "htw-bucket-2 5 5 5 5",
        "htw-bucket-1 3 5 5 5" /* ends before the position */,
        "htw-bucket-1 5 253402300800000 5 5",
        "htw-bucket-1 99999999999999999999 5 5 5",
        "htw-bucket-1 5 5 5 99999999999999999",
        "htw-stripe-2 1000 64 5 0",
    };
    struct htw__relay_progress read;
    for (size_t i = 0; i < COUNT_OF(texts); i++) {
        assert_int_equal(htw__progress_parse(htw__bytes_of(texts[i]), 4, &read), -EINVAL);
        assert_int_equal(read.read_end, 4);
    }
}

UNIT_TEST(progress_clock_is_read_as_written) {
    char text[HTW__PROGRESS_TEXT_SIZE], longest[HTW__RELAY_OWNER_MAX + 1];
    const char *const owners[] = { NULL, "a", "Relay_7.eu-1", longest };
    struct htw__relay_clock read, clock = { .levels = { 250, 8, 4 },
                                            .time_ms = 1700000000250,
                                            .ids = { 3, INT64_MAX / 10, 77 } };
    memset(longest, 'x', sizeof(longest) - 1);
    longest[sizeof(longest) - 1] = '\0';
    for (size_t i = 0; i < COUNT_OF(owners); i++) {
        clock.owner =
            owners[i] == NULL ? (struct htw__bytes) { NULL, 0 } : htw__bytes_of(owners[i]);
        htw__clock_format(&clock, text);
        assert_int_equal(htw__clock_parse(htw__bytes_of(text), &read), 0);
        assert_memory_equal(&read.levels, &clock.levels, sizeof(read.levels));
        assert_int_equal(read.time_ms, clock.time_ms);
        assert_true(read.ids.start == 3 && read.ids.end == clock.ids.end);
        assert_int_equal(read.ids.since, 77);
        assert_true(htw__bytes_are_equal(read.owner, clock.owner));
    }
    assert_int_equal(htw__clock_parse((struct htw__bytes) { NULL, 0 }, &read), -ENOENT);
}

/* holds: relay-10 */
UNIT_TEST(progress_clock_of_others_is_refused) {
    static const char *const texts[] = {
        "htw-stripe-2 1000 64 5 1 0 0 0", /* not the start of a bucket */
        "htw-stripe-2 0 64 5 0 0 0 0",
        "htw-stripe-2 1000 63 5 0 0 0 0",
        "htw-stripe-2 1000 64 4294967301 0 0 0 0",
        "htw-stripe-2 1000 4294967360 5 0 0 0 0",
        "htw-stripe-2 1000 64 5 253402300800000 0 0 0",
        "htw-stripe-2 1000 64 5 0 0 0",
        "htw-stripe-2 1000 64 5 0 7 6 0", /* an index that ends before it begins */
        "htw-stripe-2 1000 64 5 0 0 0 0 ",
        "htw-stripe-2 1000 64 5 0 0 0 0  a",
        "htw-stripe-2 1000 64 5 0 0 0 0 a b",
        "htw-stripe-2 1000 64 5 0 0 0 0 a/b",
        /* 65 bytes */
        ("htw-stripe-2 1000 64 5 0 0 0 0 "
         "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"),
        "htw-bucket-1 5 5 5 5",
        "htw-stripe-1 1000 64 5 0",
        "htw-stripe-3 1000 64 5 0 0 0 0",
    };
    struct htw__relay_clock clock;
    for (size_t i = 0; i < COUNT_OF(texts); i++)
        assert_int_equal(htw__clock_parse(htw__bytes_of(texts[i]), &clock), -EINVAL);
}
