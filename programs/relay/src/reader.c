/* SPDX-License-Identifier: MIT */
/* reader.c - reads the input and the buckets. */
#include "kafka.h"

#include "memory.h"

/* So many records are queued at most, as librdkafka has it (queued.min.messages). */
#define QUEUE_MAX 100000

static struct htw__kafka *kafka_of(struct htw__transport *transport) {
    return HTW_CONTAINER_OF(transport, struct htw__kafka, transport);
}

static void change(struct htw__kafka *self, struct htw__source bucket, int64_t offset,
                   bool is_open) {
    bool is_index = bucket.level == HTW__RELAY_IDS;
    rd_kafka_t *reader = self->readers[bucket.level > 0 && !is_index];
    rd_kafka_topic_partition_list_t *list =
        htw__topics_list(self, bucket, is_index ? RD_KAFKA_OFFSET_BEGINNING : offset);
    rd_kafka_error_t *error = is_open ? rd_kafka_incremental_assign(reader, list)
                                      : rd_kafka_incremental_unassign(reader, list);
    if (error != NULL && is_open)
        htw__kafka_fail(self, "cannot read %s: %s", self->topics.names[bucket.level],
                        rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    rd_kafka_topic_partition_list_destroy(list);
}

void htw__reader_close(struct htw__transport *transport, struct htw__source bucket) {
    change(kafka_of(transport), bucket, 0, false);
}

/* A bucket that is open already is read again from another offset. */
void htw__reader_open(struct htw__transport *transport, struct htw__source bucket, int64_t offset) {
    struct htw__kafka *self = kafka_of(transport);
    change(self, bucket, 0, false);
    change(self, bucket, offset, true);
}

static struct htw__bytes bytes_of(const void *bytes, size_t size) {
    return (struct htw__bytes) { bytes, bytes == NULL ? 0 : size };
}

/* Lists the headers of a message in self->view.headers. */
static void read_headers(struct htw__kafka *self, const rd_kafka_message_t *message,
                         struct htw__relay_record *record) {
    rd_kafka_headers_t *headers;
    rd_kafka_resp_err_t error = rd_kafka_message_headers(message, &headers);
    record->has_unread_headers = error != 0 && error != RD_KAFKA_RESP_ERR__NOENT;
    if (error != 0)
        return;
    size_t count = rd_kafka_header_cnt(headers);
    self->view.headers = htw__memory_reserve(self->view.headers, count, &self->view.room,
                                             sizeof(*self->view.headers));
    for (size_t i = 0; i < count; i++) {
        const char *name;
        const void *value;
        size_t size;
        if (rd_kafka_header_get_all(headers, i, &name, &value, &size) != 0)
            break;
        self->view.headers[record->header_count++] =
            (struct htw__header) { htw__bytes_of(name), bytes_of(value, size) };
    }
    record->headers = self->view.headers;
}

struct htw__relay_record htw__reader_view(struct htw__kafka *self,
                                          const rd_kafka_message_t *message) {
    rd_kafka_timestamp_type_t type;
    int64_t timestamp_ms = rd_kafka_message_timestamp(message, &type);
    struct htw__relay_record record = {
        .offset = message->offset,
        .timestamp_ms = type == RD_KAFKA_TIMESTAMP_NOT_AVAILABLE ? -1 : timestamp_ms,
        .key = bytes_of(message->key, message->key_len),
        .value = bytes_of(message->payload, message->len),
    };
    read_headers(self, message, &record);
    return record;
}

/* Errors of partitions. Those of connections mend themselves, and librdkafka tells them elsewhere. */
static void note_error(struct htw__kafka *self, const rd_kafka_message_t *message) {
    const char *topic = message->rkt == NULL ? "?" : rd_kafka_topic_name(message->rkt);
    switch ((int)message->err) { /* of more than a hundred */
    case RD_KAFKA_RESP_ERR__AUTO_OFFSET_RESET:
    case RD_KAFKA_RESP_ERR_OFFSET_OUT_OF_RANGE:
        /* Records may be lost. But a member that does not know yet that it has lost its stripes sees the
         * same error, when its successor deletes what it has read. The take-over tells the two apart: it
         * compares the committed positions with what is there. */
    case RD_KAFKA_RESP_ERR__MAX_POLL_EXCEEDED:
        htw__kafka_recover(self, rd_kafka_err2str(message->err));
        break;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
        htw__kafka_fail(self, "%s: %s", topic, rd_kafka_err2str(message->err));
        break;
    default:
        break;
    }
}

static int pass(struct htw__kafka *self, const rd_kafka_message_t *message) {
    struct htw__source source;
    bool is_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (message->err != 0 && !is_end)
        note_error(self, message);
    if ((message->err != 0 && !is_end) ||
        !htw__topics_source(self, rd_kafka_topic_name(message->rkt), message->partition, &source))
        return 0;
    if (is_end) {
        htw__relay_reached(&self->relay, source, message->offset);
        return 0;
    }
    struct htw__relay_record record = htw__reader_view(self, message);
    return htw__relay_take(&self->relay, source, &record);
}

void htw__reader_resume(rd_kafka_t *reader, rd_kafka_queue_t *queue, bool *was_full) {
    rd_kafka_topic_partition_list_t *list;
    size_t length = rd_kafka_queue_length(queue);
    *was_full |= length > QUEUE_MAX / 2;
    if (!*was_full || length > 0 || rd_kafka_assignment(reader, &list) != 0)
        return;
    *was_full = false;
    (void)rd_kafka_position(reader, list);
    for (int i = list->cnt - 1; i >= 0; i--)
        if (list->elems[i].offset < 0) /* nothing has come yet */
            rd_kafka_topic_partition_list_del_by_idx(list, i);
    rd_kafka_error_destroy(rd_kafka_seek_partitions(reader, list, 0));
    rd_kafka_topic_partition_list_destroy(list);
}

size_t htw__reader_poll(struct htw__kafka *self, rd_kafka_queue_t *queue, size_t max) {
    rd_kafka_message_t *messages[512];
    size_t taken = 0;
    while (taken < max && !self->has_failed && !htw__kafka_must_recover(self)) {
        size_t wanted = max - taken < 512 ? max - taken : 512;
        ssize_t count = rd_kafka_consume_batch_queue(queue, 0, messages, wanted);
        for (ssize_t i = 0; i < count; i++) {
            /* After a failure nothing is passed on: it would be of the time before. */
            int error =
                self->has_failed || htw__kafka_must_recover(self) ? 0 : pass(self, messages[i]);
            if (error != 0)
                htw__kafka_recover(self, "the relay failed on a record");
            rd_kafka_message_destroy(messages[i]);
        }
        if (count <= 0)
            break;
        taken += (size_t)count;
    }
    return taken;
}
