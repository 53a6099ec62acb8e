/* SPDX-License-Identifier: MIT */
/*
 * fuzz_request.c - the headers of a record of the relay: what they ask for, and those that the relay writes.
 *
 * The input is a timestamp, and headers: a byte for the name, one for the size of the value, the value.
 */
#include "fuzz.h"

#include "../../programs/relay/src/destinations.h"
#include "../../programs/relay/src/levels.h"
#include "../../programs/relay/src/request.h"

enum { NAMES = 18, OWN_NAME = 100, ABSENT = 255 };

static const char *const names[NAMES] = {
    "htw-deliver-at", "htw-delay",  "htw-deliver-to",    "htw-id",     "htw-cancel",   "htw-offset",
    "htw-if-offset",  "htw-reason", "htw-delivered-for", "htw-source", "htw-retry-at", "htw-",
    "htw-every",      "htw-cron",   "htw-zone",          "htw-until",  "htw-catch-up", "htw-ask"
};

/* A header for each two bytes of the input at most. */
static size_t read_headers(const uint8_t *data, size_t size, struct htw__header *headers) {
    size_t count = 0;
    for (size_t at = 0; size - at >= 2; count++) {
        unsigned form = data[at];
        size_t length = data[at + 1];
        at += 2;
        length = length < size - at ? length : size - at;
        struct htw__header *header = &headers[count];
        header->name = htw__bytes_of(names[form % NAMES]);
        header->value = (struct htw__bytes) { data + at, length };
        if (form >= OWN_NAME) /* the value is the name, too */
            header->name = header->value;
        if (form == ABSENT)
            header->value = (struct htw__bytes) { NULL, 0 };
        at += length;
    }
    return count;
}

static void check_copy(const struct htw__relay_record *record) {
    size_t size = htw__record_copy_size(record);
    void *memory = malloc(size);
    if (memory == NULL)
        fuzz_fail("no memory");
    const struct htw__relay_record *copy = htw__record_copy(record, memory);
    FUZZ_CHECK(copy->header_count == record->header_count);
    for (size_t i = 0; i < record->header_count; i++)
        FUZZ_CHECK(htw__bytes_are_equal(copy->headers[i].name, record->headers[i].name) &&
                   htw__bytes_are_equal(copy->headers[i].value, record->headers[i].value));
    free(memory);
}

static void check_destination(const struct htw__relay_request *request) {
    static const char *const own[] = { "input", "input.l0" }, *const patterns[] = { "a*",
                                                                                    "*-[!x]?*" };
    const struct htw__destinations destinations = {
        .default_topic = "default",
        .own = own,
        .own_count = 2,
        .patterns = patterns,
        .pattern_count = 2,
    };
    char topic[HTW__TOPIC_NAME_SIZE];
    if (htw__destinations_choose(&destinations, request->to, topic) == NULL)
        FUZZ_CHECK(strlen(topic) > 0 &&
                   strspn(topic, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                 "0123456789._-") == strlen(topic));
}

/* What waits in a bucket asks for the same as the record that came. */
static void check_waiting(const struct htw__relay_record *record,
                          const struct htw__relay_request *request, struct htw__headers *written) {
    struct htw__relay_record waiting = *record;
    struct htw__relay_request again;
    htw__headers_to_wait(written, record, request);
    waiting.headers = written->items;
    waiting.header_count = written->count;
    FUZZ_CHECK(htw__request_parse(&waiting, &again) == NULL);
    FUZZ_CHECK(again.deadline_ms == request->deadline_ms && again.wanted_ms == request->wanted_ms &&
               again.is_cancel == request->is_cancel && again.offset == request->offset &&
               htw__bytes_are_equal(again.id, request->id) &&
               htw__bytes_are_equal(again.to, request->to) && again.recurs == request->recurs &&
               again.recurrence.every_ms == request->recurrence.every_ms &&
               again.recurrence.until_ms == request->recurrence.until_ms &&
               again.recurrence.catch_up == request->recurrence.catch_up &&
               (request->is_letter || again.has_time));
}

static void check_request(const struct htw__relay_record *record,
                          const struct htw__relay_request *request, struct htw__headers *written) {
    FUZZ_CHECK(request->deadline_ms >= 0 && request->deadline_ms <= HTW__RELAY_DEADLINE_MAX);
    FUZZ_CHECK(request->id.size <= HTW__RELAY_ID_MAX);
    check_destination(request);
    if (!request->is_letter && !request->is_cancel && !request->only_asks)
        check_waiting(record, request, written);
    htw__headers_to_deliver(written, record, request->deadline_ms);
    htw__headers_to_ask(written, record, INT64_MAX, request->deadline_ms, INT64_MAX);
}

static void run(const uint8_t *data, size_t size) {
    struct htw__relay_record record = { .timestamp_ms = 0 };
    struct htw__relay_request request;
    struct htw__headers written = { .items = NULL };
    if (size < sizeof(record.timestamp_ms))
        return;
    struct htw__header *headers = malloc((size / 2 + 1) * sizeof(*headers));
    if (headers == NULL)
        fuzz_fail("no memory");
    memcpy(&record.timestamp_ms, data, sizeof(record.timestamp_ms));
    record.headers = headers;
    record.header_count = read_headers(data + sizeof(record.timestamp_ms),
                                       size - sizeof(record.timestamp_ms), headers);
    record.key = record.value = (struct htw__bytes) { data, sizeof(record.timestamp_ms) };
    const char *why = htw__request_parse(&record, &request);
    if (why == NULL)
        check_request(&record, &request, &written);
    htw__headers_of_letter(&written, &record, why, "topic [0] at 1");
    htw__headers_to_retry(&written, &record, why, INT64_MAX);
    FUZZ_CHECK(written.count <= record.header_count + HTW__HEADERS_MORE);
    check_copy(&record);
    free(headers);
    free(written.items);
}

/* The timestamp. */
#define HEAD "aaaaaaaa"

static const struct fuzz_attack attacks[] = {
    { "empty headers", HEAD, "", { "dd" } },
    { "headers of one name",
      HEAD "\n\1"
           "9",
      "",
      { "\5\1x" } },
    { "headers of different names", HEAD, "", { "d\4%zu" } },
    { "headers of the longest values", HEAD, "", { "\5\377" } },
    { .name = NULL },
};

const struct fuzz_target fuzz_target = {
    .name = "request",
    .run = run,
    .memory = { 64 << 10, 100 },
    .steps = { 20000, 300 },
    .attacks = attacks,
};
