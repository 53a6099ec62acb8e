/* SPDX-License-Identifier: MIT */
/*
 * test_mock.c - one relay over a mock cluster, on which these tests follow one another: each sends records of its own
 * numbers, and leaves the relay with all stripes.
 */
#include "mock_fixture.h"

#include <unistd.h>

/* Numbers of requests in Kafka's protocol. */
#define PRODUCE 0
#define FETCH 1

static const struct htw__relay_stats *const stats = &mock_relay.relay.stats;

UNIT_SETUP(start) {
    mock_set_up();
    mock_width_ms = 100;
    mock_start();
    /* The brokers in memory never answer that, and librdkafka 2.0 leaks a request without an answer. */
    mock_relay.trim.is_refused = true;
}

/* A producer that does not know a topic asks for it once a second. */
UNIT_TEST(mock_first_record_of_a_destination_does_not_wait) {
    mock_run(1200);
    mock_produce(1, mock_now_ms(), NULL, NULL);
    mock_flush();
    for (int i = 0; i < 10000 && stats->done.delivered == 0; i++)
        mock_run(1);
    int64_t begin_ms = mock_now_ms();
    while (mock_relay.writers[0].acknowledged < mock_relay.writers[0].count &&
           mock_now_ms() < begin_ms + 5000)
        mock_run(1);
    assert_in_range(mock_now_ms() - begin_ms, 0, 500);
    assert_int_equal(stats->done.delivered, 1);
}

/* holds: relay-2 */
UNIT_TEST(mock_each_record_is_delivered_and_none_early) {
    int64_t begin_ms = mock_now_ms();
    /* From the past to what needs all levels: buckets of 0.1, 0.4 and 1.6 s, eight of each. */
    for (unsigned i = 100; i < 300; i++)
        mock_produce(i, begin_ms - 300 + (int64_t)(i - 100) * 20, NULL, NULL);
    mock_run_until_all(100, 200);
    for (unsigned i = 100; i < 300; i++) {
        bool is_secret = i % 50 == 7;
        assert_int_equal(mock_got[i].count, is_secret ? 0 : 1);
        assert_int_equal(mock_got[i].dead, is_secret ? 1 : 0);
        assert_true(mock_got[i].late_ms >= 0);
    }
    assert_string_equal(mock_got[107].reason,
                        "htw-deliver-to is not a topic to which the relay may deliver");
}

/* holds: relay-14 */
UNIT_TEST(mock_topics_of_the_relay_are_no_destinations) {
    static const char *const names[] = { "in", "in.l0", "in.l2", "in.ids", "in.dead" };
    static struct htw__kafka other;
    static char long_name[HTW__TOPIC_NAME_SIZE];
    struct htw__kafka_options options = mock_options();
    for (size_t i = 0; i < COUNT_OF(names); i++) {
        options.relay.destinations.default_topic = names[i];
        assert_int_equal(htw__kafka_open(&other, &options), -EIO);
        assert_non_null(strstr(other.error, "--to: a topic of the relay itself: in"));
        htw__kafka_close(&other);
    }
    memset(long_name, 't', 247);
    options.input = long_name;
    assert_int_equal(htw__kafka_open(&other, &options), -EIO);
    assert_non_null(strstr(other.error, "the name of the topic is too long"));
    htw__kafka_close(&other);
}

/* ---- what is refused */

static bool one_is_refused(void) {
    return stats->done.dead_refused == 1;
}

/* The answer to the next request is for the client that produces next, so no other may before the relay has got it. */
/* holds: relay-9 */
UNIT_TEST(mock_letter_whose_topic_is_refused_is_tried_again) {
    mock_produce(307, 0, NULL, NULL); /* to a topic that is not allowed */
    mock_flush();
    rd_kafka_mock_push_request_errors(mock_cluster, PRODUCE, 1,
                                      RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    mock_run_until(one_is_refused);
    mock_produce(308, 0, NULL, NULL);
    mock_run_until_all(308, 1);
    assert_int_equal(mock_got[308].count, 1); /* others do not wait for it */
    mock_run_until_all(307, 1);
    assert_int_equal(mock_got[307].dead, 1);
    assert_string_equal(mock_got[307].reason,
                        "htw-deliver-to is not a topic to which the relay may deliver");
}

/* An answer that another time may differ: a topic with a limit of timestamps, a plugin of the brokers that fails. */
/* holds: relay-8 */
UNIT_TEST(mock_record_that_is_refused_again_and_again_is_a_dead_letter) {
    const rd_kafka_resp_err_t no = RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;
    uint64_t before = stats->recoveries;
    mock_produce(311, 0, NULL, NULL);
    mock_flush();
    rd_kafka_mock_push_request_errors(mock_cluster, PRODUCE, 5, no, no, no, no, no);
    mock_run_until_all(311, 1);
    assert_int_equal(mock_got[311].dead, 1);
    assert_int_equal(mock_got[311].count, 0);
    assert_string_equal(mock_got[311].reason, "the topic refused the record again and again");
    assert_int_equal(stats->recoveries - before, 5);
}

static bool must_recover(void) {
    return htw__kafka_must_recover(&mock_relay);
}

/* As after a successor has deleted what this relay had not read: whether anything is lost, the committed
 * positions say. */
/* holds: relay-3 */
UNIT_TEST(mock_offset_that_is_gone_is_judged_by_the_take_over) {
    mock_listen(false); /* or it would get the errors below */
    for (unsigned i = 320; i < 340; i++)
        mock_produce(i, mock_now_ms() + 500, NULL, NULL);
    for (int i = 0; i < 10000 && !must_recover(); i++) {
        if (i % 500 == 0) /* again: another consumer of the relay may have got those before */
            rd_kafka_mock_push_request_errors(
                mock_cluster, FETCH, 3, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
                RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
        mock_run(1);
    }
    assert_true(must_recover());
    rd_kafka_mock_clear_request_errors(mock_cluster, FETCH);
    mock_run_until(mock_has_all_stripes);
    mock_listen(true);
    mock_run_until_all(320, 20);
    for (unsigned i = 320; i < 340; i++)
        assert_true(mock_came(i) >= 1);
}

static bool all_is_read(void) {
    htw__kafka_measure(&mock_relay);
    return mock_relay.relay.stats.input_lag == 0;
}

/* A relay that has read all before, and is stopped for more than a second. */
UNIT_TEST(mock_input_is_behind_until_it_is_read) {
    mock_run_until(all_is_read);
    for (unsigned i = 0; i < 3000; i++)
        mock_produce(1000 + i, mock_now_ms() + 600000, NULL, NULL);
    mock_flush();
    for (int i = 0; i < 300 && rd_kafka_queue_length(mock_relay.group_queue) < 3000; i++)
        usleep(10000);
    usleep(1000000);
    assert_int_equal(htw__kafka_run(&mock_relay, -1, 5), 0);
    assert_false(all_is_read());
    assert_in_range(stats->input_lag, 1000, 3000);
    mock_run_until(all_is_read);
    assert_int_equal(stats->input_lag_s, 0);
    assert_in_range(stats->since_commit_s[0], 0, 60);
}

UNIT_TEST(mock_relay_that_ends_has_committed_all) {
    mock_end();
    mock_tear_down();
}
