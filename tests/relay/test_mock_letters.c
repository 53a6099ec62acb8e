/* SPDX-License-Identifier: MIT */
/* test_mock_letters.c - dead letters that Kafka refuses, and what goes on meanwhile. */
#include "mock_fixture.h"

#define PRODUCE 0 /* the number of the request in Kafka's protocol */

/* The next letter is answered so. The answer is for the client that produces next, so no other may before the relay
 * has got it. */
static void refuse(rd_kafka_resp_err_t error) {
    mock_produce(7, 0, NULL, NULL); /* to a topic that is not allowed */
    mock_flush();
    rd_kafka_mock_push_request_errors(mock_cluster, PRODUCE, 1, error);
    const struct htw__relay_stats *stats = &mock_relay.relay.stats;
    for (int i = 0; i < 300 && stats->done.dead_refused + stats->done.dead_short == 0; i++)
        mock_run(20);
    assert_int_not_equal(stats->done.dead_refused + stats->done.dead_short, 0);
}

/* holds: relay-9 */
MOCK_TEST(mock_letter_whose_topic_is_refused_is_tried_again) {
    mock_start();
    refuse(RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED);
    mock_produce(8, 0, NULL, NULL);
    for (int i = 0; i < 300 && mock_got[8].count == 0; i++)
        mock_run(20);
    assert_int_equal(mock_got[8].count, 1); /* others do not wait for it */
    for (int i = 0; i < 1000 && mock_got[7].dead == 0; i++)
        mock_run(20);
    assert_int_equal(mock_got[7].dead, 1);
    assert_string_equal(mock_got[7].reason,
                        "htw-deliver-to is not a topic to which the relay may deliver");
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

MOCK_TEST(mock_letter_that_is_too_large_loses_its_value) {
    mock_start();
    refuse(RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE);
    for (int i = 0; i < 300 && mock_short == 0; i++)
        mock_run(20);
    assert_int_equal(mock_short, 1);
    assert_int_equal(mock_got[7].dead, 0);
    assert_int_equal(mock_relay.relay.stats.done.dead_short, 1);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* An answer that another time may differ: a topic with a limit of timestamps, a plugin of the brokers that fails. */
/* holds: relay-8 */
MOCK_TEST(mock_record_that_is_refused_again_and_again_is_a_dead_letter) {
    const rd_kafka_resp_err_t no = RD_KAFKA_RESP_ERR_INVALID_TIMESTAMP;
    mock_start();
    mock_produce(1, 0, NULL, NULL);
    mock_flush();
    rd_kafka_mock_push_request_errors(mock_cluster, PRODUCE, 5, no, no, no, no, no);
    for (int i = 0; i < 1000 && mock_got[1].dead == 0; i++)
        mock_run(20);
    assert_int_equal(mock_got[1].dead, 1);
    assert_int_equal(mock_got[1].count, 0);
    assert_string_equal(mock_got[1].reason, "the topic refused the record again and again");
    assert_int_equal(mock_relay.relay.stats.recoveries, 5);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}
