/* SPDX-License-Identifier: MIT */
/* test_look.c - which buckets are opened when. */
#include "../../../src/relay/relay.h"

#include "../unit.h"

#include <inttypes.h>
#include <stdio.h>

#define LEVELS ((struct htw__levels) { 1000, 4, 2 })
#define BUCKETS 8
#define NOW_MS INT64_C(1000000)

static struct htw__relay relay;
static struct htw__source filed, opened;

static int publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    (void)transport;
    filed = outgoing->bucket;
    return 0;
}

static void expect(struct htw__transport *transport, const char *topic) {
    (void)transport, (void)topic;
}

static void open_bucket(struct htw__transport *transport, struct htw__source bucket,
                        int64_t offset) {
    (void)transport, (void)offset;
    opened = bucket;
}

static void close_bucket(struct htw__transport *transport, struct htw__source bucket) {
    (void)transport, (void)bucket;
}

static struct htw__transport transport = { publish, expect, open_bucket, close_bucket };

/* Takes a stripe over whose buckets are drained, and whose clock stands at `clock_ms`. */
static void begin(int64_t clock_ms) {
    const struct htw__relay_options options = { .levels = LEVELS, .max_memory = 1000000 };
    struct htw__found input = { 15, { NULL, 0 }, 10, 20 }, buckets[BUCKETS];
    char clock_text[HTW__PROGRESS_TEXT_SIZE];
    int64_t from;
    assert_int_equal(htw__relay_init(&relay, &options, &transport, NOW_MS), 0);
    htw__clock_format(&(struct htw__clock) { .levels = options.levels, .time_ms = clock_ms },
                      clock_text);
    input.metadata = htw__bytes_of(clock_text);
    for (size_t i = 0; i < BUCKETS; i++)
        buckets[i] = (struct htw__found) { .offset = 15, .start = 15, .end = 15 };
    assert_int_equal(htw__relay_gain(&relay, 0, &input, buckets, &from), HTW__GAIN_OK);
    opened = filed = (struct htw__source) { .level = UINT32_MAX };
}

/* A record of the input that is due at `deadline_ms` has arrived. */
static void send(int64_t deadline_ms) {
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, deadline_ms);
    const struct htw__header at = { htw__bytes_of("htw-deliver-at"), htw__bytes_of(text) };
    const struct htw__record record = { .offset = 15, .headers = &at, .header_count = 1 };
    relay.options.destinations.default_topic = "out";
    assert_int_equal(
        htw__relay_record(&relay, (struct htw__source) { 0, HTW__RELAY_INPUT, 0 }, &record), 0);
}

UNIT_TEST(look_bucket_is_opened_a_lead_before_its_start) {
    begin(NOW_MS);
    relay.options.lead_ms = 300;
    send(NOW_MS + 2500);
    assert_int_equal(filed.level, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 1699, 100) >= 0);
    assert_int_equal(opened.level, UINT32_MAX);
    assert_true(htw__relay_advance(&relay, NOW_MS + 1720, 100) >= 0);
    assert_int_equal(opened.level, 0);
    assert_int_equal(opened.slot, filed.slot);
    htw__relay_fini(&relay);
}

/* The clock of a machine was wrong by a year, and was corrected. Buckets are not older than the clock of
 * the stripe, so what is due before that is in the present one. */
UNIT_TEST(look_present_bucket_is_opened_though_the_clock_of_its_stripe_is_ahead) {
    begin(NOW_MS + INT64_C(365) * 24 * 3600 * 1000);
    send(NOW_MS + 500);
    assert_int_equal(filed.level, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 30, 100) >= 0);
    assert_int_equal(opened.level, 0);
    assert_int_equal(opened.slot, filed.slot);
    htw__relay_fini(&relay);
}
