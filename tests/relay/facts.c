/* SPDX-License-Identifier: MIT */
/*
 * facts.c - what the relay relies on in Kafka and librdkafka, tried on a real Kafka.
 *
 * Most of it is not documented. If one of these tests fails with a new version, the relay is not safe
 * there, whatever its own tests say. usage: HTW_KAFKA=HOST:PORT facts; with HTW_LONG=1 also what
 * takes minutes, on a broker with offsets.retention.minutes=1.
 */
#include "../unit/unit.h"

#include <librdkafka/rdkafka.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define WAIT_MS 60000 /* only a hanging broker needs that */
#define BUCKETS 8

/* Topics, group and id of a test: no test sees what another left. */
static struct { char input[64], buckets[64], group[64], id[64]; } names;

/* What a test uses, to be destroyed: NULL, except the producer, until it makes them. */
static rd_kafka_t *producer, *member, *other, *writer;
static rd_kafka_consumer_group_metadata_t *metadata;

UNIT_SETUP(find_kafka) {
    if (getenv("HTW_KAFKA") == NULL)
        fail_msg("HTW_KAFKA is not set");
}

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void set(rd_kafka_conf_t *conf, const char *name, const char *value) {
    char error[256];
    if (rd_kafka_conf_set(conf, name, value, error, sizeof error) != RD_KAFKA_CONF_OK)
        fail_msg("%s", error);
}

static rd_kafka_t *create(rd_kafka_type_t type, rd_kafka_conf_t *conf) {
    char error[256];
    set(conf, "bootstrap.servers", getenv("HTW_KAFKA"));
    set(conf, "log_level", "2");
    rd_kafka_t *client = rd_kafka_new(type, conf, error, sizeof error);
    if (client == NULL)
        fail_msg("%s", error);
    return client;
}

static rd_kafka_t *plain_producer(void) {
    return create(RD_KAFKA_PRODUCER, rd_kafka_conf_new());
}

static rd_kafka_resp_err_t take(rd_kafka_error_t *error) {
    rd_kafka_resp_err_t code =
        error == NULL ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_error_code(error);
    if (error != NULL)
        rd_kafka_error_destroy(error);
    return code;
}

static void must(rd_kafka_error_t *error) {
    if (error != NULL)
        fail_msg("%s: %s", rd_kafka_error_name(error), rd_kafka_error_string(error));
}

static rd_kafka_t *transactional(const char *timeout_ms) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "transactional.id", names.id);
    set(conf, "transaction.timeout.ms", timeout_ms);
    rd_kafka_t *client = create(RD_KAFKA_PRODUCER, conf);
    must(rd_kafka_init_transactions(client, WAIT_MS));
    return client;
}

/* For one test: partitions are counted here, and neither read nor given back. */
static bool reads_nothing;
static int told;

static void rebalanced(rd_kafka_t *client, rd_kafka_resp_err_t what,
                       rd_kafka_topic_partition_list_t *partitions, void *opaque) {
    (void)opaque;
    rd_kafka_topic_partition_list_t *none = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_t *list = reads_nothing ? none : partitions;
    told += partitions->cnt;
    must(what == RD_KAFKA_RESP_ERR__ASSIGN_PARTITIONS
             ? rd_kafka_incremental_assign(client, list)
             : rd_kafka_incremental_unassign(client, list));
    rd_kafka_topic_partition_list_destroy(none);
}

static rd_kafka_t *consumer(void) {
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    set(conf, "group.id", names.group);
    set(conf, "enable.auto.commit", "false");
    set(conf, "auto.offset.reset", "error");
    set(conf, "isolation.level", "read_committed");
    set(conf, "partition.assignment.strategy", "cooperative-sticky");
    set(conf, "session.timeout.ms", "6000");
    set(conf, "heartbeat.interval.ms", "500");
    set(conf, "fetch.wait.max.ms", "20");
    rd_kafka_conf_set_rebalance_cb(conf, rebalanced);
    rd_kafka_t *client = create(RD_KAFKA_CONSUMER, conf);
    rd_kafka_poll_set_consumer(client);
    return client;
}

/* `count` partitions of a topic from number `first` on, all at one offset. */
static rd_kafka_topic_partition_list_t *partitions(const char *topic, int first, int count,
                                                   int64_t offset) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    for (int i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, topic, first + i)->offset = offset;
    return list;
}

static void create_topic(rd_kafka_t *client, const char *name, int count) {
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_NewTopic_t *topic = rd_kafka_NewTopic_new(name, count, 1, NULL, 0);
    rd_kafka_CreateTopics(client, &topic, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    assert_non_null(event);
    size_t number;
    const rd_kafka_topic_result_t **results =
        rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &number);
    assert_int_equal(rd_kafka_topic_result_error(results[0]), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_event_destroy(event);
    rd_kafka_NewTopic_destroy(topic);
    rd_kafka_queue_destroy(queue);
    /* The answer comes before the broker knows of the partitions. Do not ask for their offsets until it
     * does: the client would remember that there are none. */
    rd_kafka_topic_t *handle = rd_kafka_topic_new(client, name, NULL);
    int led = 0;
    for (double end = seconds() + WAIT_MS / 1000; led < count && seconds() < end; usleep(10000)) {
        const struct rd_kafka_metadata *cluster;
        assert_int_equal(rd_kafka_metadata(client, 0, handle, &cluster, WAIT_MS),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
        led = 0;
        for (int i = 0; i < cluster->topics[0].partition_cnt; i++)
            led += cluster->topics[0].partitions[i].leader >= 0;
        rd_kafka_metadata_destroy(cluster);
    }
    rd_kafka_topic_destroy(handle);
    assert_int_equal(led, count);
}

static void set_up(void) {
    static int number;
    const int tag = (int)getpid();
    number++;
    snprintf(names.input, sizeof names.input, "facts-%d-%d-input", tag, number);
    snprintf(names.buckets, sizeof names.buckets, "facts-%d-%d-buckets", tag, number);
    snprintf(names.group, sizeof names.group, "facts-%d-%d", tag, number);
    snprintf(names.id, sizeof names.id, "facts-%d-%d", tag, number);
    producer = plain_producer();
    create_topic(producer, names.input, 2);
    create_topic(producer, names.buckets, BUCKETS);
}

static void publish(rd_kafka_t *client, int bucket) {
    char value[] = "record";
    assert_int_equal(rd_kafka_producev(client, RD_KAFKA_V_TOPIC(names.buckets),
                                       RD_KAFKA_V_PARTITION(bucket),
                                       RD_KAFKA_V_VALUE(value, sizeof value),
                                       RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END),
                     RD_KAFKA_RESP_ERR_NO_ERROR);
}

static void publish_many(rd_kafka_t *client, int bucket, int count) {
    for (int i = 0; i < count; i++)
        publish(client, bucket);
    assert_int_equal(rd_kafka_flush(client, WAIT_MS), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Polls for at most `most` seconds, until `wanted` records of the topic came; how many did. The last
 * error that was no end of a partition goes to `ret_error`. */
static int poll_records(rd_kafka_t *client, const char *topic, int wanted, double most,
                        rd_kafka_resp_err_t *ret_error) {
    int count = 0;
    for (double end = seconds() + most; count < wanted && seconds() < end;) {
        rd_kafka_message_t *message = rd_kafka_consumer_poll(client, 20);
        if (message == NULL)
            continue;
        if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR)
            count += strcmp(rd_kafka_topic_name(message->rkt), topic) == 0;
        else if (ret_error != NULL)
            *ret_error = message->err;
        rd_kafka_message_destroy(message);
    }
    return count;
}

/* How many partitions of the input the consumer has. */
static int assigned(rd_kafka_t *client) {
    rd_kafka_topic_partition_list_t *current;
    assert_int_equal(rd_kafka_assignment(client, &current), RD_KAFKA_RESP_ERR_NO_ERROR);
    int count = 0;
    for (int i = 0; i < current->cnt; i++)
        count += strcmp(current->elems[i].topic, names.input) == 0;
    rd_kafka_topic_partition_list_destroy(current);
    return count;
}

/* Polls until the consumer has `count` partitions of the input, and so does the other, if there is
 * one: moving a partition takes both. */
static void wait_assigned(rd_kafka_t *client, rd_kafka_t *second, int count) {
    for (double end = seconds() + WAIT_MS / 1000; seconds() < end;) {
        poll_records(client, names.input, 1, 0.02, NULL);
        if (second != NULL)
            poll_records(second, names.input, 1, 0.02, NULL);
        if (assigned(client) == count && (second == NULL || assigned(second) == count))
            return;
    }
    fail_msg("the partitions were not assigned");
}

static void subscribe(rd_kafka_t *client) {
    rd_kafka_topic_partition_list_t *topics = partitions(names.input, RD_KAFKA_PARTITION_UA, 1, 0);
    assert_int_equal(rd_kafka_subscribe(client, topics), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_topic_partition_list_destroy(topics);
}

/* `member` has the whole input. */
static void make_member(void) {
    member = consumer();
    subscribe(member);
    wait_assigned(member, NULL, 2);
}

/* `other` gets one of the two partitions of the input. */
static void make_other(void) {
    other = consumer();
    subscribe(other);
    wait_assigned(other, member, 1);
}

static void close_consumer(rd_kafka_t **client) {
    if (*client != NULL) {
        rd_kafka_consumer_close(*client);
        rd_kafka_destroy(*client);
    }
    *client = NULL;
}

static void tear_down(void) {
    if (metadata != NULL)
        rd_kafka_consumer_group_metadata_destroy(metadata);
    metadata = NULL;
    close_consumer(&other);
    close_consumer(&member);
    if (writer != NULL)
        rd_kafka_destroy(writer);
    writer = NULL;
    rd_kafka_destroy(producer);
}

#define FACT(name) UNIT_TEST_BETWEEN(set_up, tear_down, name)

/* Commits an offset of a bucket in a transaction of `writer`, with metadata. */
static rd_kafka_resp_err_t send_offset(int bucket, int64_t offset, const char *text,
                                       const rd_kafka_consumer_group_metadata_t *of) {
    rd_kafka_topic_partition_list_t *list = partitions(names.buckets, bucket, 1, offset);
    list->elems[0].metadata = strdup(text);
    list->elems[0].metadata_size = strlen(text);
    rd_kafka_error_t *error = rd_kafka_send_offsets_to_transaction(writer, list, of, WAIT_MS);
    if (error != NULL)
        assert_true(rd_kafka_error_txn_requires_abort(error) || rd_kafka_error_is_fatal(error));
    rd_kafka_topic_partition_list_destroy(list);
    return take(error);
}

/* The committed offset of a bucket, as `member` sees it, and whether its metadata is as given. */
static rd_kafka_resp_err_t committed(int bucket, int wait_ms, int64_t *ret_offset,
                                     const char *text) {
    rd_kafka_topic_partition_list_t *list =
        partitions(names.buckets, bucket, 1, RD_KAFKA_OFFSET_INVALID);
    rd_kafka_resp_err_t error = rd_kafka_committed(member, list, wait_ms);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        *ret_offset = list->elems[0].offset;
        if (text != NULL) {
            assert_int_equal(list->elems[0].metadata_size, strlen(text));
            assert_memory_equal(list->elems[0].metadata, text, strlen(text));
        }
    }
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

static int64_t end_of(rd_kafka_t *client, int bucket) {
    int64_t low, high;
    assert_int_equal(
        rd_kafka_query_watermark_offsets(client, names.buckets, bucket, &low, &high, WAIT_MS),
        RD_KAFKA_RESP_ERR_NO_ERROR);
    return high;
}

/* The end that a reader of committed records has in the end: markers are written after the commit. */
static void end_becomes(rd_kafka_t *client, int bucket, int64_t wanted) {
    int64_t got = -1;
    for (double end = seconds() + WAIT_MS / 1000; got != wanted && seconds() < end; usleep(10000))
        got = end_of(client, bucket);
    assert_int_equal(got, wanted);
}

static void add_bucket(rd_kafka_t *client, int bucket, int64_t offset) {
    rd_kafka_topic_partition_list_t *list = partitions(names.buckets, bucket, 1, offset);
    must(rd_kafka_incremental_assign(client, list));
    rd_kafka_topic_partition_list_destroy(list);
}

/* One consumer reads the input that its group assigns to it, and buckets that it chooses. */
FACT(buckets_of_a_member_are_read_on_through_rebalances) {
    publish_many(producer, 3, 2);
    make_member();
    add_bucket(member, 3, 0);
    assert_int_equal(poll_records(member, names.buckets, 2, 20, NULL), 2);

    make_other();
    publish_many(producer, 3, 1);
    assert_int_equal(poll_records(member, names.buckets, 1, 20, NULL), 1);
    close_consumer(&other);
    wait_assigned(member, NULL, 2);
    publish_many(producer, 3, 1);
    assert_int_equal(poll_records(member, names.buckets, 2, 1, NULL), 1); /* and none again */
}

/* A member that does not begin to read what was assigned to it, or has ended that, still learns that it
 * has lost it. */
FACT(a_member_is_told_of_partitions_that_it_does_not_read) {
    reads_nothing = true;
    told = 0;
    member = consumer();
    subscribe(member);
    for (double end = seconds() + WAIT_MS / 1000; told < 2 && seconds() < end;)
        poll_records(member, names.input, 1, 0.02, NULL);
    assert_int_equal(told, 2);
    rd_kafka_topic_partition_list_t *list = partitions(names.input, 0, 2, 0);
    must(rd_kafka_incremental_assign(member, list));
    must(rd_kafka_incremental_unassign(member, list));
    rd_kafka_topic_partition_list_destroy(list);

    other = consumer();
    subscribe(other);
    /* 2 of the first, one of these revoked, and that assigned to the second */
    for (double end = seconds() + WAIT_MS / 1000; told < 4 && seconds() < end;) {
        poll_records(member, names.input, 1, 0.02, NULL);
        poll_records(other, names.input, 1, 0.02, NULL);
    }
    assert_int_equal(told, 4);
    reads_nothing = false;
}

FACT(offsets_of_foreign_partitions_are_committed_with_their_metadata) {
    make_member();
    metadata = rd_kafka_consumer_group_metadata(member);
    writer = transactional("10000");
    must(rd_kafka_begin_transaction(writer));
    publish(writer, 0);
    assert_int_equal(send_offset(5, 42, "1,2,3", metadata), 0);
    must(rd_kafka_commit_transaction(writer, WAIT_MS));
    int64_t offset = -1;
    assert_int_equal(committed(5, WAIT_MS, &offset, "1,2,3"), 0);
    assert_int_equal(offset, 42);
}

FACT(a_member_of_an_old_generation_cannot_commit) {
    make_member();
    metadata = rd_kafka_consumer_group_metadata(member);
    make_other();
    rd_kafka_consumer_group_metadata_t *gone = rd_kafka_consumer_group_metadata(other);
    writer = transactional("10000");

    must(rd_kafka_begin_transaction(writer));
    publish(writer, 0);
    assert_int_equal(send_offset(0, 1, "", metadata), RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
    assert_int_equal(take(rd_kafka_commit_transaction(writer, WAIT_MS)),
                     RD_KAFKA_RESP_ERR_ILLEGAL_GENERATION);
    must(rd_kafka_abort_transaction(writer, WAIT_MS));

    close_consumer(&other);
    wait_assigned(member, NULL, 2);
    must(rd_kafka_begin_transaction(writer));
    publish(writer, 0);
    assert_int_equal(send_offset(0, 1, "", gone), RD_KAFKA_RESP_ERR_UNKNOWN_MEMBER_ID);
    must(rd_kafka_abort_transaction(writer, WAIT_MS));

    rd_kafka_consumer_group_metadata_destroy(gone);
}

/* While it is not known whether a transaction will be committed, Kafka tells no client the offsets that were
 * before it: a relay that takes over must not begin there. */
FACT(offsets_of_an_open_transaction_are_waited_for_until_it_is_fenced) {
    make_member();
    metadata = rd_kafka_consumer_group_metadata(member);
    writer = transactional("60000");
    must(rd_kafka_begin_transaction(writer));
    assert_int_equal(send_offset(1, 7, "7", metadata), 0);
    must(rd_kafka_commit_transaction(writer, WAIT_MS));
    must(rd_kafka_begin_transaction(writer));
    publish(writer, 0);
    assert_int_equal(send_offset(1, 8, "8", metadata), 0);
    rd_kafka_flush(writer, WAIT_MS);

    int64_t offset = -1;
    assert_int_equal(committed(1, 1000, &offset, NULL), RD_KAFKA_RESP_ERR__TIMED_OUT);
    rd_kafka_t *successor = transactional("60000");
    assert_int_equal(committed(1, WAIT_MS, &offset, "7"), 0);
    assert_int_equal(offset, 7);
    assert_int_equal(take(rd_kafka_commit_transaction(writer, WAIT_MS)), RD_KAFKA_RESP_ERR__FENCED);
    assert_int_equal(rd_kafka_fatal_error(writer, NULL, 0), RD_KAFKA_RESP_ERR__FENCED);

    rd_kafka_destroy(successor);
}

FACT(markers_count_in_ends_and_positions) {
    member = consumer();
    writer = transactional("60000");
    must(rd_kafka_begin_transaction(writer));
    publish_many(writer, 0, 3);
    must(rd_kafka_commit_transaction(writer, WAIT_MS));
    end_becomes(member, 0, 4);
    must(rd_kafka_begin_transaction(writer));
    publish_many(writer, 0, 2);
    assert_int_equal(end_of(member, 0), 4); /* the last stable offset */
    must(rd_kafka_abort_transaction(writer, WAIT_MS));
    end_becomes(member, 0, 7);

    add_bucket(member, 0, 0);
    assert_int_equal(poll_records(member, names.buckets, 3, 20, NULL), 3);
    rd_kafka_topic_partition_list_t *position = partitions(names.buckets, 0, 1, 0);
    for (double end = seconds() + WAIT_MS / 1000;
         position->elems[0].offset != 7 && seconds() < end;) {
        assert_int_equal(poll_records(member, names.buckets, 1, 0.05, NULL), 0);
        assert_int_equal(rd_kafka_position(member, position), RD_KAFKA_RESP_ERR_NO_ERROR);
    }
    assert_int_equal(position->elems[0].offset, 7);
    rd_kafka_topic_partition_list_destroy(position);
}

static rd_kafka_resp_err_t delete_to(rd_kafka_t *client, int bucket, int64_t offset) {
    rd_kafka_queue_t *queue = rd_kafka_queue_new(client);
    rd_kafka_topic_partition_list_t *list = partitions(names.buckets, bucket, 1, offset);
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(list);
    rd_kafka_DeleteRecords(client, &request, 1, NULL, queue);
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, WAIT_MS);
    assert_non_null(event);
    assert_int_equal(rd_kafka_event_error(event), RD_KAFKA_RESP_ERR_NO_ERROR);
    rd_kafka_resp_err_t error =
        rd_kafka_DeleteRecords_result_offsets(rd_kafka_event_DeleteRecords_result(event))
            ->elems[0]
            .err;
    rd_kafka_event_destroy(event);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(list);
    rd_kafka_queue_destroy(queue);
    return error;
}

FACT(records_are_deleted_behind_a_position_and_missed_when_read) {
    publish_many(producer, 2, 5);
    assert_int_equal(delete_to(producer, 2, 4), RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(delete_to(producer, 2, 4), RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_equal(delete_to(producer, 2, 6), RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE);
    member = consumer();
    add_bucket(member, 2, 1);
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR_NO_ERROR;
    assert_int_equal(poll_records(member, names.buckets, 1, 2, &error), 0);
    assert_int_equal(error, RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET);
}

FACT(a_transaction_that_lasts_too_long_ends_its_producer) {
    writer = transactional("3000");
    must(rd_kafka_begin_transaction(writer));
    publish_many(writer, 0, 1);
    end_becomes(producer, 0, 2); /* the marker of the abort, by the broker */
    publish(writer, 0);
    assert_int_not_equal(take(rd_kafka_commit_transaction(writer, WAIT_MS)),
                         RD_KAFKA_RESP_ERR_NO_ERROR);
    assert_int_not_equal(rd_kafka_fatal_error(writer, NULL, 0), RD_KAFKA_RESP_ERR_NO_ERROR);
}

/* Of topics that the group does not subscribe to, whether committed in a transaction or not. */
FACT(offsets_of_foreign_partitions_expire_unless_committed_again) {
    if (getenv("HTW_LONG") == NULL)
        skip();
    make_member();
    metadata = rd_kafka_consumer_group_metadata(member);
    writer = transactional("60000");
    for (int bucket = 0; bucket < 2; bucket++) {
        must(rd_kafka_begin_transaction(writer));
        assert_int_equal(send_offset(bucket, 1, "", metadata), 0);
        must(rd_kafka_commit_transaction(writer, WAIT_MS));
    }
    int64_t forgotten = 1, renewed = 1;
    for (double end = seconds() + 180; forgotten >= 0 && seconds() < end;) {
        poll_records(member, names.input, 1, 10, NULL);
        must(rd_kafka_begin_transaction(writer));
        assert_int_equal(send_offset(1, 1, "", metadata), 0);
        must(rd_kafka_commit_transaction(writer, WAIT_MS));
        assert_int_equal(committed(0, WAIT_MS, &forgotten, NULL), 0);
        assert_int_equal(committed(1, WAIT_MS, &renewed, NULL), 0);
        assert_int_equal(renewed, 1);
    }
    assert_int_equal(forgotten, RD_KAFKA_OFFSET_INVALID);
}
