/* SPDX-License-Identifier: MIT */
/* test_recurrence.c - records that come again: texts, summer time, ends, and missed occurrences. */
#include "../../src/levels.h"
#include "../../src/recurrence.h"

#include "unit/unit.h"

#define HOUR_MS INT64_C(3600000)

/* Of every, cron, zone and catch-up; NULL: not there. */
static const char *parse(const char *const words[4], struct htw__recurrence *recurrence) {
    struct htw__bytes values[4];
    const struct htw__bytes *found[4] = { NULL };
    for (int i = 0; i < 4; i++)
        if (words[i] != NULL) {
            values[i] = htw__bytes_of(words[i]);
            found[i] = &values[i];
        }
    const struct htw__recurrence_texts texts = { found[0], found[1], found[2], found[3] };
    return htw__recurrence_parse(&texts, recurrence);
}

static struct htw__recurrence make(const char *every, const char *cron, const char *zone,
                                   const char *catch_up) {
    struct htw__recurrence recurrence;
    assert_null(parse((const char *const[4]) { every, cron, zone, catch_up }, &recurrence));
    return recurrence;
}

static int64_t next(const struct htw__recurrence *recurrence, int64_t after_ms) {
    int64_t next_ms = -1;
    assert_int_equal(htw__recurrence_next(recurrence, after_ms, &next_ms), 0);
    return next_ms;
}

static int64_t due(const struct htw__recurrence *recurrence, int64_t first_ms, int64_t now_ms) {
    int64_t due_ms = -1, counted_ms = -1;
    assert_int_equal(htw__recurrence_due(recurrence, first_ms, now_ms, &counted_ms, &due_ms), 0);
    return due_ms;
}

UNIT_TEST(recurrence_has_a_last_occurrence_if_it_has_an_end) {
    struct htw__recurrence recurrence = make("1h", NULL, NULL, NULL);
    int64_t last_ms = -1;
    assert_int_equal(htw__recurrence_last(&recurrence, 500, &last_ms), 0);
    assert_int_equal(last_ms, HTW__RELAY_DEADLINE_MAX);
    recurrence.until_ms = 500 + 3 * HOUR_MS; /* at which none comes */
    assert_int_equal(htw__recurrence_last(&recurrence, 500, &last_ms), 0);
    assert_int_equal(last_ms, 500 + 2 * HOUR_MS);
    recurrence = make(NULL, "0 * * * *", "Europe/Berlin", NULL);
    recurrence.until_ms = 5 * HOUR_MS + 1;
    assert_int_equal(htw__recurrence_last(&recurrence, HOUR_MS, &last_ms), 0);
    assert_int_equal(last_ms, 5 * HOUR_MS);
    recurrence = make(NULL, "0 * * * *", "Nowhere/Here", NULL);
    recurrence.until_ms = 5 * HOUR_MS;
    assert_int_equal(htw__recurrence_last(&recurrence, HOUR_MS, &last_ms), -ENOENT);
}

UNIT_TEST(recurrence_reasons_of_dead_letters) {
    static char long_text[400], long_every[258]; /* 1s1s1s... */
    memset(long_text, '*', sizeof(long_text) - 1);
    for (size_t i = 0; i < sizeof(long_every) - 1; i++)
        long_every[i] = "1s"[i % 2];
    long_every[sizeof(long_every) - 2] = '\0';
    assert_string_equal(&long_every[254], "1s");
    assert_null(parse((const char *const[4]) { long_every }, &(struct htw__recurrence) { 0 }));
    memcpy(&long_every[254], "1ms", 3);
    static const struct {
        const char *words[4], *why;
    } samples[] = {
        { { "15m", NULL, NULL, NULL }, NULL },
        { { "1h30m", NULL, NULL, "1000" }, NULL },
        { { NULL, "0 9 * * MON-FRI", "Europe/Berlin", "0" }, NULL },
        { { "15m", "* * * * *", NULL, NULL }, "both htw-every and htw-cron" },
        { { "15m", NULL, "UTC", NULL }, "htw-zone needs htw-cron" },
        { { "", NULL, NULL, NULL }, "htw-every is not a duration such as 15m or 1h30m" },
        { { long_every, NULL, NULL, NULL }, "htw-every is not a duration such as 15m or 1h30m" },
        { { "-5s", NULL, NULL, NULL }, "htw-every is not a duration such as 15m or 1h30m" },
        { { "999ms", NULL, NULL, NULL }, "htw-every is shorter than a second" },
        { { "0", NULL, NULL, NULL }, "htw-every is shorter than a second" },
        { { "1001us", NULL, NULL, NULL }, "htw-every is not a whole number of milliseconds" },
        { { NULL, "61 * * * *", NULL, NULL }, "htw-cron is not a cron expression" },
        { { NULL, "", NULL, NULL }, "htw-cron is not a cron expression" },
        { { NULL, long_text, NULL, NULL }, "htw-cron is not a cron expression" },
        { { NULL, "@daily", "", NULL }, "htw-zone is not the name of a time zone" },
        { { NULL, "@daily", long_text, NULL }, "htw-zone is not the name of a time zone" },
        { { "15m", NULL, NULL, "1001" }, "htw-catch-up is not a number from 0 to 1000" },
        { { "15m", NULL, NULL, "" }, "htw-catch-up is not a number from 0 to 1000" },
        { { "15m", NULL, NULL, "-1" }, "htw-catch-up is not a number from 0 to 1000" },
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        struct htw__recurrence recurrence;
        const char *why = parse(samples[i].words, &recurrence);
        assert_why(why, samples[i].why);
    }
}

/* 2:30 does not exist on 29 March 2026, and exists twice on 25 October. */
/* holds: relay-18 */
UNIT_TEST(recurrence_by_calendar_comes_once_a_day_also_when_clocks_change) {
    const struct htw__recurrence daily = make(NULL, "30 2 * * *", "Europe/Berlin", NULL);
    const int64_t march_28 = INT64_C(1774661400000); /* 01:30 UTC */
    assert_int_equal(next(&daily, march_28), march_28 + 24 * HOUR_MS - HOUR_MS / 2);
    assert_int_equal(next(&daily, march_28 + 24 * HOUR_MS - HOUR_MS / 2), march_28 + 47 * HOUR_MS);
    const int64_t october_25 = INT64_C(1792888200000); /* 00:30 UTC */
    assert_int_equal(next(&daily, october_25 - 24 * HOUR_MS), october_25);
    assert_int_equal(next(&daily, october_25), october_25 + 25 * HOUR_MS);
}

UNIT_TEST(recurrence_ends_before_until_and_with_the_calendar) {
    struct htw__recurrence recurrence = make("1h", NULL, NULL, NULL);
    recurrence.until_ms = 2 * HOUR_MS;
    assert_int_equal(next(&recurrence, 0), HOUR_MS);
    assert_int_equal(next(&recurrence, HOUR_MS), HTW__RECURRENCE_NONE);
    recurrence = make(NULL, "0 0 30 2 *", NULL, NULL);
    assert_int_equal(next(&recurrence, 0), HTW__RECURRENCE_NONE);
    recurrence = make(NULL, "* * * * *", NULL, NULL);
    assert_int_equal(next(&recurrence, INT64_C(253402300799999)), HTW__RECURRENCE_NONE);
    recurrence = make("1h", NULL, NULL, NULL);
    assert_int_equal(next(&recurrence, INT64_C(253402300799999)), HTW__RECURRENCE_NONE);
}

/* 8:00 was due; now it is 12:05, or 12:00:30. */
/* holds: relay-18 */
UNIT_TEST(recurrence_missed_occurrences_come_as_often_as_is_asked_for) {
    static const struct {
        const char *catch_up;
        int64_t at_12_05, at_12_00;
    } samples[] = { { NULL, 12, 12 }, { "1", 12, 12 }, { "0", 13, 12 },
                    { "3", 10, 10 },  { "5", 8, 8 },   { "1000", 8, 8 } };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        const struct htw__recurrence both[] = { make("1h", NULL, NULL, samples[i].catch_up),
                                                make(NULL, "@hourly", NULL, samples[i].catch_up) };
        for (int j = 0; j < 2; j++) {
            assert_int_equal(due(&both[j], 8 * HOUR_MS, 12 * HOUR_MS + 300000),
                             samples[i].at_12_05 * HOUR_MS);
            assert_int_equal(due(&both[j], 8 * HOUR_MS, 12 * HOUR_MS + 30000),
                             samples[i].at_12_00 * HOUR_MS);
            assert_int_equal(due(&both[j], 8 * HOUR_MS, 8 * HOUR_MS), 8 * HOUR_MS);
        }
    }
}

UNIT_TEST(recurrence_that_ended_in_an_outage_comes_a_last_time) {
    struct htw__recurrence recurrence = make("1h", NULL, NULL, NULL);
    recurrence.until_ms = 11 * HOUR_MS;
    assert_int_equal(due(&recurrence, 8 * HOUR_MS, 100 * HOUR_MS), 10 * HOUR_MS);
    recurrence.catch_up = 0;
    assert_int_equal(due(&recurrence, 8 * HOUR_MS, 100 * HOUR_MS), HTW__RECURRENCE_NONE);
}

/* A count costs a step for each that comes. So it is not made again before all of these have left. */
UNIT_TEST(recurrence_missed_occurrences_are_counted_once) {
    const struct htw__recurrence each = make(NULL, "0 9 * * MON-FRI", "Europe/Berlin", "1000");
    const struct htw__recurrence lost = { .catch_up = 1, .until_ms = INT64_MAX, .zone = "Nowhere" };
    const int64_t now_ms = INT64_C(1774661400000);
    int64_t counted_ms = -1, at_ms, first_ms;
    assert_int_equal(htw__recurrence_due(&each, 1, now_ms, &counted_ms, &first_ms), 0);
    int64_t last_ms = counted_ms, later_ms = now_ms + 7 * 24 * HOUR_MS;
    assert_in_range(last_ms, first_ms, now_ms);
    assert_true(next(&each, last_ms) > now_ms);
    unsigned count = 0;
    for (at_ms = first_ms; at_ms <= last_ms; at_ms = next(&each, at_ms)) {
        int64_t due_ms;
        assert_int_equal(htw__recurrence_due(&each, at_ms, later_ms, &counted_ms, &due_ms), 0);
        assert_true(due_ms == at_ms && counted_ms == last_ms);
        count++;
    }
    assert_int_equal(count, 1000);
    /* It does not even look for the zone. */
    assert_int_equal(htw__recurrence_due(&lost, last_ms, later_ms, &counted_ms, &at_ms), 0);
    /* What has been missed meanwhile is counted then. */
    first_ms = next(&each, last_ms);
    assert_int_equal(htw__recurrence_due(&each, first_ms, later_ms, &counted_ms, &at_ms), 0);
    assert_int_equal(at_ms, first_ms);
    assert_true(counted_ms > last_ms);
}
