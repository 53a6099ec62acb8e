/* SPDX-License-Identifier: MIT */
/* relay_fixture.h - the rules of a relay with a stripe, two levels and a transport of the test's own. */
#ifndef TESTS_RELAY_FIXTURE_H
#define TESTS_RELAY_FIXTURE_H

#include "../../src/relay.h"

#include "unit/unit.h"

#define LEVELS ((struct htw__levels) { 1000, 4, 2 })
#define BUCKETS 8
#define NOW_MS INT64_C(1000000)

static const struct htw__source of_input = { 0, HTW__RELAY_INPUT, 0 };

static struct htw__relay relay;
static bool relay_has_begun;

static inline void relay_end(void) {
    if (relay_has_begun)
        htw__relay_fini(&relay);
    relay_has_begun = false;
}

/** Begins a relay, after the end of the one before. */
static inline void relay_begin(struct htw__relay_options options,
                               struct htw__transport *transport) {
    relay_end();
    options.levels = LEVELS;
    htw__relay_init(&relay, &options, transport, NOW_MS);
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

/** A record comes out of a bucket. */
static inline int relay_pass_on(struct htw__source from, const struct htw__relay_record *record) {
    struct htw__request request;
    (void)htw__request_parse(record, &request);
    return htw__relay_pass_on(&relay, from, record, &request);
}

/** Defines a test, after which the relay ends. */
#define RELAY_TEST(name) UNIT_TEST_BETWEEN(NULL, relay_end, name)

/* ---- what a transport need not do */

static inline void nothing_is_expected(struct htw__transport *transport, const char *topic) {
    (void)transport, (void)topic;
}

static inline void nothing_is_opened(struct htw__transport *transport, struct htw__source source,
                                     int64_t offset) {
    (void)transport, (void)source, (void)offset;
}

static inline void nothing_is_closed(struct htw__transport *transport, struct htw__source source) {
    (void)transport, (void)source;
}

#endif /* TESTS_RELAY_FIXTURE_H */
