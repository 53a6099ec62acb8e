/* SPDX-License-Identifier: MIT */
/*
 * acknowledge.c - what became of the records that were produced: acknowledged, refused, or not yet known.
 *
 * A record that was refused aborts all of its transaction. Whether it will be refused again decides what it
 * is the next time: a dead letter, or what it was.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"

#define LATE_MS 10000 /* of acknowledgements: what is not there then has failed */

/* A clock that is wrong by more makes deliveries early or late; and so it is said. */
#define SKEW_MAX_MS 2000

/* The broker writes its own time into the records of level topics, and answers with it. */
static void check_clock(struct htw__kafka *self, const rd_kafka_message_t *message) {
    rd_kafka_timestamp_type_t type;
    int64_t now_ms = htw__clock_realtime_ms();
    int64_t broker_ms = rd_kafka_message_timestamp(message, &type);
    if (type != RD_KAFKA_TIMESTAMP_LOG_APPEND_TIME || broker_ms < 0)
        return;
    int64_t skew_ms = now_ms - broker_ms;
    /* An acknowledgement may be late. So one way of being wrong shows at once, the other if it is gross. */
    bool is_wrong = skew_ms < -SKEW_MAX_MS || skew_ms > SKEW_MAX_MS + LATE_MS;
    if (is_wrong && !self->is_skewed)
        htw__kafka_say(self, HTW__LOG_WARNING,
                       "the clocks of this machine and of the broker differ by %.1f s",
                       (double)skew_ms / 1000);
    self->is_skewed = is_wrong;
}

void htw__acknowledge(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    struct htw__kafka *self = opaque;
    struct htw__writer *writer = &self->writers[producer == self->writers[1].producer];
    size_t number = (size_t)(uintptr_t)message->_private;
    if (number == 0 || number > writer->count)
        return;
    const struct htw__unacknowledged *record = &writer->records[number - 1];
    writer->acknowledged++;
    writer->in_flight -= record->size < writer->in_flight ? record->size : writer->in_flight;
    if (message->err == 0) {
        if (record->is_bucket) {
            htw__relay_published(&self->relay, record->bucket, message->offset);
            check_clock(self, message);
        }
    } else if (writer->failure == 0) {
        writer->failure = message->err;
        writer->failed = *record;
        if (!record->is_bucket)
            htw__directory_refused(&self->directory, rd_kafka_topic_name(message->rkt),
                                   message->err);
    }
}

static bool is_too_large(rd_kafka_resp_err_t error) {
    return error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE ||
           error == RD_KAFKA_RESP_ERR_RECORD_LIST_TOO_LARGE;
}

/* Why a record will fail again whatever is done; NULL: it may succeed another time. */
static const char *permanent_reason(rd_kafka_resp_err_t error) {
    if (is_too_large(error))
        return "the record is too large for the topic";
    switch ((int)error) { /* of more than a hundred */
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

/* Whether an error says nothing of the record: what librdkafka says itself, and what brokers say of themselves and of
 * producers. (Where a broker is not the leader, or lacks replicas, librdkafka tries again until a message times out.) */
static bool is_of_transport(rd_kafka_resp_err_t error) {
    switch ((int)error) { /* of more than a hundred */
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_FENCED_LEADER_EPOCH:
    case RD_KAFKA_RESP_ERR_OUT_OF_ORDER_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_DUPLICATE_SEQUENCE_NUMBER:
    case RD_KAFKA_RESP_ERR_UNKNOWN_PRODUCER_ID:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_ID_MAPPING:
    case RD_KAFKA_RESP_ERR_INVALID_PRODUCER_EPOCH:
    case RD_KAFKA_RESP_ERR_PRODUCER_FENCED:
    case RD_KAFKA_RESP_ERR_INVALID_TXN_STATE:
    case RD_KAFKA_RESP_ERR_CONCURRENT_TRANSACTIONS:
    case RD_KAFKA_RESP_ERR_CLUSTER_AUTHORIZATION_FAILED:
    case RD_KAFKA_RESP_ERR_TRANSACTIONAL_ID_AUTHORIZATION_FAILED:
        return true;
    default:
        return error < RD_KAFKA_RESP_ERR_UNKNOWN;
    }
}

/* What failed becomes a dead letter the next time, or where another time may do after some; one that was refused becomes
 * smaller, or waits. A bucket must take it then. */
static void judge_failure(struct htw__kafka *self, struct htw__writer *writer) {
    const char *reason = permanent_reason(writer->failure);
    const struct htw__unacknowledged *failed = &writer->failed;
    htw__kafka_recover(self, rd_kafka_err2str(writer->failure));
    if (reason == NULL)
        htw__directory_doubt(&self->directory); /* it may have been deleted */
    if (reason == NULL &&
        (failed->from.level == HTW__RELAY_IDS || is_of_transport(writer->failure)))
        return;
    const struct htw__refusal refusal = {
        .from = failed->from,
        .offset = failed->from_offset,
        .reason = reason != NULL ? reason : "the topic refused the record again and again",
        .is_letter = failed->is_letter,
        .is_too_large = is_too_large(writer->failure),
        .is_bucket = failed->is_bucket,
    };
    if (failed->is_letter)
        htw__kafka_say(self, HTW__LOG_WARNING, "%s: a dead letter was refused: %s",
                       self->options.relay.dead_letters, rd_kafka_err2str(writer->failure));
    if (!(reason != NULL ? htw__relay_refused(&self->relay, &refusal)
                         : htw__relay_failed(&self->relay, &refusal)))
        htw__kafka_fail(self, "%s: %s", self->topics.names[failed->bucket.level], refusal.reason);
}

void htw__acknowledge_poll(struct htw__kafka *self) {
    for (int i = 0; i < 2; i++) {
        struct htw__writer *writer = &self->writers[i];
        if (writer->producer != NULL)
            rd_kafka_poll(writer->producer, 0);
        if (writer->failure == 0 || htw__kafka_must_recover(self))
            continue;
        judge_failure(self, writer);
    }
}

static bool is_complete(const struct htw__writer *writer) {
    return writer->acknowledged >= writer->count || writer->failure != 0;
}

bool htw__acknowledge_is_complete(struct htw__kafka *self, enum htw__channel channel) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    if (!is_complete(writer))
        rd_kafka_flush(writer->producer, 1); /* without regard to linger.ms */
    return is_complete(writer);
}

bool htw__acknowledge_await(struct htw__kafka *self, enum htw__channel channel, int limit_ms) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    int64_t begin_ms = htw__clock_monotonic_ms();
    while (!is_complete(writer) && !self->has_failed) {
        if (htw__clock_monotonic_ms() - begin_ms >= htw__kafka_limit_ms(self, limit_ms))
            return false;
        rd_kafka_flush(writer->producer, 100);
    }
    if (writer->failure != 0)
        judge_failure(self, writer);
    return writer->failure == 0 && !self->has_failed;
}
