/* SPDX-License-Identifier: MIT */
/* test_mock_commits.c - the commit of one channel hangs, and the other channel goes on. */
#include "mock_fixture.h"

#define RECORDS 40u
#define END_TRANSACTION 26 /* the number of the request in Kafka's protocol */
#define CHANNELS_BROKER 2  /* the coordinator of the one channel, and of nothing else */

static void set_up(void) {
    mock_brokers = 2;
    mock_set_up();
}

static void tear_down(void) {
    mock_brokers = 1;
    mock_has_transactions = false;
    mock_tear_down();
}

static bool is_hanging(enum htw__channel channel) {
    return htw__writer_of(&mock_relay, channel)->committer.is_in_flight;
}

static uint64_t done_of(enum htw__channel channel) {
    const struct htw__relay_work *done = &mock_relay.relay.stats.done;
    return channel == HTW__CHANNEL_FILE ? done->received : done->delivered;
}

static void run_until_done(enum htw__channel channel, uint64_t count) {
    for (int i = 0; i < 6000 && done_of(channel) < count; i++)
        mock_run(10);
    assert_true(done_of(channel) >= count);
}

/* The answer to the end of the next transaction does not come until the connection is closed. */
static void run_until_hanging(enum htw__channel channel) {
    for (int i = 0; i < 6000 && is_hanging(channel); i++)
        mock_run(1);
    assert_false(is_hanging(channel));
    rd_kafka_mock_broker_push_request_error_rtts(mock_cluster, CHANNELS_BROKER, END_TRANSACTION, 1,
                                                 RD_KAFKA_RESP_ERR_NO_ERROR, 600000);
    for (int i = 0; i < 6000 && !is_hanging(channel); i++)
        mock_run(1);
    assert_true(is_hanging(channel));
}

static void start(const char *channel) {
    mock_has_transactions = true;
    mock_instance = "one";
    mock_width_ms = 1000;
    rd_kafka_mock_coordinator_set(mock_cluster, "group", "in", 1);
    rd_kafka_mock_coordinator_set(mock_cluster, "transaction", "in-one-file", 1);
    rd_kafka_mock_coordinator_set(mock_cluster, "transaction", "in-one-deliver", 1);
    rd_kafka_mock_coordinator_set(mock_cluster, "transaction", channel, CHANNELS_BROKER);
    mock_start();
}

/* Nothing was aborted and done again: what came before the hang, within it and after it has come once. */
static void end(unsigned count) {
    rd_kafka_mock_broker_set_down(mock_cluster, CHANNELS_BROKER);
    rd_kafka_mock_broker_set_up(mock_cluster, CHANNELS_BROKER);
    mock_run_until_all(0, count);
    run_until_done(HTW__CHANNEL_FILE, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(mock_came(i), 1);
    assert_int_equal(mock_relay.relay.stats.failed_commits, 0);
    assert_int_equal(mock_relay.relay.stats.aborted_transactions, 0);
    mock_end();
}

/* holds: relay-17 */
UNIT_TEST_BETWEEN(set_up, tear_down, mock_filing_goes_on_while_a_commit_of_deliveries_hangs) {
    start("in-one-deliver");
    int64_t soon_ms = mock_now_ms() + 1500;
    for (unsigned i = 0; i < RECORDS; i++)
        mock_produce(i, soon_ms, NULL, NULL);
    run_until_done(HTW__CHANNEL_FILE, RECORDS);
    run_until_hanging(HTW__CHANNEL_DELIVER);
    for (unsigned i = 0; i < 5; i++) { /* a transaction each */
        mock_produce(RECORDS + i, mock_now_ms() + 1500, NULL, NULL);
        run_until_done(HTW__CHANNEL_FILE, RECORDS + i + 1);
        assert_true(is_hanging(HTW__CHANNEL_DELIVER));
    }
    end(RECORDS + 5);
}

/* holds: relay-17 */
UNIT_TEST_BETWEEN(set_up, tear_down, mock_deliveries_go_on_while_a_commit_of_filing_hangs) {
    start("in-one-file");
    int64_t soon_ms = mock_now_ms() + 3000;
    for (unsigned i = 0; i < RECORDS; i++)
        mock_produce(i, soon_ms, NULL, NULL);
    run_until_done(HTW__CHANNEL_FILE, RECORDS);
    mock_produce(RECORDS, soon_ms, NULL, NULL);
    run_until_hanging(HTW__CHANNEL_FILE);
    run_until_done(HTW__CHANNEL_DELIVER, RECORDS - 1); /* one is a dead letter */
    assert_true(is_hanging(HTW__CHANNEL_FILE));
    end(RECORDS + 1);
}
