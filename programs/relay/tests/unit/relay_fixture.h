/* SPDX-License-Identifier: MIT */
/* relay_fixture.h - the rules of a relay with a stripe, two levels and a transport that notes what is published. */
#ifndef TESTS_RELAY_FIXTURE_H
#define TESTS_RELAY_FIXTURE_H

#include "../../src/index.h"
#include "../../src/relay.h"

#include "unit/unit.h"

#include <inttypes.h>

#define LEVELS ((struct htw__levels) { 1000, 4, 2 })
#define BUCKETS 8
#define NOW_MS INT64_C(1000000)

/* Where a record goes; a letter is short if it has no value. */
enum way { TO_TOPIC, TO_BUCKET, TO_INDEX, TO_INDEX_ERASED, TO_DEAD, TO_DEAD_SHORT, TO_ASKER, WAYS };

static const struct htw__source of_input = { 0, HTW__RELAY_INPUT, 0 };

static struct htw__relay relay;
static bool relay_has_begun;

/* What the transport has seen, and what it answers. */
static struct {
    unsigned count[WAYS];
    int errors[WAYS];
    struct htw__source bucket, opened; /* the last ones; UINT32_MAX: none */
    unsigned ids_opened, ids_closed;
    char headers[512]; /* of the last record: those below 100 bytes, as NAME=VALUE;... */
    char reason[128];  /* of the last letter */
    size_t value_size, key_size;
    unsigned char key[8], value[16]; /* of the last entry of the index */
    struct htw__index_answer answer; /* the last one */
} seen;

static inline void note_headers(const struct htw__relay_record *record) {
    seen.headers[0] = '\0';
    for (size_t i = 0; i < record->header_count; i++) {
        const struct htw__header *header = &record->headers[i];
        size_t used = strlen(seen.headers);
        if (header->value.size < 100)
            snprintf(seen.headers + used, sizeof(seen.headers) - used, "%.*s=%.*s;",
                     (int)header->name.size, (const char *)header->name.bytes,
                     (int)header->value.size, (const char *)header->value.bytes);
        if (htw__bytes_are_equal(header->name, htw__bytes_of("htw-reason")))
            snprintf(seen.reason, sizeof(seen.reason), "%.*s", (int)header->value.size,
                     (const char *)header->value.bytes);
    }
}

static int publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    const struct htw__relay_record *record = &outgoing->record;
    bool is_empty = record->value.bytes == NULL;
    bool is_entry = outgoing->topic == NULL && outgoing->bucket.level == HTW__RELAY_IDS;
    bool is_answer = is_entry && htw__index_parse_answer(record, &seen.answer);
    enum way way = is_answer                 ? TO_ASKER
                   : outgoing->is_letter     ? TO_DEAD + is_empty
                   : outgoing->topic != NULL ? TO_TOPIC
                   : is_entry                ? TO_INDEX + is_empty
                                             : TO_BUCKET;
    (void)transport;
    assert_true(!outgoing->is_letter || strcmp(outgoing->topic, "dead") == 0);
    if (seen.errors[way] != 0)
        return seen.errors[way];
    seen.count[way]++;
    if (is_answer)
        return 0;
    if (is_entry) {
        memcpy(seen.key, record->key.bytes, sizeof(seen.key));
        if (!is_empty)
            memcpy(seen.value, record->value.bytes, sizeof(seen.value));
        return 0;
    }
    if (way == TO_BUCKET) {
        seen.bucket = outgoing->bucket;
        htw__relay_published(&relay, seen.bucket, 99 + seen.count[TO_BUCKET]);
    }
    seen.value_size = record->value.size;
    seen.key_size = record->key.size;
    note_headers(record);
    return 0;
}

static void nothing_is_expected(struct htw__transport *transport, const char *topic) {
    (void)transport, (void)topic;
}

static void open_source(struct htw__transport *transport, struct htw__source source,
                        int64_t offset) {
    (void)transport, (void)offset;
    seen.opened = source;
    seen.ids_opened += source.level == HTW__RELAY_IDS;
}

static void close_source(struct htw__transport *transport, struct htw__source source) {
    (void)transport;
    seen.ids_closed += source.level == HTW__RELAY_IDS;
}

static inline void relay_end(void) {
    if (relay_has_begun)
        htw__relay_fini(&relay);
    relay_has_begun = false;
}

/** Begins a relay, after the end of the one before. */
static inline void relay_begin(struct htw__relay_options options) {
    static struct htw__transport transport = { publish, nothing_is_expected, open_source,
                                               close_source };
    static const char *const patterns[] = { "*" };
    relay_end();
    memset(&seen, 0, sizeof(seen));
    seen.opened.level = seen.bucket.level = UINT32_MAX;
    options.levels = LEVELS;
    options.dead_letters = "dead";
    options.max_memory = 1 << 20;
    options.destinations = (struct htw__destinations) { patterns, 1, .default_topic = "out" };
    htw__relay_init(&relay, &options, &transport, NOW_MS);
    relay_has_begun = true;
}

/** Has it take the stripe over, whose clock stands at `clock_ms` and whose buckets are all alike. */
static inline void relay_take_over(struct htw__found input, int64_t clock_ms,
                                   struct htw__found bucket, int64_t ids_end) {
    char text[HTW__PROGRESS_TEXT_SIZE];
    struct htw__found buckets[BUCKETS];
    for (size_t i = 0; i < BUCKETS; i++)
        buckets[i] = bucket;
    htw__clock_format(&(struct htw__relay_clock) { .levels = LEVELS, .time_ms = clock_ms }, text);
    if (input.offset >= 0) /* it was in use */
        input.metadata = htw__bytes_of(text);
    const struct htw__found ids = { .end = ids_end };
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &ids), HTW__GAIN_OK);
}

/** A new stripe. */
static inline void relay_take_new_over(void) {
    const struct htw__found nothing = { .offset = -1 };
    relay_take_over(nothing, NOW_MS, nothing, 0);
}

/** A record with these headers, NAME, VALUE, ..., NULL; valid until the next call. */
static inline struct htw__relay_record relay_record(int64_t offset, const char *const *words) {
    static struct htw__header headers[8];
    struct htw__relay_record record = { .offset = offset,
                                        .timestamp_ms = NOW_MS,
                                        .key = htw__bytes_of("key"),
                                        .value = htw__bytes_of("value"),
                                        .headers = headers };
    for (; *words != NULL; words += 2)
        headers[record.header_count++] =
            (struct htw__header) { htw__bytes_of(words[0]), htw__bytes_of(words[1]) };
    return record;
}

#define RELAY_RECORD(offset, ...) relay_record(offset, (const char *const[]) { __VA_ARGS__, NULL })

/** It comes from the input, or out of a bucket. */
static inline int relay_take(const struct htw__relay_record record) {
    return htw__relay_take(&relay, of_input, &record);
}

static inline int relay_pass_on(struct htw__source from, const struct htw__relay_record record) {
    struct htw__relay_request request;
    (void)htw__request_parse(&record, &request);
    return htw__relay_pass_on(&relay, from, &record, &request);
}

/** Defines a test, after which the relay ends. */
#define RELAY_TEST(name) UNIT_TEST_BETWEEN(NULL, relay_end, name)

#endif /* TESTS_RELAY_FIXTURE_H */
