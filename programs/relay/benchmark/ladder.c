/* SPDX-License-Identifier: MIT */
/*
 * ladder.c - what is built most often in place of a relay: a topic for each of a few fixed delays.
 *
 * Records of one topic are due in the order in which they were sent. So a program that delivers them looks at the
 * head of each partition, and waits until that is due. What was read ahead of its time stays in the
 * queues of librdkafka, which are bounded. Delivery, positions and commits are those of the relay: a
 * transaction every 100 ms, or none.
 */
#include "options.h"

#include "../../../benchmarks/common/clock.h"
#include "../../../benchmarks/common/report.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define PARTITIONS_MAX 64
#define AT_ONCE 512
#define COMMIT_MS 100
#define PATIENCE_MS 10000

struct partition {
    rd_kafka_queue_t *queue;
    uint64_t delay_ms;
    rd_kafka_message_t *messages[AT_ONCE]; /* read, and not delivered: those from `next` on */
    size_t count, next;
    int entry; /* in the list of positions */
};

struct ladder {
    const struct options *options;
    rd_kafka_t *consumer, *producer;
    rd_kafka_topic_t *to;
    rd_kafka_topic_partition_list_t *positions;
    struct partition partitions[PARTITIONS_MAX];
    size_t partition_count;
    uint64_t delivered;
    bool is_dirty;
};

static void check(rd_kafka_error_t *error) {
    if (error != NULL)
        report_failure("%s", rd_kafka_error_string(error));
}

static int partitions_of(rd_kafka_t *client, const char *name) {
    const struct rd_kafka_metadata *metadata;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    if (rd_kafka_metadata(client, 0, topic, &metadata, PATIENCE_MS) != RD_KAFKA_RESP_ERR_NO_ERROR ||
        metadata->topic_cnt != 1 || metadata->topics[0].partition_cnt == 0)
        report_failure("there is no topic %s", name);
    int count = metadata->topics[0].partition_cnt;
    rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return count;
}

static void add_partition(struct ladder *self, const char *name, int number, uint64_t delay_ms) {
    if (self->partition_count == PARTITIONS_MAX)
        report_failure("too many partitions");
    struct partition *partition = &self->partitions[self->partition_count++];
    partition->delay_ms = delay_ms;
    partition->entry = self->positions->cnt;
    rd_kafka_topic_partition_list_add(self->positions, name, number)->offset = 0;
    partition->queue = rd_kafka_queue_get_partition(self->consumer, name, number);
    rd_kafka_queue_forward(partition->queue, NULL);
}

static void open_all(struct ladder *self) {
    const struct options *options = self->options;
    const char *const reads[][2] = { { "group.id", options->topic },
                                     { "enable.auto.commit", "false" },
                                     { "auto.offset.reset", "earliest" },
                                     { "isolation.level", "read_committed" },
                                     { "fetch.wait.max.ms", "20" },
                                     { "queued.max.messages.kbytes", "4096" },
                                     { NULL, NULL } };
    const char *const writes[][2] = { { "enable.idempotence", "true" },
                                      { "linger.ms", "2" },
                                      { options->at_least_once ? NULL : "transactional.id",
                                        options->topic },
                                      { NULL, NULL } };
    self->consumer = client_open(options, RD_KAFKA_CONSUMER, reads);
    self->producer = client_open(options, RD_KAFKA_PRODUCER, writes);
    self->to = rd_kafka_topic_new(self->producer, self->options->to, NULL);
    self->positions = rd_kafka_topic_partition_list_new(PARTITIONS_MAX);
    for (uint64_t step = 0; step < self->options->step_count; step++) {
        char name[256];
        options_step_topic(self->options, step, name);
        for (int i = 0, count = partitions_of(self->consumer, name); i < count; i++)
            add_partition(self, name, i, self->options->steps_ms[step]);
    }
    if (rd_kafka_assign(self->consumer, self->positions) != RD_KAFKA_RESP_ERR_NO_ERROR)
        report_failure("cannot read the topics");
    if (!self->options->at_least_once) {
        check(rd_kafka_init_transactions(self->producer, PATIENCE_MS));
        check(rd_kafka_begin_transaction(self->producer));
    }
}

/* The head of a partition; NULL: there is none now. */
static rd_kafka_message_t *head(struct partition *partition) {
    if (partition->next == partition->count) {
        ssize_t count =
            rd_kafka_consume_batch_queue(partition->queue, 0, partition->messages, AT_ONCE);
        partition->count = count > 0 ? (size_t)count : 0;
        partition->next = 0;
    }
    return partition->next < partition->count ? partition->messages[partition->next] : NULL;
}

static void deliver(struct ladder *self, struct partition *partition, rd_kafka_message_t *message) {
    const rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_RKT, .u.rkt = self->to },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY | RD_KAFKA_MSG_F_BLOCK },
        { .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { message->key, message->key_len } },
        { .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { message->payload, message->len } },
    };
    check(rd_kafka_produceva(self->producer, parts, sizeof(parts) / sizeof(parts[0])));
    self->positions->elems[partition->entry].offset = message->offset + 1;
    self->delivered++;
    self->is_dirty = true;
}

/* Delivers what is due of a partition; returns how much that was. */
static size_t pass_on(struct ladder *self, struct partition *partition) {
    rd_kafka_message_t *message;
    size_t count = 0;
    for (; count < AT_ONCE && (message = head(partition)) != NULL; count++) {
        rd_kafka_timestamp_type_t type;
        if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR)
            report_failure("%s", rd_kafka_message_errstr(message));
        if (rd_kafka_message_timestamp(message, &type) + (int64_t)partition->delay_ms >
            clock_wall_ns() / 1000000)
            break;
        deliver(self, partition, message);
        rd_kafka_message_destroy(message);
        partition->next++;
    }
    return count;
}

static void commit(struct ladder *self) {
    if (!self->is_dirty)
        return;
    self->is_dirty = false;
    if (rd_kafka_flush(self->producer, PATIENCE_MS) != RD_KAFKA_RESP_ERR_NO_ERROR)
        report_failure("records were not taken");
    if (self->options->at_least_once) {
        rd_kafka_commit(self->consumer, self->positions, 1);
        return;
    }
    rd_kafka_consumer_group_metadata_t *group = rd_kafka_consumer_group_metadata(self->consumer);
    check(
        rd_kafka_send_offsets_to_transaction(self->producer, self->positions, group, PATIENCE_MS));
    check(rd_kafka_commit_transaction(self->producer, PATIENCE_MS));
    check(rd_kafka_begin_transaction(self->producer));
    rd_kafka_consumer_group_metadata_destroy(group);
}

static void run(const struct options *options) {
    static struct ladder self;
    struct pollfd input = { .fd = 0, .events = POLLIN };
    if (options->step_count == 0 || options->to == NULL)
        report_failure("--steps and --to are missing");
    self.options = options;
    open_all(&self);
    int64_t committed_ns = clock_now_ns();
    while (poll(&input, 1, 0) == 0) {
        size_t count = 0;
        for (size_t i = 0; i < self.partition_count; i++)
            count += pass_on(&self, &self.partitions[i]);
        rd_kafka_poll(self.producer, 0);
        rd_kafka_message_t *event = rd_kafka_consumer_poll(self.consumer, 0);
        if (event != NULL)
            rd_kafka_message_destroy(event);
        if (clock_now_ns() - committed_ns >= COMMIT_MS * INT64_C(1000000)) {
            committed_ns = clock_now_ns();
            commit(&self);
        }
        if (count == 0)
            clock_sleep_until(clock_now_ns() + 1000000);
    }
    commit(&self);
    report_count("delivered", self.delivered);
}

const struct workload workload_ladder = {
    .name = "ladder",
    .about = "deliver what waits in topics of a fixed delay each",
    .run = run,
};
