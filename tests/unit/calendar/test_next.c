/* SPDX-License-Identifier: MIT */
/* test_next.c - the instants of calendars: leap years, gaps and folds. Many more, and all kinds of days, are compared with
   another source by tests/calendar/oracle.py. */
#include "../unit.h"

#include <htw/calendar.h>

#include <inttypes.h>
#include <time.h>

static struct htw_calendar cron(const char *expression) {
    struct htw_calendar calendar;
    assert_int_equal(htw_calendar_cron(&calendar, expression, NULL), 0);
    return calendar;
}

/* "2024-03-30 12:00" of UTC, in nanoseconds. */
static int64_t utc(const char *text) {
    struct tm tm = { 0 };
    assert_non_null(strptime(text, strchr(text, ' ') == NULL ? "%Y-%m-%d" : "%Y-%m-%d %H:%M", &tm));
    return (int64_t)timegm(&tm) * HTW_SECOND;
}

/*
 * From `start` (UTC) on, the calendar has these instants, as a clock in the zone shows them with its
 * offset: "2024-03-31 03:00+120"; NULL ends the list. Backwards they are the same.
 */
static void assert_instants(const char *zone_name, const char *expression, const char *start,
                            const char *const *expected) {
    struct htw_calendar calendar = cron(expression);
    struct htw_zone *zone;
    int64_t found[32], at_ns = utc(start);
    size_t count = 0;
    assert_int_equal(htw_zone_create(&zone, zone_name), 0);
    for (; expected[count] != NULL; count++) {
        char text[64], minutes[16];
        at_ns = found[count] = htw_calendar_next(&calendar, zone, at_ns);
        assert_int_not_equal(at_ns, HTW_NEVER_NS);
        int32_t offset_s = htw_zone_offset(zone, at_ns);
        time_t local = (time_t)(at_ns / HTW_SECOND + offset_s);
        struct tm tm;
        strftime(text, sizeof(text), "%Y-%m-%d %H:%M", gmtime_r(&local, &tm));
        snprintf(minutes, sizeof(minutes), "%+" PRId32, offset_s / 60);
        strcat(text, minutes);
        assert_string_equal(text, expected[count]);
    }
    at_ns++;
    while (count-- > 0) {
        at_ns = htw_calendar_previous(&calendar, zone, at_ns);
        assert_int_equal(at_ns, found[count]);
    }
    assert_true(htw_calendar_previous(&calendar, zone, at_ns) <= utc(start));
    htw_zone_destroy(zone);
}

#define INSTANTS(zone, expression, start, ...) \
    assert_instants(zone, expression, start, (const char *const[]) { __VA_ARGS__, NULL })

UNIT_TEST(next_needs_a_calendar_of_48_bytes) { /* as docs/calendar.md says */
    assert_int_equal(sizeof(struct htw_calendar), 48);
}

/* holds: calendar-1 */
UNIT_TEST(next_is_after_the_given_instant) {
    struct htw_calendar calendar = cron("0 3 * * *");
    int64_t at_ns = utc("2024-01-01 03:00");
    assert_int_equal(htw_calendar_next(&calendar, NULL, at_ns - 1), at_ns);
    assert_int_equal(htw_calendar_next(&calendar, NULL, at_ns), at_ns + HTW_DAY);
    assert_int_equal(htw_calendar_next(&calendar, NULL, at_ns + 1), at_ns + HTW_DAY);
    assert_int_equal(htw_calendar_previous(&calendar, NULL, at_ns + 1), at_ns);
    assert_int_equal(htw_calendar_previous(&calendar, NULL, at_ns), at_ns - HTW_DAY);
    assert_int_equal(htw_calendar_previous(&calendar, NULL, at_ns - 1), at_ns - HTW_DAY);
}

/* holds: calendar-4 */
UNIT_TEST(next_that_is_impossible_is_never) {
    static const char *const impossible[] = { "0 0 30 2 *", "0 0 31 4,6,9,11 *", "0 0 30,31 2 */7",
                                              "* * 30 2 *", "0 0 31 2,4,6,9,11 */2" };
    for (size_t i = 0; i < COUNT_OF(impossible); i++) {
        struct htw_calendar calendar = cron(impossible[i]);
        assert_int_equal(htw_calendar_next(&calendar, NULL, INT64_MIN), HTW_NEVER_NS);
        assert_int_equal(htw_calendar_previous(&calendar, NULL, INT64_MAX), INT64_MIN);
    }
    struct htw_calendar last = cron("0 0 11 4 *"), empty = { 0 }; /* 2262-04-11: the last day */
    assert_int_equal(htw_calendar_next(&last, NULL, INT64_MAX), HTW_NEVER_NS);
    assert_int_equal(htw_calendar_next(&empty, NULL, 0), HTW_NEVER_NS);
    assert_int_equal(htw_calendar_previous(&empty, NULL, 0), INT64_MIN);
    assert_int_equal(htw_calendar_next(NULL, NULL, 0), HTW_NEVER_NS);
    assert_int_equal(htw_calendar_previous(NULL, NULL, 0), INT64_MIN);
}

/* holds: calendar-1 */
UNIT_TEST(next_works_at_both_ends_of_time) {
    static const char *const zones[] = { "UTC", "Europe/Berlin", "Pacific/Apia",
                                         "America/New_York" };
    static const char *const expressions[] = { "0 3 * * *", "* * * * *", "* * * * * *",
                                               "* * 0-23 * * *" };
    for (size_t i = 0; i < COUNT_OF(zones) * COUNT_OF(expressions); i++) {
        struct htw_calendar calendar = cron(expressions[i % COUNT_OF(expressions)]);
        struct htw_zone *zone;
        assert_int_equal(htw_zone_create(&zone, zones[i / COUNT_OF(expressions)]), 0);
        int64_t first_ns = htw_calendar_next(&calendar, zone, INT64_MIN);
        assert_true(first_ns < INT64_MIN + HTW_DAY + HTW_SECOND);
        assert_true(i % COUNT_OF(expressions) < 2 || first_ns < INT64_MIN + HTW_SECOND);
        assert_int_equal(htw_calendar_previous(&calendar, zone, first_ns + 1), first_ns);
        assert_int_equal(htw_calendar_previous(&calendar, zone, first_ns), INT64_MIN);
        assert_int_equal(htw_calendar_previous(&calendar, zone, INT64_MIN), INT64_MIN);
        int64_t last_ns = htw_calendar_previous(&calendar, zone, INT64_MAX);
        assert_true(last_ns > INT64_MAX - HTW_DAY - HTW_SECOND);
        assert_true(i % COUNT_OF(expressions) < 2 || last_ns > INT64_MAX - HTW_SECOND);
        assert_int_equal(htw_calendar_next(&calendar, zone, last_ns - 1), last_ns);
        assert_int_equal(htw_calendar_next(&calendar, zone, last_ns), HTW_NEVER_NS);
        assert_int_equal(htw_calendar_next(&calendar, zone, INT64_MAX), HTW_NEVER_NS);
        htw_zone_destroy(zone);
    }
}

/* ---- gaps and folds. Berlin: 2024-03-31 02:00 becomes 03:00, 2024-10-27 03:00 becomes 02:00. */

/* holds: calendar-2 */
UNIT_TEST(next_of_a_fixed_hour_in_a_gap_is_the_first_instant_after_it) {
    INSTANTS("Europe/Berlin", "30 2 * * *", "2024-03-29 12:00", "2024-03-30 02:30+60",
             "2024-03-31 03:00+120", "2024-04-01 02:30+120");
    INSTANTS("Europe/Berlin", "0 2 * * *", "2024-03-30 12:00", "2024-03-31 03:00+120",
             "2024-04-01 02:00+120");
}

/* holds: calendar-2 */
UNIT_TEST(next_of_a_fixed_hour_in_a_fold_is_the_first_of_two) {
    INSTANTS("Europe/Berlin", "30 2 * * *", "2024-10-26 12:00", "2024-10-27 02:30+120",
             "2024-10-28 02:30+60");
    INSTANTS("Europe/Berlin", "*/30 2,3 * * *", "2024-10-26 12:00", "2024-10-27 02:00+120",
             "2024-10-27 02:30+120", "2024-10-27 03:00+60", "2024-10-27 03:30+60",
             "2024-10-28 02:00+60");
    /* From the second of two on, the first one has passed. */
    INSTANTS("Europe/Berlin", "30 2 * * *", "2024-10-27 01:15", "2024-10-28 02:30+60");
}

/* holds: calendar-3 */
UNIT_TEST(next_of_any_hour_keeps_its_interval) {
    INSTANTS("Europe/Berlin", "30 * * * *", "2024-03-31 00:00", "2024-03-31 01:30+60",
             "2024-03-31 03:30+120");
    INSTANTS("Europe/Berlin", "30 * * * *", "2024-10-26 23:00", "2024-10-27 01:30+120",
             "2024-10-27 02:30+120", "2024-10-27 02:30+60", "2024-10-27 03:30+60");
    INSTANTS("Europe/Berlin", "*/20 * * * *", "2024-10-27 00:15", "2024-10-27 02:20+120",
             "2024-10-27 02:40+120", "2024-10-27 02:00+60", "2024-10-27 02:20+60");
    /* The day decides, not only the hour. */
    INSTANTS("Europe/Berlin", "30 */2 27 10 *", "2024-10-26 23:00", "2024-10-27 02:30+120",
             "2024-10-27 02:30+60", "2024-10-27 04:30+60");
}

/* holds: calendar-2 */
UNIT_TEST(next_of_a_day_that_was_skipped_is_the_first_instant_after_it) { /* 2011-12-30 in Apia */
    INSTANTS("Pacific/Apia", "0 3 * * *", "2011-12-28 20:00", "2011-12-29 03:00-600",
             "2011-12-31 00:00+840", "2011-12-31 03:00+840");
    INSTANTS("Pacific/Apia", "0 3 30 12 *", "2011-01-01", "2011-12-31 00:00+840",
             "2012-12-30 03:00+840");
    INSTANTS("Pacific/Apia", "30 * * * *", "2011-12-30 09:00", "2011-12-29 23:30-600",
             "2011-12-31 00:30+840");
}
