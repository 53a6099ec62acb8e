/* SPDX-License-Identifier: MIT */
/*
 * test_mock.c - the relay over librdkafka's mock cluster: real clients and the real protocol, with brokers
 * in memory. They know no read-committed transactions and no administrators, so: --at-least-once, and
 * topics that the test makes.
 */
#include "../../src/relay/kafka.h"

#include "../../src/base/clock.h"
#include "../unit/unit.h"

#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STRIPES 2
#define RECORDS_MAX 400

static rd_kafka_t *host;
static rd_kafka_mock_cluster_t *cluster;
static rd_kafka_t *producer, *consumer;
static struct htw__kafka relay;
static char last_said[1024];
static int64_t width_ms; /* of the lowest buckets */
static const char *const patterns[] = { "out" };
static const char *const own[] = { "in", "in.l0", "in.l1", "in.l2", "in.dead" };

struct got {
    unsigned count, dead;
    int64_t late_ms; /* the least */
    char reason[128];
};

static struct got got[RECORDS_MAX];

static int64_t now_ms(void) {
    return htw__clock_realtime_ns() / 1000000;
}

static void say(const char *text) {
    snprintf(last_said, sizeof(last_said), "%s", text);
}

static struct htw__kafka_options make_options(void) {
    return (struct htw__kafka_options) {
        .brokers = rd_kafka_mock_cluster_bootstraps(cluster),
        .input = "in",
        .group = "in",
        .commit_ms = 50,
        .at_least_once = true,
        .say = say,
        .relay = { .levels = { width_ms, 8, 3 },
                   .destinations = { patterns, COUNT_OF(patterns), own, COUNT_OF(own), NULL },
                   .dead_letters = "in.dead",
                   .max_memory = 1 << 20,
                   .lead_ms = 200 },
    };
}

static rd_kafka_t *make_client(rd_kafka_type_t type) {
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(cluster), NULL,
                      0);
    if (type == RD_KAFKA_CONSUMER)
        rd_kafka_conf_set(conf, "group.id", "test", NULL, 0);
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof(why));
    assert_non_null(client);
    return client;
}

static void make_topic(const char *name, int partitions) {
    assert_int_equal(rd_kafka_mock_topic_create(cluster, name, partitions, 1), 0);
}

static int set_up(void **state) {
    (void)state;
    char why[256];
    host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof(why));
    assert_non_null(host);
    cluster = rd_kafka_mock_cluster_new(host, 1);
    make_topic("in", STRIPES);
    for (int level = 0; level < 3; level++)
        make_topic(own[1 + level], STRIPES * 8);
    make_topic("in.dead", 1);
    make_topic("out", 2);
    producer = make_client(RD_KAFKA_PRODUCER);
    consumer = make_client(RD_KAFKA_CONSUMER);
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(3);
    rd_kafka_topic_partition_list_add(list, "out", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_topic_partition_list_add(list, "out", 1)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_topic_partition_list_add(list, "in.dead", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    assert_int_equal(rd_kafka_assign(consumer, list), 0);
    rd_kafka_topic_partition_list_destroy(list);
    memset(got, 0, sizeof(got));
    last_said[0] = '\0';
    width_ms = 200;
    return 0;
}

static int tear_down(void **state) {
    (void)state;
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    rd_kafka_destroy(producer);
    rd_kafka_mock_cluster_destroy(cluster);
    rd_kafka_destroy(host);
    return 0;
}

#define MOCK_TEST(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

/* Sends a record whose value is a number. `more` is another header, or NULL. */
static void produce(unsigned number, int64_t deadline_ms, const char *more, const char *value) {
    char at[32];
    snprintf(at, sizeof(at), "%lld", (long long)deadline_ms);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
    rd_kafka_header_add(headers, "htw-deliver-at", -1, at, -1);
    rd_kafka_header_add(headers, "htw-deliver-to", -1, number % 50 == 7 ? "secret" : "out", -1);
    if (more != NULL)
        rd_kafka_header_add(headers, more, -1, value, -1);
    rd_kafka_resp_err_t error = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC("in"), RD_KAFKA_V_PARTITION((int32_t)(number % STRIPES)),
        RD_KAFKA_V_KEY("key", 3), RD_KAFKA_V_VALUE(&number, sizeof(number)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    assert_int_equal(error, 0);
}

static void note(const rd_kafka_message_t *message) {
    unsigned number;
    rd_kafka_headers_t *headers;
    const void *value;
    size_t size;
    assert_int_equal(message->len, sizeof(number));
    memcpy(&number, message->payload, sizeof(number));
    assert_true(number < RECORDS_MAX);
    assert_int_equal(rd_kafka_message_headers(message, &headers), 0);
    if (strcmp(rd_kafka_topic_name(message->rkt), "in.dead") == 0) {
        got[number].dead++;
        assert_int_equal(rd_kafka_header_get_last(headers, "htw-reason", &value, &size), 0);
        snprintf(got[number].reason, sizeof(got[number].reason), "%s", (const char *)value);
        return;
    }
    got[number].count++;
    assert_int_equal(rd_kafka_header_get_last(headers, "htw-delivered-for", &value, &size), 0);
    int64_t late_ms = now_ms() - strtoll(value, NULL, 10);
    if (got[number].count == 1 || late_ms < got[number].late_ms)
        got[number].late_ms = late_ms;
}

/* Runs the relay, and takes what it delivers, for a time. */
static void run(int64_t span_ms) {
    int64_t until_ms = now_ms() + span_ms;
    while (now_ms() < until_ms) {
        if (htw__kafka_run(&relay, -1, 5) != 0)
            fail_msg("%s", relay.error);
        rd_kafka_poll(producer, 0);
        rd_kafka_message_t *message;
        while ((message = rd_kafka_consumer_poll(consumer, 0)) != NULL) {
            if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                note(message);
            rd_kafka_message_destroy(message);
        }
    }
}

static void start(void) {
    struct htw__kafka_options options = make_options();
    if (htw__kafka_open(&relay, &options) != 0 || htw__kafka_start(&relay) != 0)
        fail_msg("%s", relay.error);
    for (int i = 0; i < 300 && relay.relay.stats.stripes < STRIPES; i++)
        run(100);
}

static bool has_all(unsigned first, unsigned count) {
    for (unsigned i = first; i < first + count; i++)
        if (got[i].count + got[i].dead == 0)
            return false;
    return true;
}

/* The loaded machine decides how long that takes. */
static void run_until_all(unsigned count) {
    for (int i = 0; i < 300 && !has_all(0, count); i++)
        run(100);
}

MOCK_TEST(mock_each_record_is_delivered_and_none_early) {
    start();
    int64_t begin_ms = now_ms();
    /* From the past to what needs all levels: buckets of 0.2, 0.8 and 3.2 s. */
    for (unsigned i = 0; i < 200; i++)
        produce(i, begin_ms - 500 + (int64_t)i * 40, NULL, NULL);
    run_until_all(200);
    for (unsigned i = 0; i < 200; i++) {
        bool is_secret = i % 50 == 7;
        assert_int_equal(got[i].count, is_secret ? 0 : 1);
        assert_int_equal(got[i].dead, is_secret ? 1 : 0);
        assert_true(got[i].late_ms >= 0);
    }
    assert_string_equal(got[7].reason,
                        "htw-deliver-to is not a topic to which the relay may deliver");
    assert_int_equal(htw__kafka_close(&relay), 0);
}

MOCK_TEST(mock_cancelled_record_is_not_delivered) {
    width_ms =
        1000; /* both are filed to level 0 long before it is loaded, however slow the machine */
    start();
    int64_t deadline_ms = now_ms() + 5000;
    produce(0, deadline_ms, "htw-id", "a");
    produce(2, deadline_ms, "htw-id", "b");
    produce(4, deadline_ms, "htw-cancel", "a");
    run(500);
    for (int i = 0; i < 300 && got[2].count == 0; i++)
        run(100);
    run(500);
    assert_int_equal(got[0].count, 0);
    assert_int_equal(got[2].count, 1);
    assert_int_equal(relay.relay.stats.cancelled, 1);
    assert_int_equal(htw__kafka_close(&relay), 0);
}

MOCK_TEST(mock_successor_goes_on_where_the_relay_has_stopped) {
    start();
    int64_t begin_ms = now_ms();
    for (unsigned i = 0; i < 300; i++)
        produce(i, begin_ms + 200 + (int64_t)i * 20, NULL, NULL);
    run(3000);
    assert_int_equal(htw__kafka_close(&relay), 0);
    start();
    run_until_all(300);
    run(500);
    for (unsigned i = 0; i < 300; i++)
        assert_int_equal(got[i].count + got[i].dead, 1); /* a clean stop: not even twice */
    assert_int_equal(htw__kafka_close(&relay), 0);
}

MOCK_TEST(mock_missing_destination_is_a_dead_letter) {
    static const char *const all[] = { "*" };
    struct htw__kafka_options options = make_options();
    options.relay.destinations.patterns = all;
    options.relay.destinations.pattern_count = 1;
    assert_int_equal(htw__kafka_open(&relay, &options), 0);
    assert_int_equal(htw__kafka_start(&relay), 0);
    rd_kafka_mock_topic_set_error(cluster, "secret", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    produce(7, now_ms(), NULL, NULL);
    for (int i = 0; i < 300 && got[7].dead == 0; i++)
        run(100);
    assert_int_equal(got[7].dead, 1);
    assert_string_equal(got[7].reason, "the topic or its partition does not exist");
    assert_int_equal(htw__kafka_close(&relay), 0);
}

MOCK_TEST(mock_failed_requests_are_repeated) {
    start();
    for (unsigned i = 0; i < 100; i++)
        produce(i, now_ms() + 300 + (int64_t)i * 10, NULL, NULL);
    run(300);
    rd_kafka_mock_push_request_errors(
        cluster, 0 /* Produce */, 3, RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION,
        RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT, RD_KAFKA_RESP_ERR__TRANSPORT);
    rd_kafka_mock_push_request_errors(cluster, 8 /* OffsetCommit */, 1,
                                      RD_KAFKA_RESP_ERR_COORDINATOR_LOAD_IN_PROGRESS);
    run_until_all(100);
    for (unsigned i = 0; i < 100; i++)
        assert_true(got[i].count + got[i].dead >= 1);
    htw__kafka_close(&relay);
}

MOCK_TEST(mock_missing_topic_is_told) {
    struct htw__kafka_options options = make_options();
    options.input = "other";
    rd_kafka_mock_topic_set_error(cluster, "other", RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART);
    assert_int_equal(htw__kafka_open(&relay, &options), 0);
    assert_int_not_equal(htw__kafka_start(&relay), 0);
    assert_string_equal(relay.error,
                        "topic other does not exist; --create-topics makes what is missing");
    htw__kafka_close(&relay);
}

MOCK_TEST(mock_other_widths_are_refused) {
    start();
    produce(0, now_ms(), NULL, NULL);
    run_until_all(1);
    assert_int_equal(htw__kafka_close(&relay), 0);
    struct htw__kafka_options options = make_options();
    options.relay.levels.width_ms = 400;
    assert_int_equal(htw__kafka_open(&relay, &options), 0);
    assert_int_equal(htw__kafka_start(&relay), 0);
    int error = 0;
    for (int i = 0; i < 3000 && error == 0; i++)
        error = htw__kafka_run(&relay, -1, 10);
    assert_int_not_equal(error, 0);
    assert_non_null(strstr(relay.error, "--width"));
    htw__kafka_close(&relay);
}
