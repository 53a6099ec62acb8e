/* SPDX-License-Identifier: MIT */
/*
 * setup.c - the topics of a relay at its start: whether they are as they must be, and creating them.
 *
 * A mistake is told before the first record is read, and not when it has cost one.
 */
#include "kafka.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS 10000
#define CONFIG_MS 2000 /* not all brokers answer */

/* How often a topic that is missing is asked for: one that was made may be known only later. */
#define TIMES 5
#define TIMES_CREATED 150
#define PATIENCE_MS 200

/* ---- checking */

/* A topic that was just made is not known to all brokers at once. */
static int32_t await_partitions(struct htw__kafka *self, const char *name, int32_t wanted,
                                int times) {
    int32_t count = htw__topics_ask(self, name, ASK_MS);
    for (int i = 0; i < times && count >= 0 && count < wanted; i++) {
        poll(NULL, 0, PATIENCE_MS);
        count = htw__topics_ask(self, name, ASK_MS);
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
            self, "topic %s does not exist; --create-topics makes what is missing", name);
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

static bool is_index(const struct htw__kafka *self, const char *topic) {
    return strcmp(topic, self->topics.ids) == 0;
}

static int32_t wanted_partitions(const struct htw__kafka *self) {
    return (int32_t)(self->stripe_count * self->options.relay.levels.size);
}

/* What lets brokers lose records that they have acknowledged, where there are several. */
static void check_safety(struct htw__kafka *self, const char *topic, const char *name,
                         const char *value) {
    if (self->replicas > 1 && strcmp(name, "min.insync.replicas") == 0 && strcmp(value, "1") == 0)
        htw__kafka_say(
            self,
            "topic %s has min.insync.replicas=1: a record that was acknowledged may be on "
            "one broker alone, and is lost with it",
            topic);
    else if (strcmp(name, "unclean.leader.election.enable") == 0 && strcmp(value, "true") == 0)
        htw__kafka_say(
            self,
            "topic %s has unclean.leader.election.enable=true: a broker that lacks records "
            "may become the leader, and they are lost",
            topic);
}

/* What would delete records before they are read. The input may: see docs/relay.md. */
static void check_config(struct htw__kafka *self, const rd_kafka_ConfigResource_t *resource) {
    size_t count;
    const char *topic = rd_kafka_ConfigResource_name(resource);
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    bool is_level = strcmp(topic, self->options.input) != 0 && !is_index(self, topic);
    for (size_t i = 0; i < count; i++) {
        const char *name = rd_kafka_ConfigEntry_name(entries[i]);
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value == NULL)
            continue;
        check_safety(self, topic, name, value);
        bool compacts = strcmp(value, "compact") == 0;
        if (is_index(self, topic) && strcmp(name, "cleanup.policy") == 0 && !compacts)
            htw__kafka_fail(
                self,
                "topic %s has cleanup.policy=%s: it would lose ids, or grow without end; "
                "it must be compact",
                topic, value);
        if (!is_level)
            continue;
        bool deletes =
            (strcmp(name, "retention.ms") == 0 || strcmp(name, "retention.bytes") == 0) &&
            strcmp(value, "-1") != 0;
        if (deletes)
            htw__kafka_fail(self,
                            "topic %s has %s=%s: records would be deleted before they are due; it "
                            "must be -1",
                            topic, name, value);
        else if (strcmp(name, "cleanup.policy") == 0 && strstr(value, "compact") != NULL)
            htw__kafka_fail(self,
                            "topic %s has cleanup.policy=%s: it would lose records; it must be "
                            "delete",
                            topic, value);
    }
}

/* Waits for the answer to a request of an administrator. NULL: none came. */
static rd_kafka_event_t *wait_for(rd_kafka_queue_t *queue, int timeout_ms) {
    rd_kafka_event_t *event = rd_kafka_queue_poll(queue, timeout_ms);
    if (event != NULL && rd_kafka_event_error(event) != RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_event_destroy(event);
        event = NULL;
    }
    return event;
}

/* The offsets of topics that the group does not subscribe to expire. A broker says after what time. */
static void read_retention(struct htw__kafka *self, const rd_kafka_ConfigResource_t *resource) {
    size_t count;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t i = 0; i < count && self->options.recommit_ms == 0; i++) {
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value == NULL ||
            strcmp(rd_kafka_ConfigEntry_name(entries[i]), "offsets.retention.minutes") != 0)
            continue;
        long long minutes = strtoll(value, NULL, 10);
        if (minutes > 0)
            self->options.recommit_ms = minutes * 60000 / 4;
    }
}

/* Checks an answer about topics. */
static void check_answer(struct htw__kafka *self, const rd_kafka_event_t *event) {
    size_t count = 0;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    const rd_kafka_ConfigResource_t **answers =
        event == NULL
            ? NULL
            : rd_kafka_DescribeConfigs_result_resources(
                  rd_kafka_event_DescribeConfigs_result((rd_kafka_event_t *)event), &count);
    for (size_t i = 0; i < count; i++) {
        error = rd_kafka_ConfigResource_error(answers[i]);
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        check_config(self, answers[i]);
    }
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        htw__kafka_say(
            self,
            "the configuration of the topics could not be checked (%s): level topics must "
            "have retention.ms=-1 and retention.bytes=-1, or records are lost",
            rd_kafka_err2str(error));
}

/* Where the relay may not ask for configurations, or the broker does not tell them, it says so and goes on. */
static void check_configs(struct htw__kafka *self) {
    uint32_t levels = self->options.relay.levels.count, topics = levels + 2;
    rd_kafka_ConfigResource_t *resources[HTW__RELAY_LEVELS_MAX + 3];
    char broker[32] = "1";
    const struct rd_kafka_metadata *metadata;
    if (rd_kafka_metadata(self->admin, 0, NULL, &metadata, ASK_MS) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (metadata->broker_cnt > 0)
            snprintf(broker, sizeof(broker), "%d", (int)metadata->brokers[0].id);
        rd_kafka_metadata_destroy(metadata);
    }
    for (uint32_t level = 0; level < levels; level++)
        resources[level] =
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->topics.levels[level]);
    resources[levels] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->options.input);
    resources[levels + 1] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->topics.ids);
    resources[topics] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, broker);
    rd_kafka_queue_t *queue = rd_kafka_queue_new(self->admin);
    /* One broker at a time, and the topics with it or without. */
    rd_kafka_DescribeConfigs(self->admin, resources, topics, NULL, queue);
    rd_kafka_event_t *event = wait_for(queue, CONFIG_MS);
    check_answer(self, event);
    if (event != NULL) {
        rd_kafka_event_destroy(event);
        rd_kafka_DescribeConfigs(self->admin, &resources[topics], 1, NULL, queue);
        event = wait_for(queue, CONFIG_MS);
    }
    if (event != NULL) {
        size_t count = 0;
        const rd_kafka_ConfigResource_t **answers = rd_kafka_DescribeConfigs_result_resources(
            rd_kafka_event_DescribeConfigs_result(event), &count);
        for (size_t i = 0; i < count; i++)
            read_retention(self, answers[i]);
        rd_kafka_event_destroy(event);
    }
    rd_kafka_queue_destroy(queue);
    rd_kafka_ConfigResource_destroy_array(resources, topics + 1);
}

int htw__setup_check(struct htw__kafka *self) {
    int error = count_stripes(self);
    for (uint32_t level = 0; level < self->options.relay.levels.count && error == 0; level++)
        error = check_topic(self, self->topics.levels[level], wanted_partitions(self), TIMES);
    if (error == 0)
        error = check_topic(self, self->topics.ids, (int32_t)self->stripe_count, TIMES);
    if (error == 0)
        error = check_topic(self, self->options.relay.dead_letters, 1, TIMES);
    if (error == 0)
        check_configs(self);
    return self->has_failed ? -EIO : error;
}

/* ---- creating */

/* One for each level, the index, and the dead letters. */
#define TOPICS_MAX (HTW__RELAY_LEVELS_MAX + 2)

/* What is to be made: topics, or partitions of them. All is asked for in one request. */
struct htw__wanted {
    const char *names[TOPICS_MAX];
    int32_t counts[TOPICS_MAX];
    size_t count;
};

static int want(struct htw__kafka *self, const char *name, int32_t count,
                struct htw__wanted *to_create, struct htw__wanted *to_extend) {
    int32_t present = htw__topics_ask(self, name, ASK_MS);
    if (present < 0)
        return htw__kafka_fail(self, "no answer from the brokers: %s", self->options.brokers);
    if (present >= count)
        return 0;
    struct htw__wanted *wanted = present == 0 ? to_create : to_extend;
    wanted->names[wanted->count] = name;
    wanted->counts[wanted->count++] = count;
    return 0;
}

/* Says what became of each topic; fails by the first that was refused. */
static int note_results(struct htw__kafka *self, const rd_kafka_topic_result_t **results,
                        size_t count, const char *what) {
    for (size_t i = 0; i < count; i++) {
        rd_kafka_resp_err_t error = rd_kafka_topic_result_error(results[i]);
        const char *name = rd_kafka_topic_result_name(results[i]);
        const char *why = rd_kafka_topic_result_error_string(results[i]);
        if (error == RD_KAFKA_RESP_ERR_TOPIC_ALREADY_EXISTS) /* by another client, just now */
            continue;
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            htw__kafka_fail(self, "cannot %s topic %s: %s", what, name,
                            why != NULL ? why : rd_kafka_err2str(error));
    }
    return self->has_failed ? -EIO : 0;
}

static int finish(struct htw__kafka *self, rd_kafka_queue_t *queue,
                  const struct htw__wanted *wanted, const char *what) {
    size_t count = 0;
    rd_kafka_event_t *event = wait_for(queue, 2 * ASK_MS);
    rd_kafka_queue_destroy(queue);
    if (event == NULL)
        return htw__kafka_fail(self, "cannot %s topic %s: no answer, or no permission", what,
                               wanted->names[0]);
    const rd_kafka_topic_result_t **results =
        rd_kafka_event_type(event) == RD_KAFKA_EVENT_CREATETOPICS_RESULT
            ? rd_kafka_CreateTopics_result_topics(rd_kafka_event_CreateTopics_result(event), &count)
            : rd_kafka_CreatePartitions_result_topics(rd_kafka_event_CreatePartitions_result(event),
                                                      &count);
    int error = note_results(self, results, count, what);
    rd_kafka_event_destroy(event);
    for (size_t i = 0; i < wanted->count && error == 0; i++)
        htw__kafka_inform(self, "topic %s now has %d partition(s)", wanted->names[i],
                          (int)wanted->counts[i]);
    return error;
}

static int extend(struct htw__kafka *self, const struct htw__wanted *wanted) {
    char why[256];
    rd_kafka_NewPartitions_t *requests[TOPICS_MAX];
    if (wanted->count == 0)
        return 0;
    for (size_t i = 0; i < wanted->count; i++) {
        requests[i] = rd_kafka_NewPartitions_new(wanted->names[i], (size_t)wanted->counts[i], why,
                                                 sizeof(why));
    }
    rd_kafka_queue_t *queue = rd_kafka_queue_new(self->admin);
    rd_kafka_CreatePartitions(self->admin, requests, wanted->count, NULL, queue);
    rd_kafka_NewPartitions_destroy_array(requests, wanted->count);
    return finish(self, queue, wanted, "extend");
}

static void configure(const struct htw__kafka *self, rd_kafka_NewTopic_t *request,
                      const char *name) {
    rd_kafka_NewTopic_set_config(request, "retention.ms", "-1");
    if (is_index(self, name)) {
        rd_kafka_NewTopic_set_config(request, "cleanup.policy", "compact");
        /* The last segment is not compacted, and is read at each take-over. */
        rd_kafka_NewTopic_set_config(request, "segment.bytes", "16777216");
        /* So are those of removed entries, for so long after a compaction: longer than a take-over takes. */
        rd_kafka_NewTopic_set_config(request, "delete.retention.ms", "600000");
    } else if (name != self->options.relay.dead_letters) {
        rd_kafka_NewTopic_set_config(request, "retention.bytes", "-1");
        rd_kafka_NewTopic_set_config(request, "cleanup.policy", "delete");
        /* So that the clock can be compared, and producers cannot make records look old. */
        rd_kafka_NewTopic_set_config(request, "message.timestamp.type", "LogAppendTime");
        /* Of a bucket that was read, the last segment stays. */
        rd_kafka_NewTopic_set_config(request, "segment.bytes", "16777216");
    }
    /* A record that was sent as large as it may be has more headers here. */
    rd_kafka_NewTopic_set_config(request, "max.message.bytes", "10485760");
}

static int create(struct htw__kafka *self, const struct htw__wanted *wanted) {
    char why[256];
    rd_kafka_NewTopic_t *requests[TOPICS_MAX];
    size_t count = 0;
    for (; count < wanted->count; count++) {
        const char *name = wanted->names[count];
        int replicas =
            self->options.replication > 0 ? self->options.replication : (int)self->replicas;
        requests[count] =
            rd_kafka_NewTopic_new(name, wanted->counts[count], replicas, why, sizeof(why));
        if (requests[count] == NULL) {
            htw__kafka_fail(self, "topic %s: %s", name, why);
            break;
        }
        configure(self, requests[count], name);
    }
    rd_kafka_queue_t *queue = NULL;
    if (count > 0 && !self->has_failed) {
        queue = rd_kafka_queue_new(self->admin);
        rd_kafka_CreateTopics(self->admin, requests, count, NULL, queue);
    }
    rd_kafka_NewTopic_destroy_array(requests, count);
    return queue != NULL ? finish(self, queue, wanted, "create") : self->has_failed ? -EIO : 0;
}

/* A topic that was just made or extended is known to all brokers after a moment. */
static int await_all(struct htw__kafka *self, const struct htw__wanted *wanted) {
    int error = 0;
    for (size_t i = 0; i < wanted->count && error == 0; i++)
        error = check_topic(self, wanted->names[i], wanted->counts[i], TIMES_CREATED);
    return error;
}

int htw__setup_create(struct htw__kafka *self) {
    struct htw__wanted to_create = { .count = 0 }, to_extend = { .count = 0 };
    int error = count_stripes(self);
    for (uint32_t level = 0; level < self->options.relay.levels.count && error == 0; level++)
        error =
            want(self, self->topics.levels[level], wanted_partitions(self), &to_create, &to_extend);
    if (error == 0)
        error = want(self, self->topics.ids, (int32_t)self->stripe_count, &to_create, &to_extend);
    if (error == 0)
        error = want(self, self->options.relay.dead_letters, 1, &to_create, &to_extend);
    if (error == 0)
        error = create(self, &to_create);
    if (error == 0)
        error = extend(self, &to_extend);
    if (error == 0)
        error = await_all(self, &to_create);
    return error == 0 ? await_all(self, &to_extend) : error;
}
