/* SPDX-License-Identifier: MIT */
/*
 * settings.c - the settings of the relay's own topics: at the start, and each minute, for an operator can change them.
 *
 * A setting with which Kafka deletes what waits, or what says that it waits, ends the relay.
 */
#include "kafka.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CONFIG_MS 2000 /* not all brokers answer */
#define BROKER_MS 10000

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
    bool is_level = strcmp(topic, self->options.input) != 0 && !htw__topics_is_index(self, topic);
    for (size_t i = 0; i < count; i++) {
        const char *name = rd_kafka_ConfigEntry_name(entries[i]);
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value == NULL)
            continue;
        if (self->settings == NULL) /* at the start; once */
            check_safety(self, topic, name, value);
        bool compacts = strcmp(value, "compact") == 0;
        if (htw__topics_is_index(self, topic) && strcmp(name, "cleanup.policy") == 0 && !compacts)
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

/* Checks an answer about topics. Returns why there is none. */
static rd_kafka_resp_err_t check_answer(struct htw__kafka *self, const rd_kafka_event_t *event) {
    size_t count = 0;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    const rd_kafka_ConfigResource_t **answers =
        event == NULL
            ? NULL
            : rd_kafka_DescribeConfigs_result_resources(
                  rd_kafka_event_DescribeConfigs_result((rd_kafka_event_t *)event), &count);
    for (size_t i = 0; i < count; i++) {
        error = rd_kafka_ConfigResource_error(answers[i]);
        if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
            htw__kafka_fail(self, "topic %s does not exist any more",
                            rd_kafka_ConfigResource_name(answers[i]));
        if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
            break;
        check_config(self, answers[i]);
    }
    return error;
}

#define TOPICS_MAX (HTW__RELAY_LEVELS_MAX + 2)

/* Asks for those of the levels, the input and the index. */
static void ask_topics(struct htw__kafka *self, rd_kafka_queue_t *queue) {
    rd_kafka_ConfigResource_t *resources[TOPICS_MAX];
    size_t count = 0;
    for (uint32_t level = 0; level < self->options.relay.levels.count; level++)
        resources[count++] =
            rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->topics.levels[level]);
    resources[count++] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->options.input);
    resources[count++] = rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->topics.ids);
    rd_kafka_DescribeConfigs(self->admin, resources, count, NULL, queue);
    rd_kafka_ConfigResource_destroy_array(resources, count);
}

/* One broker at a time, and no topics with it. */
static void ask_broker(struct htw__kafka *self, rd_kafka_queue_t *queue) {
    char broker[32] = "1";
    const struct rd_kafka_metadata *metadata;
    if (rd_kafka_metadata(self->admin, 0, NULL, &metadata, BROKER_MS) ==
        RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (metadata->broker_cnt > 0)
            snprintf(broker, sizeof(broker), "%d", (int)metadata->brokers[0].id);
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_ConfigResource_t *resource =
        rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_BROKER, broker);
    rd_kafka_DescribeConfigs(self->admin, &resource, 1, NULL, queue);
    rd_kafka_ConfigResource_destroy(resource);
}

static void take_broker(struct htw__kafka *self, rd_kafka_event_t *event) {
    size_t count = 0;
    if (event == NULL)
        return;
    const rd_kafka_ConfigResource_t **answers = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    for (size_t i = 0; i < count; i++)
        read_retention(self, answers[i]);
    rd_kafka_event_destroy(event);
}

void htw__settings_check(struct htw__kafka *self) {
    rd_kafka_queue_t *queue = rd_kafka_queue_new(self->admin);
    ask_topics(self, queue);
    rd_kafka_event_t *event = htw__client_await(queue, CONFIG_MS);
    rd_kafka_resp_err_t error = check_answer(self, event);
    if (error != RD_KAFKA_RESP_ERR_NO_ERROR)
        htw__kafka_say(
            self,
            "the configuration of the topics could not be checked (%s): level topics must "
            "have retention.ms=-1 and retention.bytes=-1, or records are lost",
            rd_kafka_err2str(error));
    if (event != NULL) {
        rd_kafka_event_destroy(event);
        ask_broker(self, queue);
        take_broker(self, htw__client_await(queue, CONFIG_MS));
    }
    rd_kafka_queue_destroy(queue);
}

void htw__settings_ask(struct htw__kafka *self) {
    if (self->settings == NULL)
        self->settings = rd_kafka_queue_new(self->admin);
    ask_topics(self, self->settings);
}

/* An answer that says nothing is no news: the start has said so. */
void htw__settings_take(struct htw__kafka *self) {
    rd_kafka_event_t *event =
        self->settings != NULL ? rd_kafka_queue_poll(self->settings, 0) : NULL;
    if (event == NULL)
        return;
    if (rd_kafka_event_error(event) == RD_KAFKA_RESP_ERR_NO_ERROR)
        (void)check_answer(self, event);
    rd_kafka_event_destroy(event);
}

void htw__settings_end(struct htw__kafka *self) {
    if (self->settings != NULL)
        rd_kafka_queue_destroy(self->settings);
}
