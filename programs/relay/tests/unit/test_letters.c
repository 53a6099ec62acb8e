/* SPDX-License-Identifier: MIT */
/* test_letters.c - dead letters that their topic refuses: nothing stops, and nothing is dropped. */
#include "relay_fixture.h"

#define RETRY_MS 2500

static void begin(void) {
    relay_begin((struct htw__relay_options) { .retry_ms = RETRY_MS });
    relay_take_new_over();
}

/* A bad record of the input. */
static void arrive(int64_t offset) {
    static char large[5001];
    memset(large, 'x', sizeof(large) - 1);
    assert_int_equal(
        relay_take(RELAY_RECORD(offset, "a", "b", "htw-deliver-at", "soon", "large", large)), 0);
}

#define REASON "htw-reason=htw-deliver-at is not a number of milliseconds up to the year 9999;"

RELAY_TEST(letter_that_is_taken_is_whole) {
    begin();
    arrive(7);
    assert_int_equal(seen.count[TO_DEAD], 1);
    assert_int_equal(seen.value_size, 5);
    assert_string_equal(seen.headers, "a=b;htw-deliver-at=soon;" REASON);
}

/* holds: relay-9 */
RELAY_TEST(letter_that_is_too_large_loses_its_value_and_large_headers) {
    begin();
    seen.errors[TO_DEAD] = -EMSGSIZE;
    arrive(7);
    assert_int_equal(seen.count[TO_DEAD_SHORT], 1);
    assert_int_equal(seen.value_size, 0);
    assert_int_equal(seen.key_size, 3);
    assert_string_equal(seen.headers, "a=b;htw-deliver-at=soon;" REASON "htw-source=input 0 7;");
    assert_int_equal(relay.open[HTW__CHANNEL_FILE].dead, 1);
    assert_int_equal(relay.open[HTW__CHANNEL_FILE].dead_short, 1);
}

/* With the same reason, which the producer cannot have given. */
static void expect_that_it_waits_and_comes_again(void) {
    assert_int_equal(seen.count[TO_DEAD], 0);
    assert_int_equal(seen.count[TO_BUCKET], 1);
    assert_int_equal(seen.bucket.level, 0);
    assert_int_equal(seen.value_size, 5);
    assert_string_equal(seen.headers, "a=b;htw-deliver-at=soon;" REASON "htw-retry-at=1002500;");
    assert_int_equal(relay.open[HTW__CHANNEL_FILE].dead, 0);
    assert_int_equal(relay.open[HTW__CHANNEL_FILE].dead_refused, 1);
    /* Demoted, it stays what it is. */
    const struct htw__relay_record record =
        RELAY_RECORD(3, "htw-deliver-at", "soon", "htw-cancel", "", "htw-reason", "why",
                     "htw-retry-at", "1002500");
    const struct htw__source from = { 0, 1, 2 };
    assert_int_equal(relay_pass_on(from, record), 0);
    assert_int_equal(seen.count[TO_BUCKET], 2);
    assert_string_equal(seen.headers,
                        "htw-deliver-at=soon;htw-cancel=;htw-reason=why;htw-retry-at=1002500;");
    /* And when its time has come, it is a letter. */
    memset(seen.errors, 0, sizeof(seen.errors));
    relay.now_ms = NOW_MS + RETRY_MS;
    assert_int_equal(relay_pass_on(from, record), 0);
    assert_int_equal(seen.count[TO_DEAD], 1);
    assert_string_equal(seen.headers, "htw-deliver-at=soon;htw-cancel=;htw-reason=why;");
}

/* holds: relay-9 */
RELAY_TEST(letter_that_nobody_takes_waits_in_a_bucket) {
    static const int cases[][2] = { { -ENOENT, 0 }, { -EACCES, 0 }, { -EMSGSIZE, -EMSGSIZE } };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        begin();
        seen.errors[TO_DEAD] = cases[i][0];
        seen.errors[TO_DEAD_SHORT] = cases[i][1];
        arrive(7);
        expect_that_it_waits_and_comes_again();
    }
}

static bool refuse(int64_t offset, bool is_letter, bool is_too_large) {
    const struct htw__refusal refusal = { .from = { 0, HTW__RELAY_INPUT, 0 },
                                          .offset = offset,
                                          .reason = "it was refused",
                                          .is_letter = is_letter,
                                          .is_too_large = is_too_large };
    return htw__relay_refused(&relay, &refusal);
}

/* What Kafka answers later, when the record is read again. */
RELAY_TEST(letter_that_is_refused_later_becomes_smaller_and_then_waits) {
    begin();
    assert_true(refuse(7, true, true));
    arrive(7);
    assert_int_equal(relay.open[HTW__CHANNEL_FILE].dead_short, 1);
    assert_non_null(strstr(seen.headers, REASON));
    begin();
    assert_true(refuse(8, true, true));
    assert_true(refuse(8, true, true));
    arrive(8);
    expect_that_it_waits_and_comes_again();
    assert_false(refuse(8, false, true)); /* not even a bucket takes it */
}

RELAY_TEST(letter_of_a_refused_record_says_why) {
    begin();
    assert_true(refuse(7, false, false));
    arrive(7);
    assert_int_equal(seen.value_size, 5);
    assert_non_null(strstr(seen.headers, "htw-reason=it was refused;"));
    htw__relay_committed(&relay, HTW__CHANNEL_DELIVER); /* it is of the other channel */
    assert_int_equal(relay.poison_count, 1);
    htw__relay_committed(&relay, HTW__CHANNEL_FILE);
    assert_int_equal(relay.poison_count, 0);
    assert_true(refuse(9, false, false));
    assert_true(refuse(9, true, false));
    arrive(9);
    assert_int_equal(seen.count[TO_BUCKET], 1);
    assert_non_null(strstr(seen.headers, "htw-reason=it was refused;htw-retry-at="));
}

/* A producer cannot make the relay believe that a record is a letter. */
RELAY_TEST(letter_from_the_input_is_a_bad_record) {
    begin();
    assert_int_equal(relay_take(RELAY_RECORD(1, "htw-retry-at", "2000000", "htw-reason", "x")), 0);
    assert_int_equal(seen.count[TO_DEAD], 1);
    assert_string_equal(seen.headers, "htw-reason=htw-retry-at is for the relay alone;");
}

/* What was aborted is done again, and is counted then. */
RELAY_TEST(letter_that_was_aborted_is_not_counted) {
    begin();
    arrive(7);
    htw__relay_lose_all(&relay);
    htw__relay_committed(&relay, HTW__CHANNEL_FILE);
    assert_int_equal(relay.stats.done.dead, 0);
    begin();
    arrive(7);
    assert_int_equal(relay.stats.done.received + relay.stats.done.dead, 0);
    htw__relay_committed(&relay, HTW__CHANNEL_DELIVER);
    assert_int_equal(relay.stats.done.dead, 0);
    htw__relay_committed(&relay, HTW__CHANNEL_FILE);
    assert_int_equal(relay.stats.done.dead, 1);
    assert_int_equal(relay.stats.done.received, 1);
}

/* In a bucket it would have more, which librdkafka did not read any more. */
RELAY_TEST(letter_of_a_record_with_many_headers) {
    struct htw__header *many = calloc(HTW__RELAY_HEADERS_MAX + 1, sizeof(*many));
    assert_non_null(many);
    for (size_t i = 0; i <= HTW__RELAY_HEADERS_MAX; i++)
        many[i] = (struct htw__header) { htw__bytes_of("a"), htw__bytes_of("b") };
    many[0] = (struct htw__header) { htw__bytes_of("htw-delay"), htw__bytes_of("500") };
    begin();
    for (int64_t more = 0; more < 2; more++) {
        const struct htw__relay_record record = { .offset = more,
                                                  .timestamp_ms = NOW_MS,
                                                  .value = htw__bytes_of("v"),
                                                  .headers = many,
                                                  .header_count =
                                                      HTW__RELAY_HEADERS_MAX + (size_t)more };
        assert_int_equal(htw__relay_take(&relay, of_input, &record), 0);
        assert_int_equal(seen.count[TO_BUCKET], 1);
        assert_int_equal(seen.count[TO_DEAD], more);
    }
    free(many);
}
