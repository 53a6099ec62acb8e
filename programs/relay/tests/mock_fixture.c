/* SPDX-License-Identifier: MIT */
/* mock_fixture.c - a mock cluster, a relay over it, and clients that send and count. */
#include "mock_fixture.h"

#include "../../../src/base/clock.h"

static rd_kafka_t *host, *producer, *consumer;
static rd_kafka_resp_err_t send_error; /* of `producer` */
static const char *const patterns[] = { "out" };
/* Kept short: the mock cluster waits for it when a relay follows another. */
static char names[][32] = { "session.timeout.ms", "5000", "heartbeat.interval.ms", "200" };
static const struct htw__property properties[] = { { names[0], names[1] }, { names[2], names[3] } };

rd_kafka_mock_cluster_t *mock_cluster;
struct htw__kafka mock_relay;
int64_t mock_width_ms, mock_commit_ms;
const char *mock_instance;
int mock_brokers = 1;
bool mock_has_transactions;
unsigned mock_short;
struct mock_got mock_got[MOCK_RECORDS_MAX];

int64_t mock_now_ms(void) {
    return htw__clock_realtime_ns() / 1000000;
}

static void say(enum htw__severity level, const char *text) {
    (void)level, (void)text;
}

struct htw__kafka_options mock_options(void) {
    return (struct htw__kafka_options) {
        .brokers = rd_kafka_mock_cluster_bootstraps(mock_cluster),
        .input = "in",
        .group = "in",
        .instance = mock_instance,
        .commit_ms = mock_commit_ms,
        .patience_ms = 500,
        .at_least_once = !mock_has_transactions,
        .say = say,
        .properties = properties,
        .property_count = COUNT_OF(properties),
        .relay = { .levels = { mock_width_ms, 8, 3 },
                   .destinations = { patterns, COUNT_OF(patterns), NULL, 0, NULL },
                   .retry_ms = 1000,
                   .catch_up_ms = 10000,
                   .max_memory = 1 << 20,
                   .lead_ms = 200 },
    };
}

rd_kafka_event_t *__real_rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms);
rd_kafka_event_t *__wrap_rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms);
/* The brokers in memory never answer an administrator. */
rd_kafka_event_t *__wrap_rd_kafka_queue_poll(rd_kafka_queue_t *queue, int timeout_ms) {
    return __real_rd_kafka_queue_poll(queue, timeout_ms < 10 ? timeout_ms : 10);
}

/* An error that is meant for the relay may go to another client that sends first. */
static void note_sent(rd_kafka_t *client, const rd_kafka_message_t *message, void *opaque) {
    (void)client, (void)opaque;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
        send_error = message->err;
}

static rd_kafka_t *make_client(rd_kafka_type_t type, const char *group) {
    char why[256];
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(mock_cluster),
                      NULL, 0);
    if (group != NULL)
        rd_kafka_conf_set(conf, "group.id", group, NULL, 0);
    if (type == RD_KAFKA_PRODUCER)
        rd_kafka_conf_set_dr_msg_cb(conf, note_sent);
    rd_kafka_t *client = rd_kafka_new(type, conf, why, sizeof(why));
    assert_non_null(client);
    return client;
}

static void make_topic(const char *name, int partitions) {
    assert_int_equal(rd_kafka_mock_topic_create(mock_cluster, name, partitions, 1), 0);
    for (int i = 0; i < partitions && mock_brokers > 1;
         i++) /* each call takes a third of a second */
        assert_int_equal(rd_kafka_mock_partition_set_leader(mock_cluster, name, i, 1), 0);
}

void mock_listen(bool listens) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(3);
    rd_kafka_topic_partition_list_add(list, "out", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_topic_partition_list_add(list, "out", 1)->offset = RD_KAFKA_OFFSET_BEGINNING;
    rd_kafka_topic_partition_list_add(list, "in.dead", 0)->offset = RD_KAFKA_OFFSET_BEGINNING;
    assert_int_equal(rd_kafka_assign(consumer, listens ? list : NULL), 0);
    rd_kafka_topic_partition_list_destroy(list);
}

void mock_set_up(void) {
    char why[256];
    host = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof(why));
    assert_non_null(host);
    mock_cluster = rd_kafka_mock_cluster_new(host, mock_brokers);
    make_topic("in", MOCK_STRIPES);
    make_topic("in.l0", MOCK_STRIPES * 8);
    make_topic("in.l1", MOCK_STRIPES * 8);
    make_topic("in.l2", MOCK_STRIPES * 8);
    make_topic("in.ids", MOCK_STRIPES);
    make_topic("in.dead", 1);
    make_topic("out", 2);
    producer = make_client(RD_KAFKA_PRODUCER, NULL);
    consumer = make_client(RD_KAFKA_CONSUMER, "test");
    rd_kafka_poll_set_consumer(consumer);
    mock_listen(true);
    memset(mock_got, 0, sizeof(mock_got));
    mock_width_ms = 200;
    mock_commit_ms = 50;
    mock_instance = NULL;
    mock_short = 0;
    send_error = RD_KAFKA_RESP_ERR_NO_ERROR;
}

void mock_tear_down(void) {
    rd_kafka_consumer_close(consumer);
    rd_kafka_destroy(consumer);
    rd_kafka_destroy(producer);
    rd_kafka_mock_cluster_destroy(mock_cluster);
    rd_kafka_destroy(host);
}

void mock_produce(unsigned number, int64_t deadline_ms, const char *more, const char *value) {
    char at[32];
    snprintf(at, sizeof(at), "%lld", (long long)deadline_ms);
    rd_kafka_headers_t *headers = rd_kafka_headers_new(3);
    rd_kafka_header_add(headers, "htw-deliver-at", -1, at, -1);
    rd_kafka_header_add(headers, "htw-deliver-to", -1, number % 50 == 7 ? "secret" : "out", -1);
    if (more != NULL)
        rd_kafka_header_add(headers, more, -1, value, -1);
    rd_kafka_resp_err_t error = rd_kafka_producev(
        producer, RD_KAFKA_V_TOPIC("in"), RD_KAFKA_V_PARTITION((int32_t)(number % MOCK_STRIPES)),
        RD_KAFKA_V_KEY("key", 3), RD_KAFKA_V_VALUE(&number, sizeof(number)),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_HEADERS(headers), RD_KAFKA_V_END);
    assert_int_equal(error, 0);
}

void mock_flush(void) {
    assert_int_equal(rd_kafka_flush(producer, 10000), 0);
}

void mock_commit(const char *topic, int64_t offset, const char *metadata) {
    rd_kafka_t *client = make_client(RD_KAFKA_CONSUMER, "in");
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_t *partition = rd_kafka_topic_partition_list_add(list, topic, 0);
    partition->offset = offset;
    if (metadata != NULL) {
        partition->metadata = strdup(metadata); /* librdkafka frees it */
        partition->metadata_size = strlen(metadata);
    }
    assert_int_equal(rd_kafka_commit(client, list, 0), 0);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_destroy(client);
}

static void note(const rd_kafka_message_t *message) {
    unsigned number;
    rd_kafka_headers_t *headers;
    const void *value;
    size_t size;
    if (message->len == 0 && strcmp(rd_kafka_topic_name(message->rkt), "in.dead") == 0) {
        mock_short++;
        return;
    }
    assert_int_equal(message->len, sizeof(number));
    memcpy(&number, message->payload, sizeof(number));
    assert_true(number < MOCK_RECORDS_MAX);
    assert_int_equal(rd_kafka_message_headers(message, &headers), 0);
    if (strcmp(rd_kafka_topic_name(message->rkt), "in.dead") == 0) {
        mock_got[number].dead++;
        assert_int_equal(rd_kafka_header_get_last(headers, "htw-reason", &value, &size), 0);
        snprintf(mock_got[number].reason, sizeof(mock_got[number].reason), "%s",
                 (const char *)value);
        return;
    }
    mock_got[number].count++;
    assert_int_equal(rd_kafka_header_get_last(headers, "htw-delivered-for", &value, &size), 0);
    int64_t late_ms = mock_now_ms() - strtoll(value, NULL, 10);
    if (mock_got[number].count == 1 || late_ms < mock_got[number].late_ms)
        mock_got[number].late_ms = late_ms;
}

uint64_t mock_received(void) {
    return mock_relay.relay.stats.done.received + mock_relay.relay.open[HTW__CHANNEL_FILE].received;
}

uint64_t mock_delivered(void) {
    const struct htw__relay_work *open = mock_relay.relay.open;
    return mock_relay.relay.stats.done.delivered + open[0].delivered + open[1].delivered;
}

void mock_run(int64_t span_ms) {
    int64_t until_ms = mock_now_ms() + span_ms;
    while (mock_now_ms() < until_ms) {
        if (htw__kafka_run(&mock_relay, -1, 5) != 0)
            fail_msg("%s", mock_relay.error);
        rd_kafka_poll(producer, 0);
        assert_int_equal(send_error, RD_KAFKA_RESP_ERR_NO_ERROR);
        rd_kafka_message_t *message;
        while ((message = rd_kafka_consumer_poll(consumer, 0)) != NULL) {
            if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                note(message);
            rd_kafka_message_destroy(message);
        }
    }
}

void mock_begin(const struct htw__kafka_options *options) {
    if (htw__kafka_open(&mock_relay, options) != 0 || htw__kafka_start(&mock_relay) != 0)
        fail_msg("%s", mock_relay.error);
}

bool mock_has_all_stripes(void) {
    return mock_relay.relay.stats.stripes == MOCK_STRIPES;
}

void mock_start(void) {
    struct htw__kafka_options options = mock_options();
    mock_begin(&options);
    mock_run_until(mock_has_all_stripes);
}

void mock_end(void) {
    assert_int_equal(htw__kafka_close(&mock_relay), 0);
}

void mock_kill(void) {
    htw__kafka_recover(&mock_relay, "the test wants it"); /* nothing is committed in this state */
    assert_int_equal(htw__kafka_close(&mock_relay), -EIO);
}

void mock_run_until(bool (*is_done)(void)) {
    for (int i = 0; i < 6000 && !is_done(); i++)
        mock_run(10);
    assert_true(is_done());
}

unsigned mock_came(unsigned number) {
    return mock_got[number].count + mock_got[number].dead;
}

void mock_run_until_all(unsigned first, unsigned count) {
    for (unsigned i = first, turn = 0; i < first + count && turn < 6000; turn++) {
        while (i < first + count && mock_came(i) > 0)
            i++;
        if (i < first + count)
            mock_run(10);
    }
}

int mock_run_until_failure(void) {
    int error = 0;
    for (int i = 0; i < 30000 && error == 0; i++)
        error = htw__kafka_run(&mock_relay, -1, 5);
    htw__kafka_close(&mock_relay);
    return error;
}
