/* SPDX-License-Identifier: MIT */
/* test_duration.c - durations, instants, and the lines that contain them. */
/* holds: delay-11 */
#include "../../../programs/kit/times.h"
#include "../../../programs/kit/input.h"

#include "../unit.h"

#define UNTOUCHED INT64_C(-77)
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

struct case_of {
    const char *text;
    int64_t ns;
};

UNIT_TEST(duration_of_every_form_is_read) {
    const struct case_of cases[] = {
        { "0", 0 },
        { "0.25", 250000000 },
        { ".5", 500000000 },
        { "7", 7 * HTW_SECOND },
        { "10ns", 10 },
        { "500us", 500000 },
        { "250ms", 250000000 },
        { "1.5s", 1500000000 },
        { "10m", 600 * HTW_SECOND },
        { "2h30m", 9000 * HTW_SECOND },
        { "3d", 3 * HTW_DAY },
        { "1w", 7 * HTW_DAY },
        { "1m1m", 120 * HTW_SECOND },
        { "0.5h.5m", 1830 * HTW_SECOND },
        { "007s", 7 * HTW_SECOND },
        { "+5s", 5 * HTW_SECOND },
        { "+.5", 500000000 },
        { "1min", 60 * HTW_SECOND },
        { "1h1min1s", 3661 * HTW_SECOND },
        { "1e-06", 1000 },
        { "1E-06", 1000 },
        { "1.5e3", 1500 * HTW_SECOND },
        { "1.5e+3ms", 1500000000 },
        { "1e3ms2e1us", 1000020000 },
        { "1e3ms1.5us", 1000001500 },
        { "0e0", 0 },
        { "0e999999999999999999999999", 0 },
        { "1.e0", UNTOUCHED },
        { "125e-2m", 75 * HTW_SECOND },
        { "12.345e1", 123450000000 },
        { ".00012345e4", 1234500000 },
        { "0000000000000000000000001e-3", 1000000 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = UNTOUCHED;
        const char *why = htw__duration_parse(cases[i].text, strlen(cases[i].text), &ns);
        assert_int_equal(why != NULL, cases[i].ns == UNTOUCHED);
        assert_int_equal(ns, cases[i].ns);
    }
}

UNIT_TEST(duration_finer_than_a_nanosecond_is_rounded_up) {
    const struct case_of cases[] = {
        { "0.0000000001", 1 },
        { "0.1ns", 1 },
        { "1.000000000000000000000000000001ns", 2 },
        { "0.000000000000000000000000000000", 0 },
        { "0.999999999999999999999999", HTW_SECOND },
        { "0.00000000000000000000000000000001w", 1 },
        { "0.123456789", 123456789 },
        { "0.333333333333333333d", 28800 * HTW_SECOND },
        { "1e-10", 1 },
        { "100000000000000000000e-30", 1 },
        { "1e-999999999999999999999999999", 1 },
        { "0.00000000000000000001e20", HTW_SECOND },
        { "0.00000000000000000001e11", 1 },
        { "1.0000000000000000001e-9", 2 },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = UNTOUCHED;
        assert_null(htw__duration_parse(cases[i].text, strlen(cases[i].text), &ns));
        assert_int_equal(ns, cases[i].ns);
    }
}

UNIT_TEST(duration_of_wrong_form_is_refused) {
    static const char *const cases[] = {
        "",      "-1",   "+",     "x",     "1x",   "1.",   "1.s",    ".",    "1..2s",
        "1e",    "2h30", "s",     "1e+",   "1e-s", "1ee3", "1e3e3",  "++5s", "+-5s",
        "1s+1s", "e3",   "1m1in", "1mins", "1e.5", "h1",   "1 s",    "1S",   "0x1",
        "1s ",   "-0",   "1.2.3", "1nss",  "1,5",  "inf",  "1ms-1s", "nan",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = UNTOUCHED;
        assert_non_null(htw__duration_parse(cases[i], strlen(cases[i]), &ns));
        assert_int_equal(ns, UNTOUCHED);
    }
}

UNIT_TEST(duration_is_read_up_to_its_size_only) {
    int64_t ns;
    assert_null(htw__duration_parse("15s", 2, &ns));
    assert_true(ns == 15 * HTW_SECOND);
    assert_non_null(htw__duration_parse("1\0s", 3, &ns));
}

UNIT_TEST(duration_too_long_is_refused_without_overflow) {
    static const char *const long_ones[] = {
        "9223372036.854775807",
        "9223372036854775807ns",
        "15251w",
        "18446744073709551615w",
        "18446744073709551616",
        "99999999999999999999999999999999999999999999999999",
        "9223372036s854775806ns1ns",
        "9223372036s18446744073709551600w",
        "15250w15250w15250w",
        "1e17",
        "1e999999999999999999",
        "0.000001e999",
        "1e3w1e30",
    };
    int64_t ns = UNTOUCHED;
    for (size_t i = 0; i < COUNT(long_ones); i++)
        assert_non_null(htw__duration_parse(long_ones[i], strlen(long_ones[i]), &ns));
    assert_int_equal(ns, UNTOUCHED);
    assert_null(htw__duration_parse("9223372036.854775806", 20, &ns));
    assert_true(ns == INT64_MAX - 1);
}

UNIT_TEST(instant_of_every_form_is_read) {
    const int64_t year_2026 = INT64_C(1767225600) * HTW_SECOND;
    const struct case_of cases[] = {
        { "0", 0 },
        { "1767225600.5", year_2026 + 500000000 },
        { "1.7672256e9", year_2026 },
        { "2026-01-01T00:00:00Z", year_2026 },
        { "2026-01-01t00:00:00.25z", year_2026 + 250000000 },
        { "2026-01-01T00:00:00.0000000001Z", year_2026 + 1 },
        { "2026-01-01T05:30:00+05:30", year_2026 },
        { "2025-12-31T12:00:00-12:00", year_2026 },
        { "2025-12-31T23:59:60Z", year_2026 },
        { "2026-01-01T00:59:60+01:00", year_2026 },
        { "2026-01-01T00:00:00-00:00", year_2026 },
        { "1970-01-01T00:00:00Z", 0 },
        { "1969-12-31T23:59:59.5Z", -500000000 },
        { "2000-02-29T00:00:00Z", INT64_C(951782400) * HTW_SECOND },
        { "2024-02-29T12:00:00Z", INT64_C(1709208000) * HTW_SECOND },
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = UNTOUCHED;
        assert_null(htw__instant_parse(cases[i].text, strlen(cases[i].text), &ns));
        assert_int_equal(ns, cases[i].ns);
    }
}

UNIT_TEST(instant_of_wrong_form_is_refused) {
    static const char *const cases[] = {
        "",
        "-1",
        "x",
        "1x",
        "2026-01-01",
        "2026-01-01T00:00:00",
        "2026-01-01 00:00:00Z",
        "2026-1-01T00:00:00Z",
        "2026-01-01T0:00:00Z",
        "2026-01-01T00:00Z",
        "2026-01-01T00:00:00.Z",
        "2026-01-01T00:00:00.5e1Z",
        "+1",
        "1e17",
        "2026-01-01T00:00:00Zx",
        "2026-01-01T00:00:00+0100",
        "2026-01-01T00:00:00+24:00",
        "2026-01-01T00:00:00+01:60",
        "2026-00-01T00:00:00Z",
        "2026-13-01T00:00:00Z",
        "2026-01-00T00:00:00Z",
        "2026-01-32T00:00:00Z",
        "2026-04-31T00:00:00Z",
        "2026-02-29T00:00:00Z",
        "1900-02-29T00:00:00Z",
        "2026-01-01T24:00:00Z",
        "2026-01-01T00:60:00Z",
        "2026-01-01T00:00:61Z",
        "2026-01-01T00:00:60Z",
        "12026-01-01T00:00:00Z",
        "99999999999999999999",
    };
    for (size_t i = 0; i < COUNT(cases); i++) {
        int64_t ns = UNTOUCHED;
        assert_non_null(htw__instant_parse(cases[i], strlen(cases[i]), &ns));
        assert_int_equal(ns, UNTOUCHED);
    }
}

UNIT_TEST(instant_with_a_wrong_character_anywhere_is_refused) {
    char text[] = "2026-01-01T00:00:00.5+01:00";
    int64_t ns;
    for (size_t i = 0; i < strlen(text); i++) {
        char right = text[i];
        text[i] = 'x';
        assert_non_null(htw__instant_parse(text, strlen(text), &ns));
        text[i] = right;
    }
    assert_null(htw__instant_parse(text, strlen(text), &ns));
}

/* A time that 64 bits cannot hold is refused, and not taken for the last one, which means never. */
UNIT_TEST(instant_ends_in_2262) {
    static const struct {
        const char *text;
        bool is_valid;
    } cases[] = {
        { "+1h", true },
        { "+200y", false },
        { "+90000d", true },
        { "+106000d", false },
        { "2262-01-01T00:00:00Z", true },
        { "2262-04-11T23:47:16.854775806Z", true },
        { "2262-04-11T23:47:16.854775807Z", false },
        { "2262-06-01T00:00:00Z", false },
        { "9999-12-31T23:59:59.9999999999Z", false },
        { "1700-01-01T00:00:00Z", true },
        { "1600-01-01T00:00:00Z", false },
        { "0000-01-01T00:00:00.5Z", false },
        { "9223372036.854775806", true },
        { "9223372036.854775807", false },
        { "9223372037", false },
        { "1e15", false },
        { "soon", false },
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        int64_t ns = UNTOUCHED;
        const char *why = htw__instant_parse_after(cases[i].text, HTW_SECOND * 1000000000, &ns);
        assert_int_equal(why == NULL, cases[i].is_valid);
        assert_int_equal(ns != UNTOUCHED, cases[i].is_valid);
    }
}

UNIT_TEST(instant_written_is_what_was_read) {
    for (int64_t day = -100000; day < 100000; day++) {
        int64_t ns = day * HTW_DAY + 1234567 * HTW_MICROSECOND, read = UNTOUCHED;
        char text[HTW__INSTANT_FORMAT_SIZE];
        size_t size = htw__instant_format(0, ns, text);
        assert_null(htw__instant_parse(text, size, &read));
        assert_true(read == ns);
    }
}

UNIT_TEST(instant_written_is_rounded_down) {
    char text[HTW__INSTANT_FORMAT_SIZE];
    htw__instant_format(1767225600, 999999999, text);
    assert_string_equal(text, "2026-01-01T00:00:00.999999Z");
    htw__instant_format(0, -1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
    htw__instant_format(1, -HTW_SECOND - 1, text);
    assert_string_equal(text, "1969-12-31T23:59:59.999999Z");
    htw__instant_format(253402300800, 0, text);
    assert_string_equal(text, "10000-01-01T00:00:00.000000Z");
}

UNIT_TEST(time_that_64_bits_do_not_hold_is_the_most_or_the_least) {
    assert_true(htw__time_add(INT64_MAX - 1, 1) == INT64_MAX);
    assert_true(htw__time_add(INT64_MAX, 1) == INT64_MAX);
    assert_true(htw__time_add(INT64_MIN, -1) == INT64_MIN);
    assert_true(htw__time_add(INT64_MIN, INT64_MAX) == -1);
    assert_true(htw__time_subtract(INT64_MIN + 1, 2) == INT64_MIN);
    assert_true(htw__time_subtract(5, INT64_MIN) == INT64_MAX);
    assert_true(htw__time_subtract(-5, -7) == 2);
    assert_true(htw__time_later(-1, 2) == 2 && htw__time_later(2, -1) == 2);
    assert_true(htw__time_of_tick(UINT64_MAX - 1, 2) == INT64_MAX);
    assert_true(htw__time_tick_before(INT64_MAX, 2) == (uint64_t)INT64_MAX / 2 + 1);
}

static void assert_line(const char *text, size_t size, int64_t when_ns, bool is_instant,
                        const char *message, size_t message_size) {
    struct htw__line line;
    assert_null(htw__line_parse(text, size, &line));
    assert_int_equal(line.when_ns, when_ns);
    assert_int_equal(line.is_instant, is_instant);
    assert_int_equal(line.message_size, message_size);
    assert_memory_equal(line.message, message, message_size);
}

UNIT_TEST(line_is_divided_at_the_first_blank) {
    assert_line("1s a b", 6, HTW_SECOND, false, "a b", 3);
    assert_line("\t 1s\ta", 6, HTW_SECOND, false, "a", 1);
    assert_line("1  a ", 5, HTW_SECOND, false, " a ", 3);
    assert_line("1 ", 2, HTW_SECOND, false, "", 0);
    assert_line("1", 1, HTW_SECOND, false, "", 0);
    assert_line("@0 a\0b", 6, 0, true, "a\0b", 3);
}

UNIT_TEST(line_that_is_bad_has_a_reason_and_a_word) {
    struct htw__line line;
    assert_string_equal(htw__line_parse("", 0, &line), "empty line");
    assert_string_equal(htw__line_parse(" \t", 2, &line), "empty line");
    assert_non_null(htw__line_parse(" @x y", 5, &line));
    assert_int_equal(line.word_size, 2);
    assert_memory_equal(line.word, "@x", 2);
}
