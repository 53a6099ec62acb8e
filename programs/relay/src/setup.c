/* SPDX-License-Identifier: MIT */
/*
 * setup.c - the topics of a relay at its start: whether they are as they must be, and creating them.
 *
 * A mistake is told before the first record is read, and not when it has cost one.
 */
#include "kafka.h"

#include <errno.h>
#include <poll.h>
#include <string.h>

#define ASK_MS 10000

/* How often a topic that is missing is asked for: one that was made may be known only later. */
#define TIMES 5
#define TIMES_CREATED 150
#define PATIENCE_MS 200

/* ---- checking */

/* A topic that was just made is not known to all brokers at once. */
static int32_t await_partitions(struct htw__kafka *self, const char *name, int32_t wanted,
                                int times) {
    int32_t count = htw__lookup_now(self->admin, name, ASK_MS, NULL);
    for (int i = 0; i < times && count >= 0 && count < wanted; i++) {
        poll(NULL, 0, PATIENCE_MS);
        count = htw__lookup_now(self->admin, name, ASK_MS, NULL);
    }
    return count;
}

static int check_topic(struct htw__kafka *self, const char *name, int32_t wanted, int times) {
    int32_t count = await_partitions(self, name, wanted, times);
    if (count == -EACCES)
        return htw__kafka_fail(self, "topic %s: the relay is not allowed to see it", name);
    if (count < 0)
        return htw__kafka_fail(self, "no answer from the brokers: %s", self->options.brokers);
    if (count == 0)
        return htw__kafka_fail(
            self,
            "topic %s does not exist. For a new input, --create-topics makes it. If relays have worked on "
            "this one, %s",
            name,
            strcmp(name, self->topics.names[HTW__RELAY_IDS]) == 0
                ? "it is lost which records with an id were cancelled: after --create-topics, "
                  "--recover delivers those that wait, cancelled ones too"
                : "what was in it is lost");
    if (count < wanted)
        return htw__kafka_fail(self,
                               "topic %s has %d partitions and needs %d; --create-topics adds them",
                               name, (int)count, (int)wanted);
    return 0;
}

/* The input's partitions, and how many brokers have each: topics that are created are kept as safely. */
static int count_stripes(struct htw__kafka *self) {
    int error = check_topic(self, self->options.input, 1, TIMES);
    if (error != 0)
        return error;
    self->stripe_count =
        (uint32_t)htw__lookup_now(self->admin, self->options.input, ASK_MS, &self->replicas);
    return 0;
}

/* One for each level, the index, and the dead letters. */
#define TOPICS_MAX (HTW__RELAY_LEVELS_MAX + 2)

/* Topics, and partitions that they must have. */
struct wanted {
    const char *names[TOPICS_MAX];
    int32_t counts[TOPICS_MAX];
    size_t count;
};

static void want(struct wanted *self, const char *name, uint32_t count) {
    self->names[self->count] = name;
    self->counts[self->count++] = (int32_t)count;
}

/* All but the input. */
static struct wanted list_topics(const struct htw__kafka *self) {
    const struct htw__levels *levels = &self->options.relay.levels;
    struct wanted all = { .count = 0 };
    for (uint32_t level = 0; level < levels->count; level++)
        want(&all, self->topics.names[level], self->stripe_count * levels->size);
    want(&all, self->topics.names[HTW__RELAY_IDS], self->stripe_count);
    want(&all, self->options.relay.dead_letters, 1);
    return all;
}

static int check_all(struct htw__kafka *self, const struct wanted *wanted, int times) {
    int error = 0;
    for (size_t i = 0; i < wanted->count && error == 0; i++)
        error = check_topic(self, wanted->names[i], wanted->counts[i], times);
    return error;
}

int htw__setup_check(struct htw__kafka *self) {
    int error = count_stripes(self);
    if (error != 0)
        return error;
    const struct wanted all = list_topics(self);
    error = check_all(self, &all, TIMES);
    if (error == 0)
        htw__settings_check(self);
    return self->has_failed ? -EIO : error;
}

/* ---- creating */

static const rd_kafka_topic_result_t *result_of(rd_kafka_event_t *event) {
    size_t count;
    return rd_kafka_event_type(event) == RD_KAFKA_EVENT_CREATETOPICS_RESULT
               ? *rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event),
                                                      &count)
               : *rd_kafka_CreatePartitions_result_topics(
                     rd_kafka_event_CreatePartitions_result(event), &count);
}

/* Makes a topic, or adds partitions to one. */
static int make(struct htw__kafka *self, const char *name, int32_t count, bool is_there) {
    char why[256];
    rd_kafka_queue_t *queue = rd_kafka_queue_new(self->admin);
    if (is_there) {
        rd_kafka_NewPartitions_t *request =
            rd_kafka_NewPartitions_new(name, (size_t)count, why, sizeof(why));
        rd_kafka_CreatePartitions(self->admin, &request, 1, NULL, queue);
        rd_kafka_NewPartitions_destroy(request);
    } else {
        rd_kafka_NewTopic_t *request =
            rd_kafka_NewTopic_new(name, count, (int)self->replicas, why, sizeof(why));
        if (request == NULL) /* the name is none; the process ends */
            return htw__kafka_fail(self, "topic %s: %s", name, why);
        htw__settings_make(self, request, name);
        rd_kafka_CreateTopics(self->admin, &request, 1, NULL, queue);
        rd_kafka_NewTopic_destroy(request);
    }
    rd_kafka_event_t *event = htw__client_await(queue, 2 * ASK_MS);
    rd_kafka_queue_destroy(queue);
    if (event == NULL)
        return htw__kafka_fail(self, "cannot make topic %s: no answer, or no permission", name);
    const rd_kafka_topic_result_t *result = result_of(event);
    rd_kafka_resp_err_t error = rd_kafka_topic_result_error(result);
    if (error != 0 && error != RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) { /* by another client */
        const char *reason = rd_kafka_topic_result_error_string(result);
        htw__kafka_fail(self, "cannot make topic %s: %s", name,
                        reason != NULL ? reason : rd_kafka_err2str(error));
    }
    rd_kafka_event_destroy(event);
    if (!self->has_failed)
        htw__kafka_say(self, HTW__LOG_INFO, "topic %s now has %d partition(s)", name, (int)count);
    return self->has_failed ? -EIO : 0;
}

int htw__setup_create(struct htw__kafka *self) {
    int error = count_stripes(self);
    if (error != 0)
        return error;
    const struct wanted all = list_topics(self);
    for (size_t i = 0; i < all.count && error == 0; i++) {
        int32_t present = htw__lookup_now(self->admin, all.names[i], ASK_MS, NULL);
        if (present < 0)
            return htw__kafka_fail(self, "no answer from the brokers: %s", self->options.brokers);
        if (present < all.counts[i])
            error = make(self, all.names[i], all.counts[i], present > 0);
    }
    return error == 0 ? check_all(self, &all, TIMES_CREATED) : error;
}
