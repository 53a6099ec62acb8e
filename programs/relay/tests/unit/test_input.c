/* SPDX-License-Identifier: MIT */
/* test_input.c - how far the input is read. */
#include "relay_fixture.h"

/* Stripe 0 whose input ends at offset 20, and was read to 15. */
static void begin(void) {
    relay_begin((struct htw__relay_options) { .keep_partition = false });
    relay_take_over((struct htw__found) { 15, { NULL, 0 }, 10, 20 }, NOW_MS,
                    (struct htw__found) { .offset = 0 }, 0);
    assert_int_equal(htw__relay_reads_input(&relay, 0), 15);
}

/* Bad ones, which become dead letters. */
static void read_record(int64_t offset, int64_t timestamp_ms) {
    const struct htw__relay_record record = { .offset = offset, .timestamp_ms = timestamp_ms };
    assert_int_equal(htw__relay_take(&relay, of_input, &record), 0);
}

static void assert_lag(uint64_t records, uint64_t seconds) {
    htw__relay_measure(&relay);
    assert_int_equal(relay.stats.input_lag, records);
    assert_int_equal(relay.stats.input_lag_s, seconds);
}

RELAY_TEST(input_that_is_not_read_is_a_lag) {
    begin();
    assert_lag(5, 0); /* how old they are is not known yet */
    read_record(15, NOW_MS - 60000);
    assert_lag(4, 60);
    read_record(16, NOW_MS - 7000);
    assert_lag(3, 7);
    htw__relay_input_end(&relay, 0, 120);
    assert_lag(103, 7);
    htw__relay_input_end(&relay, 0, 110); /* an answer that is older */
    htw__relay_input_end(&relay, 7, 1000);
    assert_lag(103, 7);
    read_record(119, NOW_MS - 1);
    assert_lag(0, 0);
}

/* What comes after a pause is not as old as the record before it, nor is one whose timestamp is wrong. */
RELAY_TEST(input_that_was_read_to_its_end_is_not_old) {
    begin();
    read_record(19, 5);
    htw__relay_input_end(&relay, 0, 20);
    assert_int_equal(htw__relay_advance(&relay, NOW_MS + 3000, 100), 0);
    htw__relay_input_end(&relay, 0, 21);
    assert_lag(1, 3);
    read_record(20, NOW_MS + 100000); /* a clock that is ahead */
    htw__relay_input_end(&relay, 0, 22);
    assert_lag(1, 0);
}

/* Markers of transactions take offsets, and are never passed on as records. */
RELAY_TEST(input_that_ends_with_a_marker_is_read_to_its_end) {
    begin();
    read_record(18, NOW_MS);
    htw__relay_input_end(&relay, 0, 20);
    assert_lag(1, 0);
    htw__relay_reached(&relay, of_input, 20);
    assert_lag(0, 0);
    assert_true(htw__relay_positions(&relay, HTW__CHANNEL_FILE));
    assert_int_equal(relay.positions[relay.position_count - 1].offset, 20);
}
