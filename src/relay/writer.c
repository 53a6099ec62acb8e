/* SPDX-License-Identifier: MIT */
/*
 * writer.c - produces records, and commits them with the positions that they came from.
 *
 * Nothing here waits for a single record. A commit waits for all of its channel, and then commits the
 * positions: in the same transaction, or, without transactions, after them.
 */
#include "kafka.h"

#include "../base/clock.h"

#include <errno.h>
#include <stdlib.h>

#define FLUSH_MS 10000  /* what is not acknowledged after this has failed */
#define COMMIT_MS 10000 /* for each step of a commit */
#define OPEN_MS 10000   /* for the first contact with the coordinator */
#define STOP_MS 3000    /* in place of each of these when the relay is to stop */

/* A clock that is wrong by more makes deliveries early or late; and so it is said. */
#define SKEW_MAX_MS 2000

static struct htw__writer *writer_of(struct htw__kafka *self, enum htw__channel channel) {
    /* Without transactions the channels differ in nothing but what is flushed. */
    return &self->writers[channel == HTW__CHANNEL_DELIVER];
}

static bool has_transactions(const struct htw__kafka *self) {
    return !self->options.at_least_once;
}

static int limit_ms(const struct htw__kafka *self, int usual_ms) {
    return htw__kafka_is_stopping(self) ? STOP_MS : usual_ms;
}

static void forget_records(struct htw__writer *writer) {
    writer->count = writer->acknowledged = writer->bytes = 0;
    writer->failure = RD_KAFKA_RESP_ERR_NO_ERROR;
}

/* ---- handles */

static void close_writer(struct htw__writer *writer) {
    if (writer->producer != NULL) {
        rd_kafka_purge(writer->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(writer->producer, 100);
        rd_kafka_destroy(writer->producer);
    }
    writer->producer = NULL;
    writer->in_transaction = false;
    forget_records(writer);
}

/* Returns 0; -EAGAIN: it does not work now; -EIO: it never will. */
static int open_writer(struct htw__kafka *self, struct htw__writer *writer, enum htw__client kind) {
    writer->producer = htw__client_create(self, kind, self->owner);
    if (writer->producer == NULL)
        return -EIO;
    htw__topics_ask_again(self);
    htw__topics_meet(self, writer->producer);
    if (!has_transactions(self))
        return 0;
    rd_kafka_error_t *error = rd_kafka_init_transactions(writer->producer, limit_ms(self, OPEN_MS));
    if (error == NULL)
        return 0;
    bool is_retriable = rd_kafka_error_is_retriable(error) != 0;
    if (is_retriable)
        htw__kafka_say(self, "transactions: %s", rd_kafka_error_string(error));
    else
        htw__kafka_fail(self, "cannot use transactions: %s", rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    close_writer(writer);
    return is_retriable ? -EAGAIN : -EIO;
}

int htw__writers_open(struct htw__kafka *self) {
    int error = open_writer(self, &self->writers[0], HTW__CLIENT_FILE);
    return error != 0 ? error : open_writer(self, &self->writers[1], HTW__CLIENT_DELIVER);
}

void htw__writers_close(struct htw__kafka *self) {
    for (int i = 0; i < 2; i++) {
        close_writer(&self->writers[i]);
        free(self->writers[i].records);
        self->writers[i].records = NULL;
    }
}

/* ---- producing */

static int begin(struct htw__kafka *self, struct htw__writer *writer) {
    if (!has_transactions(self) || writer->in_transaction)
        return 0;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(writer->producer);
    if (error == NULL) {
        writer->in_transaction = true;
        return 0;
    }
    rd_kafka_error_destroy(error);
    self->must_recover = true;
    return -EAGAIN;
}

static rd_kafka_headers_t *make_headers(const struct htw__record *record) {
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++)
        rd_kafka_header_add(headers, record->headers[i].name.bytes,
                            (ssize_t)record->headers[i].name.size, record->headers[i].value.bytes,
                            (ssize_t)record->headers[i].value.size);
    return headers;
}

/* Remembers what was produced; its number is what librdkafka gives back. 0: no memory. */
static size_t remember(struct htw__writer *writer, const struct htw__outgoing *outgoing) {
    if (writer->count == writer->room) {
        size_t room = writer->room == 0 ? 1024 : writer->room * 2;
        struct htw__unacknowledged *records = realloc(writer->records, room * sizeof(*records));
        if (records == NULL)
            return 0;
        writer->records = records;
        writer->room = room;
    }
    writer->records[writer->count++] = (struct htw__unacknowledged) {
        .is_bucket = outgoing->topic == NULL,
        .is_letter = outgoing->is_letter,
        .bucket = outgoing->bucket,
        .from = outgoing->from,
        .from_offset = outgoing->from_offset,
    };
    return writer->count;
}

static int produce(struct htw__kafka *self, struct htw__writer *writer, const char *topic,
                   int32_t partition, const struct htw__outgoing *outgoing) {
    const struct htw__record *record = &outgoing->record;
    size_t number = remember(writer, outgoing);
    if (number == 0)
        return -ENOMEM;
    for (;;) {
        rd_kafka_headers_t *headers = make_headers(record);
        const rd_kafka_vu_t parts[] = {
            { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic },
            { .vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition },
            { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
            { .vtype = RD_KAFKA_VTYPE_KEY,
              .u.mem = { (void *)(uintptr_t)record->key.bytes, record->key.size } },
            { .vtype = RD_KAFKA_VTYPE_VALUE,
              .u.mem = { (void *)(uintptr_t)record->value.bytes, record->value.size } },
            { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
            { .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = (void *)(uintptr_t)number },
        };
        rd_kafka_error_t *failure =
            rd_kafka_produceva(writer->producer, parts, sizeof(parts) / sizeof(parts[0]));
        rd_kafka_resp_err_t error = rd_kafka_error_code(failure); /* of NULL: none */
        if (failure != NULL)
            rd_kafka_error_destroy(failure);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
            writer->bytes += record->key.size + record->value.size;
            return 0;
        }
        rd_kafka_headers_destroy(headers);
        if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL) {
            rd_kafka_poll(writer->producer, 10);
            continue;
        }
        writer->count--;
        if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
            return -EMSGSIZE;
        self->must_recover = true;
        return -EAGAIN;
    }
}

int htw__writer_publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    struct htw__kafka *self = HTW_CONTAINER_OF(transport, struct htw__kafka, transport);
    struct htw__writer *writer = writer_of(self, htw__channel_of(outgoing->from));
    struct htw__destination *destination = NULL;
    const char *topic = outgoing->topic;
    int32_t partition = outgoing->partition;
    if (topic == NULL) {
        topic = htw__topics_name(self, outgoing->bucket);
        partition = htw__topics_partition(self, outgoing->bucket);
    } else {
        int32_t count = htw__topics_destination(self, topic, &destination);
        if (count < 0)
            return count;
        if (count == 0 || partition >= count)
            return -ENOENT;
    }
    int error = begin(self, writer);
    if (error == 0)
        error = produce(self, writer, topic, partition < 0 ? RD_KAFKA_PARTITION_UA : partition,
                        outgoing);
    if (error == 0 && destination != NULL && has_transactions(self))
        htw__trust_note(self, destination, htw__channel_of(outgoing->from));
    return error;
}

/* ---- acknowledgements */

/* The broker writes its own time into the records of level topics, and answers with it. */
static void check_clock(struct htw__kafka *self, const rd_kafka_message_t *message) {
    rd_kafka_timestamp_type_t type;
    int64_t now_ms = htw__clock_realtime_ns() / 1000000;
    if (now_ms - self->skew_checked_ms < 1000 && now_ms >= self->skew_checked_ms)
        return;
    int64_t broker_ms = rd_kafka_message_timestamp(message, &type);
    if (type != RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME || broker_ms < 0)
        return;
    self->skew_checked_ms = now_ms;
    int64_t skew_ms = now_ms - broker_ms;
    /* An acknowledgement may be late. So one way of being wrong shows at once, the other if it is gross. */
    bool is_wrong = skew_ms < -SKEW_MAX_MS || skew_ms > SKEW_MAX_MS + FLUSH_MS;
    if (is_wrong && !self->skew_was_told)
        htw__kafka_say(self, "the clocks of this machine and of the broker differ by %.1f s",
                       (double)skew_ms / 1000);
    self->skew_was_told = is_wrong;
}

void htw__writer_acknowledge(rd_kafka_t *producer, const rd_kafka_message_t *message,
                             void *opaque) {
    struct htw__kafka *self = opaque;
    struct htw__writer *writer = &self->writers[producer == self->writers[1].producer];
    size_t number = (size_t)(uintptr_t)message->_private;
    if (number == 0 || number > writer->count)
        return;
    const struct htw__unacknowledged *record = &writer->records[number - 1];
    writer->acknowledged++;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (record->is_bucket) {
            htw__relay_published(&self->relay, record->bucket, message->offset);
            check_clock(self, message);
        }
    } else if (writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR) {
        writer->failure = message->err;
        writer->failed = *record;
        if (!record->is_bucket)
            htw__topics_refuse(self, rd_kafka_topic_name(message->rkt), message->err);
    }
}

static bool is_too_large(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
}

/* Why a record will fail again whatever is done; NULL: it may succeed another time. */
static const char *permanent_reason(rd_kafka_resp_err_t error) {
    switch ((int)error) { /* of more than a hundred */
    case RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE:
    case RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE:
        return "the record is too large for the topic";
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return "the relay may not write to the topic";
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC:
    case RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION:
        return "the topic or its partition does not exist";
    case RD_KAFKA_RESP_ERR_INVALID_RECORD:
    case RD_KAFKA_RESP_ERR_POLICY_VIOLATION:
        return "the topic refuses the record";
    default:
        return NULL;
    }
}

/* What failed becomes a dead letter the next time; one that was refused becomes smaller, or waits. A bucket
 * must take it then. */
static void judge_failure(struct htw__kafka *self, struct htw__writer *writer) {
    const char *reason = permanent_reason(writer->failure);
    const struct htw__unacknowledged *failed = &writer->failed;
    if (reason == NULL) {
        htw__topics_ask_again(self); /* it may have been deleted */
        return;
    }
    const struct htw__refusal refusal = {
        .from = failed->from,
        .offset = failed->from_offset,
        .reason = reason,
        .is_letter = failed->is_letter,
        .is_too_large = is_too_large(writer->failure),
    };
    if (failed->is_letter)
        htw__kafka_say(self, "%s: a dead letter was refused: %s", self->options.relay.dead_letters,
                       reason);
    if (htw__relay_refused(&self->relay, &refusal) == -EEXIST)
        htw__kafka_fail(self, "%s: %s", htw__topics_name(self, failed->bucket), reason);
}

void htw__writers_poll(struct htw__kafka *self) {
    for (int i = 0; i < 2; i++) {
        struct htw__writer *writer = &self->writers[i];
        if (writer->producer != NULL)
            rd_kafka_poll(writer->producer, 0);
        if (writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR || self->must_recover)
            continue;
        judge_failure(self, writer);
        self->must_recover = true;
    }
}

/* ---- commits */

static int give_up(struct htw__kafka *self) {
    self->must_recover = true;
    self->relay.stats.failed_commits++;
    return -EAGAIN;
}

static int flush(struct htw__kafka *self, struct htw__writer *writer) {
    int64_t begin_ms = htw__clock_monotonic_ns() / 1000000;
    while (writer->acknowledged < writer->count && writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR &&
           !self->has_failed) {
        if (htw__clock_monotonic_ns() / 1000000 - begin_ms > limit_ms(self, FLUSH_MS))
            return give_up(self);
        rd_kafka_flush(writer->producer, 100);
    }
    if (writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR)
        return self->has_failed ? -EAGAIN : 0;
    judge_failure(self, writer);
    return give_up(self);
}

bool htw__writers_are_acknowledged(struct htw__kafka *self, enum htw__channel channel) {
    struct htw__writer *writer = writer_of(self, channel);
    if (writer->acknowledged < writer->count && writer->failure == RD_KAFKA_RESP_ERR_NO_ERROR)
        rd_kafka_flush(writer->producer, 1); /* without regard to linger.ms */
    return writer->acknowledged >= writer->count || writer->failure != RD_KAFKA_RESP_ERR_NO_ERROR;
}

static rd_kafka_topic_partition_list_t *list_positions(const struct htw__kafka *self) {
    const struct htw__relay *relay = &self->relay;
    rd_kafka_topic_partition_list_t *list =
        rd_kafka_topic_partition_list_new((int)relay->position_count);
    for (size_t i = 0; i < relay->position_count; i++) {
        const struct htw__position *position = &relay->positions[i];
        rd_kafka_topic_partition_t *added =
            rd_kafka_topic_partition_list_add(list, htw__topics_name(self, position->source),
                                              htw__topics_partition(self, position->source));
        size_t size = 0;
        while (position->metadata[size] != '\0')
            size++;
        added->offset = position->offset;
        if (size > 0 && (added->metadata = malloc(size)) != NULL) { /* librdkafka frees it */
            for (size_t at = 0; at < size; at++)
                ((char *)added->metadata)[at] = position->metadata[at];
            added->metadata_size = size;
        }
    }
    return list;
}

/* Does a step of a transaction until it succeeds, or cannot any more. */
typedef rd_kafka_error_t *step(struct htw__kafka *self, struct htw__writer *writer,
                               const rd_kafka_topic_partition_list_t *list);

static rd_kafka_error_t *send_offsets(struct htw__kafka *self, struct htw__writer *writer,
                                      const rd_kafka_topic_partition_list_t *list) {
    return rd_kafka_send_offsets_to_transaction(writer->producer, list, self->member,
                                                limit_ms(self, COMMIT_MS));
}

static rd_kafka_error_t *commit(struct htw__kafka *self, struct htw__writer *writer,
                                const rd_kafka_topic_partition_list_t *list) {
    (void)list;
    return rd_kafka_commit_transaction(writer->producer, limit_ms(self, COMMIT_MS));
}

static int do_step(struct htw__kafka *self, struct htw__writer *writer, step *one,
                   const rd_kafka_topic_partition_list_t *list) {
    for (int attempt = 0;; attempt++) {
        rd_kafka_error_t *error = one(self, writer, list);
        if (error == NULL)
            return 0;
        bool again =
            rd_kafka_error_is_retriable(error) != 0 && attempt < 2 && !htw__kafka_is_stopping(self);
        rd_kafka_error_destroy(error);
        if (!again)
            return give_up(self);
    }
}

static int commit_list(struct htw__kafka *self, struct htw__writer *writer,
                       const rd_kafka_topic_partition_list_t *list) {
    if (self->member == NULL)
        return give_up(self);
    if (!has_transactions(self))
        return rd_kafka_commit(self->group, list, 0) == RD_KAFKA_RESP_ERR_NO_ERROR ? 0
                                                                                   : give_up(self);
    int error = begin(self, writer);
    if (error == 0)
        error = do_step(self, writer, send_offsets, list);
    if (error == 0)
        error = do_step(self, writer, commit, list);
    if (error == 0)
        writer->in_transaction = false;
    return error;
}

int htw__writers_commit(struct htw__kafka *self, enum htw__channel channel) {
    struct htw__writer *writer = writer_of(self, channel);
    writer->last_commit_ms = htw__clock_monotonic_ns() / 1000000;
    if (self->must_recover || self->has_failed)
        return -EAGAIN;
    int error = flush(self, writer);
    if (error != 0)
        return error;
    if (htw__relay_positions(&self->relay, channel) != 0)
        return give_up(self);
    if (self->relay.position_count > 0) {
        rd_kafka_topic_partition_list_t *list = list_positions(self);
        error = commit_list(self, writer, list);
        rd_kafka_topic_partition_list_destroy(list);
        if (error != 0)
            return error;
        self->relay.stats.commits++;
        htw__trust_committed(self, channel);
        htw__relay_committed(&self->relay, channel);
        htw__trim_note(self);
    }
    forget_records(writer);
    return 0;
}

/* Whether Kafka has refused to let the transaction write to a topic. librdkafka says what a transaction has
 * failed by when another one is begun, which does nothing in this state. */
static bool is_refused(const struct htw__writer *writer) {
    if (writer->producer == NULL || !writer->in_transaction)
        return false;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(writer->producer);
    bool is = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    if (error != NULL)
        rd_kafka_error_destroy(error);
    return is;
}

/* A producer whose error is fatal is replaced. */
static int abort_writer(struct htw__kafka *self, enum htw__channel channel, enum htw__client kind) {
    struct htw__writer *writer = writer_of(self, channel);
    htw__trust_aborted(self, channel, is_refused(writer));
    if (writer->producer == NULL)
        return open_writer(self, writer, kind);
    bool is_usable = rd_kafka_fatal_error(writer->producer, NULL, 0) == RD_KAFKA_RESP_ERR_NO_ERROR;
    if (is_usable && writer->in_transaction) {
        rd_kafka_error_t *error =
            rd_kafka_abort_transaction(writer->producer, limit_ms(self, COMMIT_MS));
        is_usable = error == NULL;
        if (error != NULL)
            rd_kafka_error_destroy(error);
    }
    writer->in_transaction = false;
    if (is_usable && has_transactions(self)) {
        rd_kafka_poll(writer->producer, 0); /* acknowledgements of what was aborted */
        forget_records(writer);
        return 0;
    }
    close_writer(writer);
    return open_writer(self, writer, kind);
}

int htw__writers_abort(struct htw__kafka *self) {
    int error = abort_writer(self, HTW__CHANNEL_FILE, HTW__CLIENT_FILE);
    return error != 0 ? error : abort_writer(self, HTW__CHANNEL_DELIVER, HTW__CLIENT_DELIVER);
}
