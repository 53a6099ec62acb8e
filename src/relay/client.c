/* SPDX-License-Identifier: MIT */
/* client.c - handles of librdkafka, and their properties. */
#include "kafka.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Brokers refuse less than 6 s for the session. A member that was killed is replaced after the session
 * timeout, and its open transaction ends after the transaction timeout. */
struct property {
    const char *name, *value;
};

static const struct property all[] = {
    { "socket.keepalive.enable", "true" },  { "log.connection.close", "false" },
    { "reconnect.backoff.ms", "100" }, /* a broker that was restarted is used again at once */
    { "reconnect.backoff.max.ms", "1000" }, { NULL, NULL },
};

/* While as much is queued as is allowed, librdkafka 2.0 does not fetch, and then looks again only after up to a
 * second. So as much is allowed as a relay takes in that time: with 4 MiB, records were 0.6 to 0.8 s late where
 * there was something to catch up with. */
static const struct property of_consumers[] = {
    { "enable.auto.commit", "false" },
    { "enable.auto.offset.store", "false" },
    { "auto.offset.reset", "error" }, /* a missing offset is an error, never a place to start */
    { "fetch.error.backoff.ms", "50" },
    { "queued.max.messages.kbytes", "12288" },
    { NULL, NULL },
};

static const struct property of_groups[] = {
    { "partition.assignment.strategy", "cooperative-sticky" },
    { "session.timeout.ms", "10000" },
    { "heartbeat.interval.ms", "2000" },
    { "max.poll.interval.ms", "60000" },
    { "topic.metadata.refresh.interval.ms", "30000" }, /* how soon a new partition is seen */
    { "isolation.level", "read_committed" },
    { "enable.partition.eof", "true" },
    { NULL, NULL },
};

static const struct property of_readers[] = {
    { "isolation.level", "read_committed" },
    { "enable.partition.eof", "true" },
    { "fetch.wait.max.ms", "20" }, /* how long a bucket that is opened waits for others */
    { NULL, NULL },
};

/* What a relay has deleted meanwhile need not be read. */
static const struct property of_scans[] = {
    { "isolation.level", "read_committed" },
    { "enable.partition.eof", "true" },
    { "auto.offset.reset", "earliest" },
    { "fetch.wait.max.ms", "20" },
    { NULL, NULL },
};

static const struct property of_admins[] = {
    { "isolation.level", "read_uncommitted" },
    { NULL, NULL },
};

static const struct property of_writers[] = {
    { "acks", "all" },
    { "enable.idempotence", "true" },
    { "partitioner", "murmur2_random" },  /* that of the Java client */
    { "message.max.bytes", "100000000" }, /* brokers and topics have the say */
    { "compression.codec", "none" },
    { NULL, NULL },
};

/* Filing has time until its commit, and touches many partitions: it makes larger batches. A commit sends
 * what is left at once. */
static const struct property of_filing[] = {
    { "linger.ms", "50" },
    { NULL, NULL },
};

static const struct property of_delivery[] = {
    { "linger.ms", "5" },
    { NULL, NULL },
};

static const struct property of_transactions[] = {
    { "transaction.timeout.ms", "10000" },
    { NULL, NULL },
};

static bool set(struct htw__kafka *self, rd_kafka_conf_t *conf, const char *name,
                const char *value) {
    char why[256];
    if (rd_kafka_conf_set(conf, name, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
        return true;
    htw__kafka_fail(self, "%s: %s", name, why); /* the value may be a secret */
    return false;
}

static bool set_all(struct htw__kafka *self, rd_kafka_conf_t *conf,
                    const struct property *properties) {
    bool is_good = true;
    for (; properties->name != NULL && is_good; properties++)
        is_good = set(self, conf, properties->name, properties->value);
    return is_good;
}

/* What the operator wants comes last, so that it counts. What is for consumers alone is only warned of by
 * librdkafka where it does not apply. */
static bool set_wishes(struct htw__kafka *self, rd_kafka_conf_t *conf) {
    bool is_good = true;
    for (size_t i = 0; i < self->options.property_count && is_good; i++) {
        char name[256];
        const char *property = self->options.properties[i], *value = strchr(property, '=');
        if (value == NULL || (size_t)(value - property) >= sizeof(name))
            return htw__kafka_fail(self, "-X: not NAME=VALUE: %s", property) == 0;
        memcpy(name, property, (size_t)(value - property));
        name[value - property] = '\0';
        is_good = set(self, conf, name, value + 1);
    }
    return is_good;
}

static void keep_line(struct htw__kafka *self, const char *facility, const char *text) {
    pthread_mutex_lock(&self->log.lock);
    if (self->log.line[0] == '\0')
        snprintf(self->log.line, sizeof(self->log.line), "%s: %s", facility, text);
    pthread_mutex_unlock(&self->log.lock);
}

/* Syslog's levels: errors and worse. What is told otherwise is left out. Threads of librdkafka call this: the
 * loop says it. Of several lines the first counts, since others follow from it. */
static void log_line(const rd_kafka_t *handle, int level, const char *facility, const char *text) {
    struct htw__kafka *self = rd_kafka_opaque(handle);
    if (level <= 3 && strcmp(facility, "FAIL") != 0)
        keep_line(self, facility, text);
}

/* A consumer's fatal errors do not come here: member.c asks for them. The thread of a commit may call this, too. */
static void note_error(rd_kafka_t *handle, int error, const char *reason, void *opaque) {
    struct htw__kafka *self = opaque;
    if (error == RD_KAFKA_RESP_ERR__FATAL)
        htw__kafka_set_recover(self, true); /* a producer: it is made anew */
    else if (error == RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN ||
             error == RD_KAFKA_RESP_ERR__AUTHENTICATION)
        keep_line(self, rd_kafka_name(handle), reason);
}

static bool is_channel(enum htw__client kind) {
    return kind == HTW__CLIENT_FILE || kind == HTW__CLIENT_DELIVER;
}

static bool is_producer(enum htw__client kind) {
    return is_channel(kind) || kind == HTW__CLIENT_CHANGE;
}

static bool has_transactions(const struct htw__kafka *self, enum htw__client kind) {
    return is_channel(kind) && !self->options.at_least_once;
}

static bool set_identity(struct htw__kafka *self, rd_kafka_conf_t *conf, enum htw__client kind,
                         const char *owner) {
    const char *suffix = kind == HTW__CLIENT_FILE ? "file" : "deliver";
    char id[512];
    if (!is_producer(kind) && !set(self, conf, "group.id", self->options.group))
        return false;
    if (kind == HTW__CLIENT_GROUP) /* a static member: member.c */
        return set(self, conf, "group.instance.id", self->owner);
    if (!has_transactions(self, kind))
        return true;
    /* With an --instance, a start fences what is left of the one before at once. */
    snprintf(id, sizeof(id), "%s-%s-%s", self->options.group, owner, suffix);
    return set(self, conf, "transactional.id", id);
}

/* Called by librdkafka, of a record that a cancel or a move has sent. */
static void note_sent(rd_kafka_t *producer, const rd_kafka_message_t *message, void *opaque) {
    struct htw__sent *sent = message->_private;
    (void)producer, (void)opaque;
    *sent = (struct htw__sent) { true, message->err, message->offset };
}

static rd_kafka_t *create(struct htw__kafka *self, enum htw__client kind, const char *owner,
                          htw__rebalance *rebalance) {
    static const struct property *const of[] = {
        of_groups, of_readers, of_scans, of_admins, of_delivery, of_filing, of_delivery,
    };
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_t *handle = NULL;
    char why[512];
    rd_kafka_conf_set_opaque(conf, self);
    rd_kafka_conf_set_log_cb(conf, log_line);
    rd_kafka_conf_set_error_cb(conf, note_error);
    if (rebalance != NULL)
        rd_kafka_conf_set_rebalance_cb(conf, rebalance);
    if (is_producer(kind))
        rd_kafka_conf_set_dr_msg_cb(conf, is_channel(kind) ? htw__acknowledge : note_sent);
    else /* newer versions of librdkafka know this; others go on without */
        (void)rd_kafka_conf_set(conf, "fetch.queue.backoff.ms", "20", NULL, 0);
    if (set(self, conf, "bootstrap.servers", self->options.brokers) &&
        set(self, conf, "client.id", "htw-relay") && set_all(self, conf, all) &&
        set_all(self, conf, is_producer(kind) ? of_writers : of_consumers) &&
        set_all(self, conf, of[kind]) &&
        (!has_transactions(self, kind) || set_all(self, conf, of_transactions)) &&
        set_wishes(self, conf) && set_identity(self, conf, kind, owner)) {
        handle = rd_kafka_new(is_producer(kind) ? RD_KAFKA_PRODUCER : RD_KAFKA_CONSUMER, conf, why,
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
                                        struct htw__bytes key, struct htw__bytes value,
                                        rd_kafka_headers_t *headers, void *opaque) {
    const rd_kafka_vu_t parts[] = {
        { .vtype = RD_KAFKA_VTYPE_TOPIC, .u.cstr = topic },
        { .vtype = RD_KAFKA_VTYPE_PARTITION, .u.i32 = partition },
        { .vtype = RD_KAFKA_VTYPE_MSGFLAGS, .u.i = RD_KAFKA_MSG_F_COPY },
        { .vtype = RD_KAFKA_VTYPE_KEY, .u.mem = { (void *)(uintptr_t)key.bytes, key.size } },
        { .vtype = RD_KAFKA_VTYPE_VALUE, .u.mem = { (void *)(uintptr_t)value.bytes, value.size } },
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
