/* SPDX-License-Identifier: MIT */
/*
 * test_mock_long.c - tests over a mock cluster that wait long: what comes twice without transactions; a membership that ends;
 * a commit that hangs.
 */
#include "mock_fixture.h"

#include <unistd.h>

/* ---- what comes twice when a relay without transactions is killed, and what does not */

#define RECORDS 7400
#define DELIVERED (RECORDS - RECORDS / 50) /* the others are dead letters */
#define DOUBLES_MAX 2000 /* of a channel: see "What it guarantees" in docs/relay.md */

static unsigned count_doubles(unsigned count) {
    unsigned doubles = 0;
    for (unsigned i = 0; i < count; i++)
        if (mock_came(i) > 1)
            doubles++;
    return doubles;
}

/* What was filed is committed as soon as what was delivered. */
/* holds: relay-11 */
MOCK_TEST(mock_what_was_published_an_interval_ago_is_not_doubled) {
    mock_width_ms = 1000;
    mock_start();
    int64_t deadline_ms = mock_now_ms() + 3000;
    for (unsigned i = 0; i < 300; i++)
        mock_produce(i, i % 2 == 0 ? 0 : deadline_ms, NULL, NULL);
    for (int i = 0; i < 10000 && mock_received() < 300; i++)
        mock_run(1);
    mock_run(mock_commit_ms + 400); /* what is filed lingers, and is acknowledged first */
    mock_kill();
    mock_start();
    mock_run_until_all(0, 300);
    mock_run(1500); /* what comes twice may come a second after the others */
    assert_int_equal(count_doubles(300), 0);
    mock_end();
}

/* However long the interval is, and however much there is to catch up with. */
/* holds: relay-11 */
MOCK_TEST(mock_what_is_doubled_is_limited_by_its_number) {
    mock_width_ms = 1000;
    mock_commit_ms = 60000;
    mock_start();
    int64_t deadline_ms = mock_now_ms() + 2500;
    for (unsigned i = 0; i < RECORDS; i++)
        mock_produce(i, deadline_ms, NULL, NULL);
    for (int i = 0; i < 10000 && mock_delivered() < DELIVERED; i++)
        mock_run(1);
    mock_kill();
    mock_start();
    mock_run_until_all(0, RECORDS);
    mock_run(1500); /* what comes twice may come a second after the others */
    assert_in_range(count_doubles(RECORDS), 1, 2 * DOUBLES_MAX);
    mock_end();
}

/* The number is reached again and again while there is much to catch up with: the relay commits then, and
 * does not sleep before it reads on, since nothing would wake it. */
MOCK_TEST(mock_relay_that_has_committed_early_reads_on_at_once) {
    mock_width_ms = 240000;
    mock_commit_ms = 60000;
    mock_start();
    for (unsigned i = 0; i < RECORDS; i++)
        mock_produce(i, 0, NULL, NULL);
    mock_flush();
    for (int i = 0; i < 3000 && rd_kafka_queue_length(mock_relay.group_queue) < RECORDS; i++)
        usleep(10000);
    rd_kafka_mock_broker_set_rtt(mock_cluster, -1, 50); /* so a commit waits for acknowledgements */
    int64_t until_ms = mock_now_ms() + mock_commit_ms / 2;
    while (mock_delivered() < DELIVERED && mock_now_ms() < until_ms)
        assert_int_equal(htw__kafka_run(&mock_relay, -1, 60000), 0);
    assert_int_equal(mock_delivered(), DELIVERED);
    mock_end();
}

/* ---- a relay whose membership in the group ends, and what it does then */

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

/* ---- the commit of one channel hangs, and the other channel goes on */

#define FEW 40u
#define END_TRANSACTION 26 /* the number of the request in Kafka's protocol */
#define CHANNELS_BROKER 2  /* the coordinator of the one channel, and of nothing else */

static void set_up_two(void) {
    mock_brokers = 2;
    mock_set_up();
}

static void tear_down_two(void) {
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

static void start_with(const char *channel) {
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
static void end_hang(unsigned count) {
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
UNIT_TEST_BETWEEN(set_up_two, tear_down_two,
                  mock_filing_goes_on_while_a_commit_of_deliveries_hangs) {
    start_with("in-one-deliver");
    int64_t soon_ms = mock_now_ms() + 1500;
    for (unsigned i = 0; i < FEW; i++)
        mock_produce(i, soon_ms, NULL, NULL);
    run_until_done(HTW__CHANNEL_FILE, FEW);
    run_until_hanging(HTW__CHANNEL_DELIVER);
    for (unsigned i = 0; i < 5; i++) { /* a transaction each */
        mock_produce(FEW + i, mock_now_ms() + 1500, NULL, NULL);
        run_until_done(HTW__CHANNEL_FILE, FEW + i + 1);
        assert_true(is_hanging(HTW__CHANNEL_DELIVER));
    }
    end_hang(FEW + 5);
}

/* holds: relay-17 */
UNIT_TEST_BETWEEN(set_up_two, tear_down_two, mock_deliveries_go_on_while_a_commit_of_filing_hangs) {
    start_with("in-one-file");
    int64_t soon_ms = mock_now_ms() + 3000;
    for (unsigned i = 0; i < FEW; i++)
        mock_produce(i, soon_ms, NULL, NULL);
    run_until_done(HTW__CHANNEL_FILE, FEW);
    mock_produce(FEW, soon_ms, NULL, NULL);
    run_until_hanging(HTW__CHANNEL_FILE);
    run_until_done(HTW__CHANNEL_DELIVER, FEW - 1); /* one is a dead letter */
    assert_true(is_hanging(HTW__CHANNEL_FILE));
    end_hang(FEW + 1);
}
