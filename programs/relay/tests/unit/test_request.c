/* SPDX-License-Identifier: MIT */
/* test_request.c - the headers that steer the relay. */
#include "../../src/request.h"

#include "unit/unit.h"

#define HEADERS_MAX 7

#define NOT_MS "htw-deliver-at is not a number of milliseconds up to the year 9999"
#define NO_OFFSET "htw-offset is not an offset, or there is no htw-id"
#define NO_IF_OFFSET "htw-if-offset is not an offset, or there is no htw-id"
#define NO_ASK "htw-ask is not a number, or there is neither htw-id nor htw-cancel"
#define NO_TOPIC "htw-deliver-to is not the name of a topic"

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
        { { "htw-deliver-at", "", NULL }, NOT_MS },
        { { "htw-deliver-at", long_number, NULL }, NOT_MS },
        { { "htw-deliver-at", &long_number[1], NULL }, NULL },
        { { "htw-deliver-at", "-5", NULL }, NOT_MS },
        { { "htw-deliver-at", "5 ", NULL }, NOT_MS },
        { { "htw-deliver-at", "0x5", NULL }, NOT_MS },
        { { "htw-deliver-at", "253402300800000", NULL }, NOT_MS },
        { { "htw-deliver-at", "99999999999999999999999999", NULL }, NOT_MS },
        { { "htw-delay", "1s", NULL }, "htw-delay is not a number of milliseconds" },
        { { "htw-delay", "253402300799999", NULL }, "htw-delay ends after the year 9999" },
        { { "htw-delay", "5", "htw-cancel", "a", NULL }, NULL }, /* a time means nothing there */
        { { "htw-deliver-at", "5", "htw-cancel", "a", "htw-id", "a", NULL },
          "both htw-id and htw-cancel" },
        { { "htw-cancel", "a", NULL }, NULL },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-if-offset", "x", NULL }, NO_IF_OFFSET },
        { { "htw-deliver-at", "5", "htw-if-offset", "7", NULL }, NO_IF_OFFSET },
        { { "htw-cancel", "a", "htw-if-offset", "7", NULL }, NO_IF_OFFSET },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-if-offset", "1", "htw-if-offset", "1",
            NULL },
          "more than one header htw-if-offset" },
        { { "htw-id", "a", "htw-ask", "0", NULL }, NULL },
        { { "htw-cancel", "a", "htw-ask", "576460752303423486", NULL }, NULL },
        { { "htw-cancel", "a", "htw-ask", "576460752303423487", NULL }, NO_ASK },
        { { "htw-id", "a", "htw-ask", "", NULL }, NO_ASK },
        { { "htw-deliver-at", "5", "htw-ask", "7", NULL }, NO_ASK },
        { { "htw-id", long_id, "htw-ask", "7", NULL }, "htw-id is empty or longer than 256 bytes" },
        { { "htw-id", "a", "htw-ask", "7", "htw-ask", "7", NULL }, "more than one header htw-ask" },
        { { "htw-deliver-at", "5", "htw-counted-to", "x", NULL },
          "htw-counted-to is not a number of milliseconds" },
        { { "htw-deliver-at", "5", "htw-offset", "7", NULL }, NO_OFFSET },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-offset", "10000000034023009000", NULL },
          NO_OFFSET },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-offset", "576460752303423486", NULL },
          NULL }, /* 2^59 - 2 */
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-offset", "576460752303423487", NULL },
          NO_OFFSET },
        { { "htw-deliver-at", "5", "htw-id", "a", "htw-if-offset", "0", NULL }, NULL },
        { { "htw-deliver-at", "5", "htw-cancel", "", NULL },
          "htw-cancel is empty or longer than 256 bytes" },
        { { "htw-deliver-at", "5", "htw-id", long_id, NULL },
          "htw-id is empty or longer than 256 bytes" },
        { { "htw-deliver-at", "5", "htw-deliver-to", "a/b", NULL }, NO_TOPIC },
        { { "htw-deliver-at", "5", "htw-deliver-to", "..", NULL }, NO_TOPIC },
        { { "htw-deliver-at", "5", "htw-deliver-to", "", NULL }, NO_TOPIC },
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
        struct htw__relay_request request;
        const char *why = htw__request_parse(&record, &request);
        assert_why(why, samples[i].why);
    }
}

UNIT_TEST(request_headers_that_cannot_be_read_are_told) {
    static const char *const words[] = { NULL };
    struct htw__relay_record record = make(words);
    struct htw__relay_request request;
    record.has_unread_headers = true;
    assert_string_equal(
        htw__request_parse(&record, &request),
        "its headers cannot be read, and are not here: there are more than 100 000");
}

UNIT_TEST(request_delay_counts_from_the_timestamp) {
    static const char *const words[] = { "htw-delay", "250", NULL };
    struct htw__relay_record record = make(words);
    struct htw__relay_request request;
    assert_null(htw__request_parse(&record, &request));
    assert_int_equal(request.deadline_ms, 1250);
    record.timestamp_ms = -1;
    assert_string_equal(htw__request_parse(&record, &request),
                        "htw-delay, and the record has no timestamp");
}

UNIT_TEST(request_null_header_is_no_number) {
    struct htw__header header = { htw__bytes_of("htw-deliver-at"), { NULL, 0 } };
    struct htw__relay_record record = { .headers = &header, .header_count = 1 };
    struct htw__relay_request request;
    assert_non_null(htw__request_parse(&record, &request));
}

static struct htw__headers written;

/* Those that were written, as NAME=VALUE;... */
static const char *text_of_written(void) {
    static char text[512];
    size_t size = 0;
    text[0] = '\0';
    for (size_t i = 0; i < written.count; i++)
        size += (size_t)snprintf(
            text + size, sizeof(text) - size, "%.*s=%.*s;", (int)written.items[i].name.size,
            (const char *)written.items[i].name.bytes, (int)written.items[i].value.size,
            (const char *)written.items[i].value.bytes);
    return text;
}

static void forget_written(void) {
    free(written.items);
    written = (struct htw__headers) { .items = NULL };
}

#define WRITING_TEST(name) UNIT_TEST_BETWEEN(NULL, forget_written, name)

/* Also when it is filed again: by a demotion, or because it has to wait for longer. */
/* holds: relay-8 */
WRITING_TEST(request_that_is_postponed_keeps_the_time_that_was_wanted) {
    static const char *const words[] = { "htw-deliver-at", "1250", "htw-deliver-to", "orders",
                                         NULL };
    struct htw__relay_record record = make(words), again = { .headers = NULL };
    struct htw__relay_request request;
    assert_null(htw__request_parse(&record, &request));
    request.deadline_ms = 2000;
    htw__headers_to_wait(&written, &record, &request);
    assert_string_equal(text_of_written(),
                        "htw-deliver-to=orders;htw-deliver-at=1250;htw-postponed-to=2000;");
    again.headers = written.items;
    again.header_count = written.count;
    assert_null(htw__request_parse(&again, &request));
    assert_int_equal(request.deadline_ms, 2000);
    assert_int_equal(request.wanted_ms, 1250);
}

/* What each of these headers is when the record goes on. */
WRITING_TEST(request_headers_go_where_they_are_needed) {
    static const char *const words[] = {
        "htw-cron",          "@daily", "htw-until", "9", "htw-id", "7", "trace", "x",
        "htw-delivered-for", "3",      "htwtrace",  "y", NULL
    };
    struct htw__relay_record record = make(words);
    struct htw__relay_request request;
    assert_null(htw__request_parse(&record, &request));
    assert_true(request.recurs && !request.has_time);
    htw__headers_to_deliver(&written, &record, 1250);
    assert_string_equal(text_of_written(), "htw-id=7;trace=x;htwtrace=y;htw-delivered-for=1250;");
    htw__headers_to_ask(&written, &record, 5, 1250, 17);
    assert_string_equal(text_of_written(),
                        "htw-cron=@daily;htw-until=9;htw-id=7;trace=x;"
                        "htwtrace=y;htw-ask=5;htw-deliver-at=1250;htw-if-offset=17;");
    /* The one after an occurrence that was counted; and that after the last of these. */
    for (int later = 0; later < 2; later++) {
        request.deadline_ms = request.wanted_ms = 5000 + later;
        request.counted_ms = 5000;
        request.offset = 77;
        htw__headers_to_wait(&written, &record, &request);
        assert_true((strstr(text_of_written(), "htw-counted-to=5000;") != NULL) == (later == 0));
        assert_non_null(strstr(text_of_written(), ";htw-offset=77;"));
    }
}
