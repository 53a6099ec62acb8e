/* SPDX-License-Identifier: MIT */
/*
 * writer.c - the producers: opens them, produces records, and aborts transactions.
 *
 * Nothing here waits for a single record: a commit waits for all of its channel (commit.c).
 */
#include "kafka.h"

#include "../../../src/base/assert.h"
#include "../../../src/base/clock.h"
#include "memory.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>

#define ABORT_MS 10000
#define OPEN_MS 10000  /* until there is a coordinator, when a transaction has failed */
#define START_MS 60000 /* the same at the start: brokers may have been started just now, too */
#define STEP_MS 1000   /* how soon a wait notices that the relay is to stop */
#define PAUSE_MS 100   /* between two attempts, which librdkafka may refuse at once */
#define NOTICE_MS 5000 /* so long nothing is said of a wait */
#define ROOM_MS 10000  /* for acknowledgements that make room */

/* No record is produced while more than this is not acknowledged: librdkafka has limits of its own, which do not count
 * headers. */
#define IN_FLIGHT_MAX ((size_t)32 << 20)

void htw__writer_forget(struct htw__writer *writer, bool is_committed) {
    htw__trust_end(writer, is_committed);
    writer->count = writer->acknowledged = writer->bytes = writer->in_flight = 0;
    writer->failure = 0;
}

/* ---- handles */

static int number_of(const struct htw__kafka *self, const struct htw__writer *writer) {
    return (int)(writer - self->writers);
}

static void close_writer(struct htw__kafka *self, struct htw__writer *writer) {
    if (writer->producer != NULL) {
        htw__directory_leave(&self->directory, number_of(self, writer));
        rd_kafka_purge(writer->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(writer->producer, 100);
        rd_kafka_destroy(writer->producer);
    }
    writer->producer = NULL;
    writer->in_transaction = false;
    htw__writer_forget(writer, false);
}

/* Waits until there is a coordinator. NULL, or the last error. */
static rd_kafka_error_t *await_coordinator(struct htw__kafka *self, rd_kafka_t *producer,
                                           int limit_ms) {
    int64_t begin_ms = htw__clock_monotonic_ms();
    bool is_said = false;
    for (;;) {
        rd_kafka_error_t *error = rd_kafka_init_transactions(producer, STEP_MS);
        int64_t waited_ms = htw__clock_monotonic_ms() - begin_ms;
        if (error == NULL || rd_kafka_error_is_retriable(error) == 0 || waited_ms >= limit_ms ||
            htw__kafka_is_stopping(self))
            return error;
        rd_kafka_error_destroy(error);
        if (waited_ms >= NOTICE_MS && !is_said) {
            htw__kafka_say(self, HTW__LOG_WARNING, "waiting for the coordinator of transactions");
            is_said = true;
        }
        poll(NULL, 0, PAUSE_MS);
    }
}

/* Returns 0; -EAGAIN: it does not work now; -EIO: it never will. */
static int open_writer(struct htw__kafka *self, struct htw__writer *writer, enum htw__client kind,
                       int limit_ms) {
    writer->producer = htw__client_create(self, kind, self->owner);
    if (writer->producer == NULL)
        return -EIO;
    htw__topics_meet(self, writer->producer);
    if (self->options.at_least_once)
        return 0;
    rd_kafka_error_t *error = await_coordinator(self, writer->producer, limit_ms);
    if (error == NULL)
        return 0;
    bool is_retriable = rd_kafka_error_is_retriable(error) != 0;
    if (is_retriable && !htw__kafka_is_stopping(self))
        htw__kafka_say(self, HTW__LOG_WARNING, "transactions: %s", rd_kafka_error_string(error));
    else if (!is_retriable)
        htw__kafka_fail(self, "cannot use transactions: %s", rd_kafka_error_string(error));
    rd_kafka_error_destroy(error);
    close_writer(self, writer);
    return is_retriable ? -EAGAIN : -EIO;
}

int htw__writers_open(struct htw__kafka *self) {
    int error = open_writer(self, &self->writers[0], HTW__CLIENT_FILE, START_MS);
    return error != 0 ? error : open_writer(self, &self->writers[1], HTW__CLIENT_DELIVER, START_MS);
}

void htw__writers_close(struct htw__kafka *self) {
    for (int i = 0; i < 2; i++) {
        close_writer(self, &self->writers[i]);
        free(self->writers[i].records);
        self->writers[i].records = NULL;
    }
}

/* ---- producing */

int htw__writer_begin(struct htw__kafka *self, struct htw__writer *writer) {
    if (self->options.at_least_once || writer->in_transaction)
        return 0;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(writer->producer);
    if (error == NULL) {
        writer->in_transaction = true;
        return 0;
    }
    rd_kafka_error_destroy(error);
    htw__kafka_recover(self, "a transaction could not be begun");
    return -EAGAIN;
}

/* Remembers what was produced; its number is what librdkafka gives back. */
static size_t remember(struct htw__writer *writer, const struct htw__outgoing *outgoing) {
    writer->records = htw__memory_reserve(writer->records, writer->count + 1, &writer->room,
                                          sizeof(*writer->records));
    writer->records[writer->count++] = (struct htw__unacknowledged) {
        .is_bucket = outgoing->topic == NULL,
        .is_letter = outgoing->is_letter,
        .bucket = outgoing->bucket,
        .from = outgoing->from,
        .from_offset = outgoing->from_offset,
        .size = htw__record_copy_size(&outgoing->record),
    };
    return writer->count;
}

static bool await_room(struct htw__kafka *self, struct htw__writer *writer) {
    int64_t begin_ms = htw__clock_monotonic_ms();
    while (writer->in_flight > IN_FLIGHT_MAX && writer->failure == 0) {
        if (htw__clock_monotonic_ms() - begin_ms > htw__kafka_limit_ms(self, ROOM_MS))
            return false;
        rd_kafka_flush(writer->producer, 10); /* without regard to linger.ms */
    }
    return true;
}

static int produce(struct htw__kafka *self, struct htw__writer *writer, const char *topic,
                   int32_t partition, const struct htw__outgoing *outgoing) {
    if (!await_room(self, writer)) {
        htw__kafka_recover(self, "acknowledgements do not come");
        return -EAGAIN;
    }
    size_t number = remember(writer, outgoing);
    rd_kafka_resp_err_t error;
    while ((error = htw__client_produce(writer->producer, topic, partition, &outgoing->record,
                                        (void *)(uintptr_t)number)) ==
           RD_KAFKA_RESP_ERR__QUEUE_FULL)
        rd_kafka_poll(writer->producer, 10);
    if (error == 0) {
        writer->bytes += writer->records[number - 1].size;
        writer->in_flight += writer->records[number - 1].size;
        return 0;
    }
    writer->count--;
    if (error == RD_KAFKA_RESP_ERR_MSG_SIZE_TOO_LARGE)
        return -EMSGSIZE;
    if (outgoing->topic != NULL && (error == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC ||
                                    error == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION))
        return -ENOENT; /* it was deleted, and the directory does not know yet */
    htw__kafka_recover(self, rd_kafka_err2str(error));
    return -EAGAIN;
}

/* Finds a topic in the directory, and lets the writer's producer know it if it exists. */
static struct htw__destination *find_topic(struct htw__kafka *self, struct htw__writer *writer,
                                           const char *topic) {
    struct htw__destination *found = htw__directory_find(&self->directory, topic);
    if (found->partitions > 0 && writer->producer != NULL)
        htw__directory_introduce(found, number_of(self, writer), writer->producer);
    return found;
}

void htw__writer_expect(struct htw__transport *transport, const char *topic) {
    struct htw__kafka *self = HTW_CONTAINER_OF(transport, struct htw__kafka, transport);
    (void)find_topic(self, htw__writer_of(self, HTW__CHANNEL_DELIVER), topic);
}

int htw__writer_publish(struct htw__transport *transport, const struct htw__outgoing *outgoing) {
    struct htw__kafka *self = HTW_CONTAINER_OF(transport, struct htw__kafka, transport);
    struct htw__writer *writer = htw__writer_of(self, htw__channel_of(outgoing->from));
    struct htw__destination *destination = NULL;
    const char *topic = outgoing->topic;
    int32_t partition = outgoing->partition;
    if (topic == NULL) {
        topic = self->topics.names[outgoing->bucket.level];
        partition = htw__topics_partition(self, outgoing->bucket);
    } else {
        destination = find_topic(self, writer, topic);
        if (destination->partitions < 0)
            return destination->partitions == -EAGAIN ? -EINPROGRESS : destination->partitions;
        if (partition >= destination->partitions || destination->partitions == 0)
            return -ENOENT;
    }
    HTW_ASSERT(!writer->committer.is_in_flight); /* it would belong to that */
    int error = htw__writer_begin(self, writer);
    if (error == 0)
        error = produce(self, writer, topic, partition < 0 ? RD_KAFKA_PARTITION_UA : partition,
                        outgoing);
    if (error == 0 && destination != NULL && !self->options.at_least_once)
        htw__trust_note(writer, destination);
    return error;
}

/* ---- failures */

/* Whether Kafka has refused to let the transaction write to a topic. librdkafka says what a transaction has
 * failed by when another one is begun, which does nothing in this state. */
static bool is_refused(const struct htw__writer *writer) {
    if (writer->producer == NULL || !writer->in_transaction)
        return false;
    rd_kafka_error_t *error = rd_kafka_begin_transaction(writer->producer);
    bool is = rd_kafka_error_code(error) == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    rd_kafka_error_destroy(error);
    return is;
}

/* A producer whose error is fatal is replaced. */
static int abort_writer(struct htw__kafka *self, enum htw__channel channel, enum htw__client kind) {
    struct htw__writer *writer = htw__writer_of(self, channel);
    HTW_ASSERT(!writer->committer.is_in_flight);
    if (is_refused(writer))
        htw__trust_refused(self, writer);
    if (writer->producer == NULL)
        return open_writer(self, writer, kind, OPEN_MS);
    bool is_usable = rd_kafka_fatal_error(writer->producer, NULL, 0) == 0;
    if (is_usable && writer->in_transaction) {
        rd_kafka_error_t *error =
            rd_kafka_abort_transaction(writer->producer, htw__kafka_limit_ms(self, ABORT_MS));
        is_usable = error == NULL;
        rd_kafka_error_destroy(error);
    }
    self->relay.stats.aborted_transactions += writer->in_transaction;
    writer->in_transaction = false;
    if (is_usable && !self->options.at_least_once) {
        rd_kafka_poll(writer->producer, 0); /* acknowledgements of what was aborted */
        htw__writer_forget(writer, false);
        return 0;
    }
    close_writer(self, writer);
    return open_writer(self, writer, kind, OPEN_MS);
}

int htw__writers_abort(struct htw__kafka *self) {
    int error = abort_writer(self, HTW__CHANNEL_FILE, HTW__CLIENT_FILE);
    return error != 0 ? error : abort_writer(self, HTW__CHANNEL_DELIVER, HTW__CLIENT_DELIVER);
}
