/* SPDX-License-Identifier: MIT */
/* test_mock_members.c - a relay whose membership in the group ends, and what it does then. */
#include "mock_fixture.h"

/* Numbers of requests in Kafka's protocol. */
#define JOIN_GROUP 11
#define HEARTBEAT 12

static bool has_joined_again(void) {
    return mock_relay.rejoin.count > 0;
}

/* As after a coordinator that was away for a session: librdkafka has forgotten its member id, and is then
 * taken for another member of the same name. */
MOCK_TEST(mock_member_without_id_that_is_fenced_joins_again) {
    mock_instance = "one";
    mock_start();
    rd_kafka_mock_push_request_errors(mock_cluster, HEARTBEAT, 1,
                                      RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
    rd_kafka_mock_push_request_errors(mock_cluster, JOIN_GROUP, 1,
                                      RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
    mock_run_until(has_joined_again);
    assert_int_equal(mock_relay.relay.stats.stripes, 0);
    mock_run_until(mock_has_all_stripes);
    assert_int_equal(mock_relay.rejoin.count, 0);
    for (unsigned i = 0; i < 7; i++)
        mock_produce(i, mock_now_ms() + 300, NULL, NULL);
    mock_run_until_all(0, 7);
    for (unsigned i = 0; i < 7; i++)
        assert_int_equal(mock_got[i].count, 1);
    mock_end();
}

static void run_until_end(void) {
    assert_int_not_equal(mock_run_until_failure(), 0);
    assert_string_equal(mock_relay.error, "another relay runs as the same --instance");
}

MOCK_TEST(mock_member_whose_name_was_taken_ends) {
    mock_instance = "one";
    mock_start();
    rd_kafka_mock_push_request_errors(mock_cluster, HEARTBEAT, 1,
                                      RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID);
    run_until_end();
}

/* A relay that is fenced at each try does not go on for ever. */
MOCK_TEST(mock_member_that_is_fenced_again_and_again_ends) {
    mock_instance = "one";
    mock_start();
    rd_kafka_resp_err_t errors[64];
    for (size_t i = 0; i < COUNT_OF(errors); i++)
        errors[i] = RD_KAFKA_RESP_ERR_FENCED_INSTANCE_ID;
    mock_relay.rejoin.count = 6; /* it waits longer each time */
    rd_kafka_mock_push_request_errors_array(mock_cluster, JOIN_GROUP, COUNT_OF(errors), errors);
    rd_kafka_mock_push_request_errors(mock_cluster, HEARTBEAT, 1,
                                      RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
    run_until_end();
}
