/* SPDX-License-Identifier: MIT */
/* test_look.c - which buckets are opened when. */
#include "relay_fixture.h"

#include <inttypes.h>
#include <stdio.h>

static struct htw__source filed, opened;
static unsigned published, delivered;

static int publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    (void)transport;
    if (outgoing->topic == NULL && outgoing->bucket.level == HTW__RELAY_IDS)
        return 0;
    if (outgoing->topic == NULL) {
        filed = outgoing->bucket;
        htw__relay_published(&relay, filed, 100 + published++);
    } else {
        delivered++;
    }
    return 0;
}

static void open_bucket(struct htw__transport *transport, struct htw__source bucket,
                        int64_t offset) {
    (void)transport, (void)offset;
    opened = bucket;
}

static struct htw__transport transport = { publish, nothing_is_expected, open_bucket,
                                           nothing_is_closed };

/* Takes a stripe over whose buckets are drained, and whose clock stands at `clock_ms`. What is due waits for at most
 * `catch_up_ms` for what is in the input, up to offset 20. */
static void begin_behind(int64_t clock_ms, int64_t catch_up_ms) {
    relay_begin((struct htw__relay_options) { .max_memory = 1000000,
                                              .catch_up_ms = catch_up_ms,
                                              .owner = "owner" },
                &transport);
    relay_take_over((struct htw__found) { 15, { NULL, 0 }, 10, 20 }, clock_ms,
                    (struct htw__found) { .offset = 15, .start = 15, .end = 15 }, 0);
    opened = filed = (struct htw__source) { .level = UINT32_MAX };
    published = delivered = 0;
}

static void begin(int64_t clock_ms) {
    begin_behind(clock_ms, 0);
}

/* That the next record of a bucket with an id had in the input; -1: none. */
static int64_t offset_of_next = -1;

/* A record that is due at `deadline_ms` has arrived, with a header more (a name of NULL: none). */
static void receive(struct htw__source from, int64_t offset, int64_t deadline_ms,
                    const char *name) {
    char text[32], filed_text[32];
    snprintf(text, sizeof(text), "%" PRId64, deadline_ms);
    snprintf(filed_text, sizeof(filed_text), "%" PRId64, offset_of_next);
    const struct htw__header headers[] = {
        { htw__bytes_of("htw-deliver-at"), htw__bytes_of(text) },
        { htw__bytes_of(name != NULL ? name : ""), htw__bytes_of("one") },
        { htw__bytes_of("htw-offset"), htw__bytes_of(filed_text) },
    };
    const struct htw__relay_record record = { .offset = offset,
                                              .headers = headers,
                                              .header_count = name == NULL         ? 1
                                                              : offset_of_next < 0 ? 2
                                                                                   : 3 };
    offset_of_next = -1;
    relay.options.destinations.default_topic = "out";
    assert_int_equal(htw__relay_take(&relay, from, &record), 0);
}

static void send(int64_t deadline_ms) {
    receive(of_input, 15, deadline_ms, NULL);
}

RELAY_TEST(look_bucket_is_opened_a_lead_before_its_start) {
    begin(NOW_MS);
    relay.options.lead_ms = 300;
    send(NOW_MS + 2500);
    assert_int_equal(filed.level, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 1699, 100) >= 0);
    assert_int_equal(opened.level, UINT32_MAX);
    assert_true(htw__relay_advance(&relay, NOW_MS + 1720, 100) >= 0);
    assert_int_equal(opened.level, 0);
    assert_int_equal(opened.slot, filed.slot);
}

/* The clock of a machine was wrong by a year, and was corrected. Buckets are not older than the clock of
 * the stripe, so what is due before that is in the present one. */
RELAY_TEST(look_present_bucket_is_opened_though_the_clock_of_its_stripe_is_ahead) {
    begin(NOW_MS + INT64_C(365) * 24 * 3600 * 1000);
    send(NOW_MS + 500);
    assert_int_equal(filed.level, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 30, 100) >= 0);
    assert_int_equal(opened.level, 0);
    assert_int_equal(opened.slot, filed.slot);
}

/* holds: relay-7 */
RELAY_TEST(look_level_0_stays_closed_until_the_input_is_read) {
    begin_behind(NOW_MS, 10000);
    receive(of_input, 15, NOW_MS - 100, "htw-id");
    assert_int_equal(filed.level, 0);
    assert_int_equal(delivered, 0);
    receive(of_input, 16, NOW_MS - 100, "htw-cancel");
    assert_int_equal(published, 1);
    receive(of_input, 17, NOW_MS - 100, NULL); /* what nothing can cancel does not wait */
    assert_int_equal(delivered, 1);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    assert_true(htw__relay_advance(&relay, NOW_MS + 30, 100) >= 0);
    assert_int_equal(opened.level, UINT32_MAX);
    /* An end that is reached counts as what was read: markers follow the last record. */
    htw__relay_reached(&relay, of_input, 20);
    assert_true(htw__relay_advance(&relay, NOW_MS + 60, 100) >= 0);
    assert_int_equal(opened.level, UINT32_MAX);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    assert_true(htw__relay_advance(&relay, NOW_MS + 90, 100) >= 0);
    assert_int_equal(opened.level, 0);
    assert_int_equal(opened.slot, filed.slot);
    offset_of_next = 15;
    receive(opened, 100, NOW_MS - 100, "htw-id");
    htw__relay_reached(&relay, opened, 101);
    assert_true(htw__relay_advance(&relay, NOW_MS + 120, 100) >= 0);
    assert_int_equal(delivered, 1);
}

/* A relay that was down demotes what is due. */
/* holds: relay-7 */
RELAY_TEST(look_demoted_record_waits_in_level_0_until_the_input_is_read) {
    begin_behind(NOW_MS, 10000);
    receive(of_input, 15, NOW_MS + 4500, "htw-id");
    assert_int_equal(filed.level, 1);
    struct htw__source above = filed;
    htw__stripe_bucket(relay.stripes[0], above.level, above.slot)->is_open = true;
    relay.now_ms = NOW_MS + 5000;
    relay.stripes[0]->clock_ms = NOW_MS + 2000;
    for (int turn = 0; turn < 2; turn++) {
        offset_of_next = 15;
        receive(above, 100 + turn, NOW_MS + 4500, "htw-id");
        assert_int_equal(published, 2);
        assert_int_equal(filed.level, 0);
        assert_int_equal(delivered, turn);
        relay.stripes[0]->catch_up = HTW__CATCH_UP_DONE;
    }
}

RELAY_TEST(look_level_0_does_not_wait_longer_than_it_may) {
    begin_behind(NOW_MS, 10000);
    receive(of_input, 15, NOW_MS - 100, "htw-id");
    assert_true(htw__relay_advance(&relay, NOW_MS + 9999, 100) >= 0);
    assert_int_equal(opened.level, UINT32_MAX);
    assert_int_equal(relay.stats.catch_ups_cut, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 10020, 100) >= 0);
    assert_int_equal(opened.level, 0);
    assert_int_equal(relay.stats.catch_ups_cut, 1);
}

/* A bucket of level 1 covers two of level 0. What it holds comes first, so that records of one millisecond leave in order. */
RELAY_TEST(look_level_0_waits_for_what_lies_above) {
    begin(NOW_MS);
    send(NOW_MS + 5500);
    assert_int_equal(filed.level, 1);
    struct htw__source above = filed;
    assert_true(htw__relay_advance(&relay, NOW_MS + 2030, 100) >= 0);
    assert_int_equal(opened.level, 1);
    receive(of_input, 16, NOW_MS + 4500, NULL);
    assert_int_equal(filed.level, 0);
    opened.level = UINT32_MAX;
    assert_true(htw__relay_advance(&relay, NOW_MS + 5000, 100) >= 0);
    assert_int_equal(opened.level, UINT32_MAX);
    receive(above, 100, NOW_MS + 5500, NULL);
    assert_int_equal(filed.level, 0);
    assert_int_equal(delivered, 0);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    assert_true(htw__relay_advance(&relay, NOW_MS + 5030, 100) >= 0);
    assert_int_equal(opened.level, 0);
}
