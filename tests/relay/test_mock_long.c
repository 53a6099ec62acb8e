/* SPDX-License-Identifier: MIT */
/* test_mock_long.c - the relay over a mock cluster: what takes long, nearly all of it waiting. */
#include "mock_fixture.h"

#include <string.h>

/* holds: relay-7 */
MOCK_TEST(mock_cancelled_record_is_not_delivered) {
    mock_width_ms =
        1000; /* both are filed to level 0 long before it is loaded, however slow the machine */
    mock_start();
    int64_t deadline_ms = mock_now_ms() + 5000;
    mock_produce(0, deadline_ms, "htw-id", "a");
    mock_produce(2, deadline_ms, "htw-id", "b");
    mock_produce(4, deadline_ms, "htw-cancel", "a");
    mock_run(500);
    for (int i = 0; i < 300 && mock_got[2].count == 0; i++)
        mock_run(100);
    mock_run(500);
    assert_int_equal(mock_got[0].count, 0);
    assert_int_equal(mock_got[2].count, 1);
    assert_int_equal(mock_relay.relay.stats.done.cancelled, 1);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* holds: relay-4 */
MOCK_TEST(mock_successor_goes_on_where_the_relay_has_stopped) {
    mock_start();
    int64_t begin_ms = mock_now_ms();
    for (unsigned i = 0; i < 300; i++)
        mock_produce(i, begin_ms + 200 + (int64_t)i * 20, NULL, NULL);
    mock_run(3000);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
    mock_start();
    mock_run_until_all(300);
    mock_run(500);
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(mock_got[i].count + mock_got[i].dead,
                         1); /* a clean stop: not even twice */
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* holds: relay-8 */
MOCK_TEST(mock_missing_destination_is_a_dead_letter) {
    static const char *const all[] = { "*" };
    struct htw__kafka_options options = mock_options();
    options.relay.destinations.patterns = all;
    options.relay.destinations.pattern_count = 1;
    assert_int_equal(htw__kafka_open(&mock_relay, &options), 0);
    assert_int_equal(htw__kafka_start(&mock_relay), 0);
    rd_kafka_mock_topic_set_error(mock_cluster, "secret", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    mock_produce(7, mock_now_ms(), NULL, NULL);
    for (int i = 0; i < 300 && mock_got[7].dead == 0; i++)
        mock_run(100);
    assert_int_equal(mock_got[7].dead, 1);
    assert_string_equal(mock_got[7].reason, "the topic or its partition does not exist");
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

MOCK_TEST(mock_failed_requests_are_repeated) {
    mock_start();
    for (unsigned i = 0; i < 100; i++)
        mock_produce(i, mock_now_ms() + 300 + (int64_t)i * 10, NULL, NULL);
    mock_run(300);
    rd_kafka_mock_push_request_errors(
        mock_cluster, 0 /* Produce */, 3, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT);
    rd_kafka_mock_push_request_errors(mock_cluster, 8 /* OffsetCommit */, 1,
                                      RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS);
    mock_run_until_all(100);
    for (unsigned i = 0; i < 100; i++)
        assert_true(mock_got[i].count + mock_got[i].dead >= 1);
    htw__kafka_close(&mock_relay);
}

MOCK_TEST(mock_missing_topic_is_told) {
    struct htw__kafka_options options = mock_options();
    options.input = "other";
    rd_kafka_mock_topic_set_error(mock_cluster, "other", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    assert_int_equal(htw__kafka_open(&mock_relay, &options), 0);
    assert_int_not_equal(htw__kafka_start(&mock_relay), 0);
    assert_string_equal(mock_relay.error,
                        "topic other does not exist; --create-topics makes what is missing");
    htw__kafka_close(&mock_relay);
}

/* holds: relay-10 */
MOCK_TEST(mock_other_widths_are_refused) {
    mock_start();
    mock_produce(0, mock_now_ms(), NULL, NULL);
    mock_run_until_all(1);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
    struct htw__kafka_options options = mock_options();
    options.relay.levels.width_ms = 400;
    assert_int_equal(htw__kafka_open(&mock_relay, &options), 0);
    assert_int_equal(htw__kafka_start(&mock_relay), 0);
    int error = 0;
    for (int i = 0; i < 3000 && error == 0; i++)
        error = htw__kafka_run(&mock_relay, -1, 10);
    assert_int_not_equal(error, 0);
    assert_non_null(strstr(mock_relay.error, "--width"));
    htw__kafka_close(&mock_relay);
}

MOCK_TEST(mock_position_beyond_the_end_is_waited_for_and_then_told) {
    char clock[HTW__PROGRESS_TEXT_SIZE];
    struct htw__kafka_options options = mock_options();
    const struct htw__levels *levels = &options.relay.levels;
    htw__clock_format(
        &(struct htw__relay_clock) { .levels = *levels,
                                     .time_ms = htw__levels_round(levels, mock_now_ms()) },
        clock);
    mock_commit("in", 0, clock);
    mock_commit("in.l0", 1000, NULL);
    assert_int_equal(htw__kafka_open(&mock_relay, &options), 0);
    assert_int_equal(htw__kafka_start(&mock_relay), 0);
    mock_produce(1, mock_now_ms(), NULL, NULL); /* to the other stripe, which does not wait */
    for (int i = 0; i < 300 && mock_got[1].count == 0; i++)
        mock_run(20);
    assert_int_equal(mock_got[1].count, 1);
    assert_int_equal(mock_relay.relay.stats.stripes, 1);
    int error = 0;
    for (int i = 0; i < 3000 && error == 0; i++)
        error = htw__kafka_run(&mock_relay, -1, 10);
    assert_int_not_equal(error, 0);
    assert_non_null(strstr(mock_relay.error, "beyond the end"));
    htw__kafka_close(&mock_relay);
}
