/* SPDX-License-Identifier: MIT */
/* test_request.c - the headers that steer the relay. */
#include "../../src/levels.h"
#include "../../src/request.h"

#include "unit/unit.h"

#include <string.h>

#define HEADERS_MAX 7

/* Headers as NAME, VALUE, ..., NULL. */
struct sample {
    const char *words[2 * HEADERS_MAX + 1];
    const char *why; /* NULL: it is good */
};

/* Until the next call. */
static struct htw__header headers[HEADERS_MAX];

static struct htw__relay_record make(const char *const *words) {
    struct htw__relay_record record = { .timestamp_ms = 1000, .headers = headers };
    for (; *words != NULL; words += 2)
        headers[record.header_count++] =
            (struct htw__header) { htw__bytes_of(words[0]), htw__bytes_of(words[1]) };
    return record;
}

/* holds: relay-8 */
UNIT_TEST(request_reasons_of_dead_letters) {
    static char long_id[258], long_number[34];
    memset(long_id, 'x', 257);
    memset(long_number, '0', 33);
    const struct sample samples[] = {
        { { NULL }, "neither htw-deliver-at nor htw-delay" },
        { { "Htw-deliver-at", "5", NULL }, "neither htw-deliver-at nor htw-delay" },
        { { "htw-deliver-at", "5", "htw-delay", "5", NULL }, "both htw-deliver-at and htw-delay" },
        { { "htw-deliver-at", "5", "htw-deliver-at", "5", NULL },
          "more than one header htw-deliver-at" },
        { { "htw-deliver-at", "", NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-deliver-at", long_number, NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-deliver-at", &long_number[1], NULL }, NULL },
        { { "htw-deliver-at", "-5", NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-deliver-at", "5 ", NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-deliver-at", "0x5", NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-deliver-at", "253402300800000", NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-deliver-at", "99999999999999999999999999", NULL },
          "htw-deliver-at is not a number of milliseconds up to the year 9999" },
        { { "htw-delay", "1s", NULL }, "htw-delay is not a number of milliseconds" },
        { { "htw-delay", "253402300799999", NULL }, "htw-delay ends after the year 9999" },
        { { "htw-delay", "5", "htw-cancel", "a", NULL }, NULL }, /* a time means nothing there */
        { { "htw-deliver-at", "5", "htw-cancel", "a", "htw-id", "a", NULL },
          "both htw-id and htw-cancel" },
        { { "htw-cancel", "a", NULL }, NULL },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-if-offset", "x", NULL },
          "htw-if-offset is not an offset, or there is no htw-id" },
        { { "htw-deliver-at", "5", "htw-if-offset", "7", NULL },
          "htw-if-offset is not an offset, or there is no htw-id" },
        { { "htw-cancel", "a", "htw-if-offset", "7", NULL },
          "htw-if-offset is not an offset, or there is no htw-id" },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-if-offset", "1", "htw-if-offset", "1",
            NULL },
          "more than one header htw-if-offset" },
        { { "htw-deliver-at", "5", "htw-counted-to", "x", NULL },
          "htw-counted-to is not a number of milliseconds" },
        { { "htw-deliver-at", "5", "htw-offset", "7", NULL },
          "htw-offset is not an offset, or there is no htw-id" },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-offset", "10000000034023009000", NULL },
          "htw-offset is not an offset, or there is no htw-id" },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-offset", "1152921504606846975", NULL },
          NULL }, /* 2^60 - 1 */
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-offset", "1152921504606846976", NULL },
          "htw-offset is not an offset, or there is no htw-id" },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-if-offset", "0", NULL }, NULL },
        { { "htw-deliver-at", "5", "htw-cancel", "", NULL },
          "htw-cancel is empty or longer than 256 bytes" },
        { { "htw-deliver-at", "5", "htw-id", long_id, NULL },
          "htw-id is empty or longer than 256 bytes" },
        { { "htw-deliver-at", "5", "htw-deliver-to", "a/b", NULL },
          "htw-deliver-to is not the name of a topic" },
        { { "htw-deliver-at", "5", "htw-deliver-to", "..", NULL },
          "htw-deliver-to is not the name of a topic" },
        { { "htw-deliver-at", "5", "htw-deliver-to", "", NULL },
          "htw-deliver-to is not the name of a topic" },
        { { "htw-deliver-at", "253402300799999", "htw-id", "a", "htw-deliver-to", "a.b_c-9", NULL },
          NULL },
        { { "htw-deliver-at", "0", "trace", "x", "trace", "y", NULL }, NULL },
        { { "htw-every", "5s", NULL }, "htw-every and htw-cron need htw-id" },
        { { "htw-cron", "@daily", "htw-id", "a", "htw-cancel", "a", "htw-deliver-at", "5", NULL },
          "both htw-id and htw-cancel" },
        { { "htw-every", "5s", "htw-cancel", "a", NULL }, "a cancel does not recur" },
        { { "htw-deliver-at", "5", "htw-until", "9", NULL },
          "htw-zone, htw-until and htw-catch-up need htw-every or htw-cron" },
        { { "htw-every", "5s", "htw-id", "a", "htw-until", "soon", NULL },
          "htw-until is not a number of milliseconds up to the year 9999" },
        { { "htw-every", "5s", "htw-every", "5s", NULL }, "more than one header htw-every" },
        { { "htw-cron", "@daily", "htw-zone", "Europe/Berlin", "htw-until", "9", "htw-id", "a",
            "htw-catch-up", "0", NULL },
          NULL },
    };
    for (size_t i = 0; i < COUNT_OF(samples); i++) {
        struct htw__relay_record record = make(samples[i].words);
        struct htw__request request;
        const char *why = htw__request_parse(&record, &request);
        if (samples[i].why == NULL)
            assert_null(why);
        else
            assert_string_equal(why, samples[i].why);
    }
}

UNIT_TEST(request_headers_that_cannot_be_read_are_told) {
    static const char *const words[] = { NULL };
    struct htw__relay_record record = make(words);
    struct htw__request request;
    record.has_unread_headers = true;
    assert_string_equal(
        htw__request_parse(&record, &request),
        "its headers cannot be read, and are not here: there are more than 100 000");
}

UNIT_TEST(request_delay_counts_from_the_timestamp) {
    static const char *const words[] = { "htw-delay", "250", NULL };
    struct htw__relay_record record = make(words);
    struct htw__request request;
    assert_null(htw__request_parse(&record, &request));
    assert_int_equal(request.deadline_ms, 1250);
    record.timestamp_ms = -1;
    assert_string_equal(htw__request_parse(&record, &request),
                        "htw-delay, and the record has no timestamp");
}

UNIT_TEST(request_null_header_is_no_number) {
    struct htw__header header = { htw__bytes_of("htw-deliver-at"), { NULL, 0 } };
    struct htw__relay_record record = { .headers = &header, .header_count = 1 };
    struct htw__request request;
    assert_non_null(htw__request_parse(&record, &request));
}

static void expect_header(const struct htw__header *header, const char *name, const char *value) {
    assert_true(htw__bytes_are_equal(header->name, htw__bytes_of(name)));
    assert_true(htw__bytes_are_equal(header->value, htw__bytes_of(value)));
}

/* Also when it is filed again: by a demotion, or because it has to wait for longer. */
/* holds: relay-8 */
UNIT_TEST(request_that_is_postponed_keeps_the_time_that_was_wanted) {
    static const char *const words[] = { "htw-deliver-at", "1250", "htw-deliver-to", "orders",
                                         NULL };
    struct htw__header room[2][HEADERS_MAX + HTW__REQUEST_HEADERS_MORE];
    struct htw__request_times times[2];
    struct htw__relay_record record = make(words);
    struct htw__request request;
    assert_null(htw__request_parse(&record, &request));
    for (int i = 0; i < 2; i++) {
        request.deadline_ms = 2000 + i;
        record.header_count = htw__request_headers_to_wait(&record, &request, room[i], &times[i]);
        record.headers = room[i];
        assert_int_equal(record.header_count, 3);
        assert_null(htw__request_parse(&record, &request));
        assert_int_equal(request.deadline_ms, 2000 + i);
        assert_int_equal(request.wanted_ms, 1250);
    }
    struct htw__header delivered[HEADERS_MAX + HTW__REQUEST_HEADERS_MORE];
    char time[HTW__REQUEST_TIME_SIZE];
    assert_int_equal(htw__request_headers_to_deliver(&record, request.wanted_ms, delivered, time),
                     1);
    expect_header(&delivered[0], "htw-delivered-for", "1250");
}

UNIT_TEST(request_delivered_has_the_users_headers_and_the_deadline) {
    static const char *const words[] = {
        "htw-deliver-at",    "1250", "trace",    "x", "htw-id", "7", "htw-deliver-to", "orders",
        "htw-delivered-for", "3",    "htwtrace", "y", NULL
    };
    struct htw__header delivered[HEADERS_MAX + HTW__REQUEST_HEADERS_MORE];
    char time[HTW__REQUEST_TIME_SIZE];
    struct htw__relay_record record = make(words);
    assert_int_equal(htw__request_headers_to_deliver(&record, 1250, delivered, time), 4);
    expect_header(&delivered[0], "trace", "x");
    expect_header(&delivered[1], "htw-id", "7");
    expect_header(&delivered[2], "htwtrace", "y");
    expect_header(&delivered[3], "htw-delivered-for", "1250");
}

UNIT_TEST(request_delivered_says_nothing_of_its_recurrence) {
    static const char *const words[] = {
        "htw-cron", "@daily",       "htw-zone", "UTC",   "htw-until", "9", "htw-id",
        "7",        "htw-catch-up", "0",        "trace", "x",         NULL
    };
    struct htw__header room[HEADERS_MAX + HTW__REQUEST_HEADERS_MORE];
    char time[HTW__REQUEST_TIME_SIZE];
    struct htw__relay_record record = make(words);
    struct htw__request request;
    struct htw__request_times times;
    assert_null(htw__request_parse(&record, &request));
    assert_true(request.recurs && !request.has_time);
    assert_int_equal(htw__request_headers_to_deliver(&record, 1250, room, time), 3);
    expect_header(&room[0], "htw-id", "7");
    expect_header(&room[1], "trace", "x");
    expect_header(&room[2], "htw-delivered-for", "1250");
    assert_int_equal(htw__request_headers_to_wait(&record, &request, room, &times), 7);
    /* The one after an occurrence that was counted; and that after the last of these. */
    for (request.wanted_ms = 5000; request.wanted_ms <= 5001; request.wanted_ms++) {
        bool is_counted = request.wanted_ms == 5000;
        struct htw__request again;
        request.deadline_ms = request.wanted_ms;
        request.counted_ms = 5000;
        struct htw__relay_record filed = { .headers = room };
        filed.header_count = htw__request_headers_to_wait(&record, &request, room, &times);
        assert_int_equal(filed.header_count, 7 + is_counted);
        assert_null(htw__request_parse(&filed, &again));
        assert_int_equal(again.counted_ms, is_counted ? 5000 : -1);
    }
}

UNIT_TEST(request_dead_letter_keeps_all_and_says_why) {
    static const char *const words[] = { "htw-deliver-at", "soon", NULL };
    struct htw__header dead[HEADERS_MAX + HTW__REQUEST_HEADERS_MORE];
    struct htw__relay_record record = make(words);
    assert_int_equal(htw__request_headers_of_dead(&record, "no", dead), 2);
    expect_header(&dead[0], "htw-deliver-at", "soon");
    expect_header(&dead[1], "htw-reason", "no");
}
