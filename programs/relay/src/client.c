/* SPDX-License-Identifier: MIT */
/* client.c - handles of librdkafka, and their properties. */
#include "kafka.h"

#include <stdio.h>
#include <string.h>

/* Kinds of handles, each a bit. */
enum {
    GROUP = 1 << HTW__CLIENT_GROUP,
    READER = 1 << HTW__CLIENT_READER,
    SCAN = 1 << HTW__CLIENT_SCAN,
    ADMIN = 1 << HTW__CLIENT_ADMIN,
    CHANGE = 1 << HTW__CLIENT_CHANGE,
    FILING = 1 << HTW__CLIENT_FILE,
    DELIVERY = 1 << HTW__CLIENT_DELIVER,
    READS = GROUP | READER | SCAN,
    CONSUMER = READS | ADMIN,
    CHANNEL = FILING | DELIVERY,
    PRODUCER = CHANGE | CHANNEL,
    TRANSACTIONS = 1 << 7 /* of a channel that has them */
};

/* Later ones count. */
static const struct {
    unsigned kinds;
    const char *name, *value;
} properties[] = {
    { CONSUMER | PRODUCER, "socket.keepalive.enable", "true" },
    { CONSUMER | PRODUCER, "log.connection.close", "false" },
    /* A broker that was restarted is used again at once. */
    { CONSUMER | PRODUCER, "reconnect.backoff.ms", "100" },
    { CONSUMER | PRODUCER, "reconnect.backoff.max.ms", "1000" },
    { CONSUMER, "enable.auto.commit", "false" },
    { CONSUMER, "enable.auto.offset.store", "false" },
    { CONSUMER, "auto.offset.reset", "error" }, /* a missing offset is never a place to start */
    { CONSUMER, "fetch.error.backoff.ms", "50" },
    /* While as much is queued as is allowed, librdkafka 2.0 does not fetch, and then looks again only after up to a
     * second. So as much is allowed as a relay takes in that time: with 4 MiB, records were 0.6 to 0.8 s late where
     * there was something to catch up with. */
    { CONSUMER, "queued.max.messages.kbytes", "12288" },
    { GROUP, "partition.assignment.strategy", "cooperative-sticky" },
    /* Brokers refuse less than 6 s. A member that was killed is replaced after this time. */
    { GROUP, "session.timeout.ms", "10000" },
    { GROUP, "heartbeat.interval.ms", "2000" },
    { GROUP, "max.poll.interval.ms", "60000" },
    { GROUP, "topic.metadata.refresh.interval.ms", "30000" }, /* how soon a new partition is seen */
    { READS, "isolation.level", "read_committed" },
    { READS, "enable.partition.eof", "true" },
    { READER | SCAN, "fetch.wait.max.ms",
      "20" }, /* how long a bucket that is opened waits for others */
    { SCAN, "auto.offset.reset", "earliest" }, /* what a relay has deleted need not be read */
    /* It takes records as fast as they come, and has no other queue. */
    { SCAN, "queued.min.messages", "300000" },
    { SCAN, "queued.max.messages.kbytes", "65536" },
    { ADMIN, "isolation.level", "read_uncommitted" },
    { PRODUCER, "acks", "all" },
    { PRODUCER, "enable.idempotence", "true" },
    { PRODUCER, "partitioner", "murmur2_random" },  /* that of the Java client */
    { PRODUCER, "message.max.bytes", "100000000" }, /* brokers and topics have the say */
    { PRODUCER, "compression.codec", "none" },
    /* Filing has time until its commit, and touches many partitions: it makes larger batches. A commit sends what is
     * left at once. */
    { FILING, "linger.ms", "50" },
    { CHANGE | DELIVERY, "linger.ms", "5" },
    /* After this time ends an open transaction of a member that was killed. */
    { TRANSACTIONS, "transaction.timeout.ms", "10000" },
};

static bool set(struct htw__kafka *self, rd_kafka_conf_t *conf, const char *name,
                const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
        return true;
    htw__kafka_fail(self, "%s: %s", name, why); /* the value may be a secret */
    return false;
}

static bool set_all(struct htw__kafka *self, rd_kafka_conf_t *conf, unsigned kinds) {
    bool is_good = true;
    for (size_t i = 0; i < sizeof(properties) / sizeof(properties[0]) && is_good; i++)
        if ((properties[i].kinds & kinds) != 0)
            is_good = set(self, conf, properties[i].name, properties[i].value);
    return is_good;
}

/* What the operator wants comes last, so that it counts. What is for consumers alone is only warned of by
 * librdkafka where it does not apply. */
static bool set_wishes(struct htw__kafka *self, rd_kafka_conf_t *conf) {
    bool is_good = true;
    for (size_t i = 0; i < self->options.property_count && is_good; i++)
        is_good =
            set(self, conf, self->options.properties[i].name, self->options.properties[i].value);
    return is_good;
}

/* Syslog's levels: errors and worse. What is told otherwise is left out. Threads of librdkafka call this. */
static void log_line(const rd_kafka_t *handle, int level, const char *facility, const char *text) {
    const struct htw__kafka *self = rd_kafka_opaque(handle);
    if (level <= 3 && strcmp(facility, "FAIL") != 0)
        htw__kafka_say(self, HTW__LOG_ERROR, "%s: %s", facility, text);
}

/* A consumer's fatal errors do not come here: member.c asks for them. The thread of a commit may call this, too. */
static void note_error(rd_kafka_t *handle, int error, const char *reason, void *opaque) {
    struct htw__kafka *self = opaque;
    if (error == RD_KAFKA_RESP_ERR__FATAL)
        htw__kafka_recover(self, "a producer cannot go on"); /* it is made anew */
    else if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
             error == RD_KAFKA_RESP_ERR__AUTHENTICATION)
        htw__kafka_say(self, HTW__LOG_ERROR, "%s: %s", rd_kafka_name(handle), reason);
}

static unsigned kinds_of(const struct htw__kafka *self, enum htw__client kind) {
    unsigned kinds = 1u << kind;
    return (kinds & CHANNEL) != 0 && !self->options.at_least_once ? kinds | TRANSACTIONS : kinds;
}

static bool set_identity(struct htw__kafka *self, rd_kafka_conf_t *conf, unsigned kinds,
                         const char *owner) {
    char id[512];
    if ((kinds & CONSUMER) != 0 && !set(self, conf, "group.id", self->options.group))
        return false;
    if ((kinds & GROUP) != 0) /* a static member: member.c */
        return set(self, conf, "group.instance.id", self->owner);
    if ((kinds & TRANSACTIONS) == 0)
        return true;
    /* With an --instance, a start fences what is left of the one before at once. */
    snprintf(id, sizeof(id), "%s-%s-%s", self->options.group, owner,
             (kinds & FILING) != 0 ? "file" : "deliver");
    return set(self, conf, "transactional.id", id);
}

/* Called by librdkafka, of a record that asks. */
static void note_sent(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    struct htw__sent *sent = message->_private;
    (void)producer, (void)opaque;
    sent->left--;
    if (sent->error == 0)
        sent->error = message->err;
}

static rd_kafka_t *create(struct htw__kafka *self, enum htw__client kind, const char *owner,
                          htw__rebalance *rebalance) {
    const unsigned kinds = kinds_of(self, kind);
    bool is_producer = (kinds & PRODUCER) != 0;
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_t *handle = NULL;
    char why[512];
    rd_kafka_conf_set_opaque(conf, self);
    rd_kafka_conf_set_log_cb(conf, log_line);
    rd_kafka_conf_set_error_cb(conf, note_error);
    if (rebalance != NULL)
        rd_kafka_conf_set_rebalance_cb(conf, rebalance);
    if (is_producer)
        rd_kafka_conf_set_dr_msg_cb(conf, (kinds & CHANNEL) != 0 ? htw__acknowledge : note_sent);
    else /* newer versions of librdkafka know this; others go on without */
        (void)rd_kafka_conf_set(conf, "fetch.queue.backoff.ms", "20", NULL, 0);
    if (set(self, conf, "bootstrap.servers", self->options.brokers) &&
        set(self, conf, "client.id", "htw-relay") && set_all(self, conf, kinds) &&
        set_wishes(self, conf) && set_identity(self, conf, kinds, owner)) {
        handle = rd_kafka_new(is_producer ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf, why,
                              sizeof(why));
        if (handle == NULL)
            htw__kafka_fail(self, "%s", why);
    }
    if (handle == NULL)
        rd_kafka_conf_destroy(conf);
    return handle;
}

rd_kafka_t *htw__client_create(struct htw__kafka *self, enum htw__client kind, const char *owner) {
    return create(self, kind, owner, NULL);
}

int htw__client_consume(struct htw__kafka *self, enum htw__client kind, htw__rebalance *rebalance,
                        rd_kafka_t **ret_consumer, rd_kafka_queue_t **ret_queue) {
    static const uint64_t one = 1;
    *ret_consumer = create(self, kind, NULL, rebalance);
    if (*ret_consumer == NULL)
        return -EIO;
    rd_kafka_poll_set_consumer(*ret_consumer);
    *ret_queue = rd_kafka_queue_get_consumer(*ret_consumer);
    rd_kafka_queue_io_event_enable(*ret_queue, self->event_fd, &one, sizeof(one));
    return 0;
}

void htw__client_close(rd_kafka_t **consumer, rd_kafka_queue_t **queue) {
    if (*queue != NULL)
        rd_kafka_queue_destroy(*queue);
    if (*consumer != NULL) {
        rd_kafka_consumer_close(*consumer);
        rd_kafka_destroy(*consumer);
    }
    *queue = NULL;
    *consumer = NULL;
}

rd_kafka_resp_err_t htw__client_produce(rd_kafka_t *producer, const char *topic, int32_t partition,
                                        const struct htw__relay_record *record, void *opaque) {
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count);
    for (size_t i = 0; i < record->header_count; i++)
        rd_kafka_header_add(headers, record->headers[i].name.bytes,
                            (ssize_t)record->headers[i].name.size, record->headers[i].value.bytes,
                            (ssize_t)record->headers[i].value.size);
    const rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic },
        { .vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
        { .vtype = RD_KAFKA_VTYPE_KEY,
          .u.mem = { (void *)(uintptr_t)record->key.bytes, record->key.size } },
        { .vtype = RD_KAFKA_VTYPE_VALUE,
          .u.mem = { (void *)(uintptr_t)record->value.bytes, record->value.size } },
        { .vtype = RD_KAFKA_VTYPE_HEADERS, .u.headers = headers },
        { .vtype = RD_KAFKA_VTYPE_OPAQUE, .u.ptr = opaque },
    };
    rd_kafka_error_t *failure =
        rd_kafka_produceva(producer, parts, sizeof(parts) / sizeof(parts[0]));
    rd_kafka_resp_err_t error = rd_kafka_error_code(failure); /* of NULL: none */
    if (failure != NULL) {
        rd_kafka_error_destroy(failure);
        rd_kafka_headers_destroy(headers);
    }
    return error;
}

rd_kafka_event_t *htw__client_await(rd_kafka_queue_t *queue, int timeout_ms) {
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms);
    if (event != NULL && rd_kafka_event_error(event) != 0) {
        rd_kafka_event_destroy(event);
        event = NULL;
    }
    return event;
}
