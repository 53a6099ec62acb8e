/* SPDX-License-Identifier: MIT */
/* test_look.c - which buckets are opened when. */
#include "relay_fixture.h"

/* Takes a stripe over whose buckets are drained, and whose clock stands at `clock_ms`. What is due waits for at most
 * `catch_up_ms` for what is in the input, up to offset 20. */
static void begin_behind(int64_t clock_ms, int64_t catch_up_ms) {
    relay_begin((struct htw__relay_options) { .catch_up_ms = catch_up_ms, .owner = "owner" });
    relay_take_over((struct htw__found) { 15, { NULL, 0 }, 10, 20 }, clock_ms,
                    (struct htw__found) { .offset = 15, .start = 15, .end = 15 }, 0);
    seen.opened.level = UINT32_MAX;
}

static void begin(int64_t clock_ms) {
    begin_behind(clock_ms, 0);
}

/* A record that is due at `deadline_ms` has arrived, with an id or not. */
static void receive(struct htw__source from, int64_t offset, int64_t deadline_ms, bool has_id) {
    char text[32];
    snprintf(text, sizeof(text), "%" PRId64, deadline_ms);
    const char *const words[] = { "htw-deliver-at", text, has_id ? "htw-id" : NULL, "one", NULL };
    const struct htw__relay_record record = relay_record(offset, words);
    assert_int_equal(htw__relay_take(&relay, from, &record), 0);
}

static void send(int64_t deadline_ms) {
    receive(of_input, 15, deadline_ms, false);
}

RELAY_TEST(look_bucket_is_opened_a_lead_before_its_start) {
    begin(NOW_MS);
    relay.options.lead_ms = 300;
    send(NOW_MS + 2500);
    assert_int_equal(seen.bucket.level, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 1699, 100) >= 0);
    assert_int_equal(seen.opened.level, UINT32_MAX);
    assert_true(htw__relay_advance(&relay, NOW_MS + 1720, 100) >= 0);
    assert_int_equal(seen.opened.level, 0);
    assert_int_equal(seen.opened.slot, seen.bucket.slot);
}

/* The clock of a machine was wrong by a year, and was corrected. Buckets are not older than the clock of
 * the stripe, so what is due before that is in the present one. */
RELAY_TEST(look_present_bucket_is_opened_though_the_clock_of_its_stripe_is_ahead) {
    begin(NOW_MS + INT64_C(365) * 24 * 3600 * 1000);
    send(NOW_MS + 500);
    assert_int_equal(seen.bucket.level, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 30, 100) >= 0);
    assert_int_equal(seen.opened.level, 0);
    assert_int_equal(seen.opened.slot, seen.bucket.slot);
}

RELAY_TEST(look_level_0_does_not_wait_longer_than_it_may) {
    begin_behind(NOW_MS, 10000);
    receive(of_input, 15, NOW_MS - 100, true);
    assert_true(htw__relay_advance(&relay, NOW_MS + 9999, 100) >= 0);
    assert_int_equal(seen.opened.level, UINT32_MAX);
    assert_int_equal(relay.stats.catch_ups_cut, 0);
    assert_true(htw__relay_advance(&relay, NOW_MS + 10020, 100) >= 0);
    assert_int_equal(seen.opened.level, 0);
    assert_int_equal(relay.stats.catch_ups_cut, 1);
}

/* A bucket of level 1 covers two of level 0. What it holds comes first, so that records of one millisecond leave in order. */
RELAY_TEST(look_level_0_waits_for_what_lies_above) {
    begin(NOW_MS);
    send(NOW_MS + 5500);
    assert_int_equal(seen.bucket.level, 1);
    struct htw__source above = seen.bucket;
    assert_true(htw__relay_advance(&relay, NOW_MS + 2030, 100) >= 0);
    assert_int_equal(seen.opened.level, 1);
    receive(of_input, 16, NOW_MS + 4500, false);
    assert_int_equal(seen.bucket.level, 0);
    seen.opened.level = UINT32_MAX;
    assert_true(htw__relay_advance(&relay, NOW_MS + 5000, 100) >= 0);
    assert_int_equal(seen.opened.level, UINT32_MAX);
    receive(above, 100, NOW_MS + 5500, false);
    assert_int_equal(seen.bucket.level, 0);
    assert_int_equal(seen.count[TO_TOPIC], 0);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    assert_true(htw__relay_advance(&relay, NOW_MS + 5030, 100) >= 0);
    assert_int_equal(seen.opened.level, 0);
}
