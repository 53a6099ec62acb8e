/* SPDX-License-Identifier: MIT */
/* test_mock.c - the relay over a mock cluster: what is quick. test_mock_long.c has the rest. */
#include "mock_fixture.h"

#define FETCH 1 /* the request, by its number in the protocol */

static unsigned unanswered; /* so many questions for the position of one partition */

rd_kafka_resp_err_t __real_rd_kafka_committed(rd_kafka_t *client,
                                              rd_kafka_topic_partition_list_t *list, int limit_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t *client,
                                              rd_kafka_topic_partition_list_t *list, int limit_ms);
rd_kafka_resp_err_t __wrap_rd_kafka_committed(rd_kafka_t *client,
                                              rd_kafka_topic_partition_list_t *list, int limit_ms) {
    if (unanswered == 0 || list->cnt > 1)
        return __real_rd_kafka_committed(client, list, limit_ms);
    unanswered--;
    return RD_KAFKA_RESP_ERR__TIMED_OUT;
}

/* holds: relay-2 */
MOCK_TEST(mock_each_record_is_delivered_and_none_early) {
    mock_width_ms = 100;
    mock_start();
    int64_t begin_ms = mock_now_ms();
    /* From the past to what needs all levels: buckets of 0.1, 0.4 and 1.6 s, eight of each. */
    for (unsigned i = 0; i < 200; i++)
        mock_produce(i, begin_ms - 300 + (int64_t)i * 20, NULL, NULL);
    mock_run_until_all(200);
    for (unsigned i = 0; i < 200; i++) {
        bool is_secret = i % 50 == 7;
        assert_int_equal(mock_got[i].count, is_secret ? 0 : 1);
        assert_int_equal(mock_got[i].dead, is_secret ? 1 : 0);
        assert_true(mock_got[i].late_ms >= 0);
    }
    assert_string_equal(mock_got[7].reason,
                        "htw-deliver-to is not a topic to which the relay may deliver");
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* As when its first commit was still under way: the name is not there yet, but comes with the positions. */
/* holds: relay-12 */
MOCK_TEST(mock_owner_that_is_named_late_is_fenced) {
    mock_has_transactions = true;
    mock_commit("in", 0, "htw-stripe-2 200 8 3 0 0 0 0 0 other");
    unanswered = 1;
    mock_start();
    assert_int_equal(unanswered, 0);
    assert_string_equal(mock_relay.fence.owner, "other");
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
    mock_has_transactions = false;
}

/* As after a successor has deleted what this relay had not read: whether anything is lost, the committed
 * positions say. */
/* holds: relay-3 */
MOCK_TEST(mock_offset_that_is_gone_is_judged_by_the_take_over) {
    bool has_recovered = false;
    mock_listen(false); /* or it would get the errors below */
    mock_start();
    for (unsigned i = 0; i < 20; i++)
        mock_produce(i, mock_now_ms() + 500, NULL, NULL);
    for (int i = 0; i < 10000 && !has_recovered; i++) {
        if (i % 500 == 0) /* again: another consumer of the relay may have got those before */
            rd_kafka_mock_push_request_errors(
                mock_cluster, FETCH, 3, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE,
                RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE, RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
        mock_run(1);
        has_recovered = htw__kafka_must_recover(&mock_relay);
    }
    assert_true(has_recovered);
    rd_kafka_mock_clear_request_errors(mock_cluster, FETCH);
    mock_listen(true);
    mock_run_until_all(20);
    for (unsigned i = 0; i < 20; i++)
        assert_true(mock_got[i].count + mock_got[i].dead >= 1);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

/* A producer that does not know a topic asks for it once a second. */
MOCK_TEST(mock_first_record_of_a_destination_does_not_wait) {
    mock_start();
    mock_run(1200);
    mock_produce(1, mock_now_ms(), NULL, NULL);
    mock_flush();
    for (int i = 0; i < 10000 && mock_relay.relay.stats.done.delivered == 0; i++)
        mock_run(1);
    int64_t begin_ms = mock_now_ms();
    while (mock_relay.writers[0].acknowledged < mock_relay.writers[0].count &&
           mock_now_ms() < begin_ms + 5000)
        mock_run(1);
    assert_in_range(mock_now_ms() - begin_ms, 0, 500);
    assert_int_equal(mock_relay.relay.stats.done.delivered, 1);
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}
