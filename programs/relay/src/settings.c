/* SPDX-License-Identifier: MIT */
/*
 * settings.c - the settings of the relay's own topics: at the start, and each minute, for an operator can change them.
 *
 * A setting with which Kafka deletes what waits, or what says that it waits, ends the relay.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"

#include <string.h>

#define CONFIG_MS 2000 /* not all brokers answer */
#define AGAIN_MS 60000

/* Whose setting it is. */
enum { LEVEL = 1, INDEX = 2, INPUT = 4, DEAD = 8, ANY = 7, OWN = LEVEL | INDEX | DEAD };

#define TOO_SOON "records would be deleted before they are due; it must be -1"

/* Settings of topics: what they are created with; and why another value of one loses records, or this one does, which is only
 * warned of at the start: it lets brokers lose what they have acknowledged. The input may delete: see docs/relay.md. */
static const struct {
    unsigned made, checked;
    const char *name, *value, *why;
    bool is_warned;
} rules[] = {
    { OWN, 0, "retention.ms", "-1", NULL, false },
    { 0, LEVEL, "retention.ms", "-1", TOO_SOON, false },
    { LEVEL, LEVEL, "retention.bytes", "-1", TOO_SOON, false },
    { LEVEL, LEVEL, "cleanup.policy", "delete", "it would lose records; it must be delete", false },
    { INDEX, INDEX, "cleanup.policy", "compact",
      "it would lose ids, or grow without end; it must be compact", false },
    { 0, ANY, "min.insync.replicas", "1",
      "a record that was acknowledged may be on one broker alone, and is lost with it", true },
    { 0, ANY, "unclean.leader.election.enable", "true",
      "a broker that lacks records may become the leader, and they are lost", true },
    /* Of a bucket that was read, the last segment stays. That of the index is not compacted, and is read at each take-over; ... */
    { LEVEL | INDEX, 0, "segment.bytes", "16777216", NULL, false },
    /* ... so are removed entries, for so long after a compaction: longer than a take-over takes. */
    { INDEX, 0, "delete.retention.ms", "600000", NULL, false },
    /* So that the clock can be compared, and producers cannot make records look old. */
    { LEVEL, 0, "message.timestamp.type", "LogAppendTime", NULL, false },
    /* A record that was sent as large as it may be has more headers here. */
    { OWN, 0, "max.message.bytes", "10485760", NULL, false },
};

#define RULES (sizeof(rules) / sizeof(rules[0]))

static unsigned topic_of(const struct htw__kafka *self, const char *name) {
    return strcmp(name, self->topics.names[HTW__RELAY_IDS]) == 0 ? INDEX
           : strcmp(name, self->options.input) == 0              ? INPUT
           : strcmp(name, self->options.relay.dead_letters) == 0 ? DEAD
                                                                 : LEVEL;
}

void htw__settings_make(const struct htw__kafka *self, rd_kafka_NewTopic_t *request,
                        const char *name) {
    for (size_t i = 0; i < RULES; i++)
        if ((rules[i].made & topic_of(self, name)) != 0)
            rd_kafka_NewTopic_set_config(request, rules[i].name, rules[i].value);
}

static void check_setting(struct htw__kafka *self, const char *topic, const char *name,
                          const char *value) {
    for (size_t i = 0; i < RULES; i++) {
        if ((rules[i].checked & topic_of(self, topic)) == 0 || strcmp(rules[i].name, name) != 0 ||
            (strcmp(rules[i].value, value) == 0) != rules[i].is_warned)
            continue;
        if (!rules[i].is_warned)
            htw__kafka_fail(self, "topic %s has %s=%s: %s", topic, name, value, rules[i].why);
        else if (!self->settings.were_checked && self->replicas > 1)
            htw__kafka_say(self, HTW__LOG_WARNING, "topic %s has %s=%s: %s", topic, name, value,
                           rules[i].why);
    }
}

static void check_config(struct htw__kafka *self, const rd_kafka_ConfigResource_t *resource) {
    size_t count;
    const rd_kafka_ConfigEntry_t **entries = rd_kafka_ConfigResource_configs(resource, &count);
    for (size_t i = 0; i < count; i++) {
        const char *name = rd_kafka_ConfigEntry_name(entries[i]);
        const char *value = rd_kafka_ConfigEntry_value(entries[i]);
        if (value != NULL)
            check_setting(self, rd_kafka_ConfigResource_name(resource), name, value);
    }
}

/* Takes an answer, and checks it. Returns why there is none. */
static rd_kafka_resp_err_t take(struct htw__kafka *self, int timeout_ms) {
    size_t count;
    rd_kafka_resp_err_t error = RD_KAFKA_RESP_ERR__TIMED_OUT;
    rd_kafka_event_t *event = htw__client_await(self->settings.queue, timeout_ms);
    if (event == NULL)
        return error;
    const rd_kafka_ConfigResource_t **answers = rd_kafka_DescribeConfigs_result_resources(
        rd_kafka_event_DescribeConfigs_result(event), &count);
    for (size_t i = 0; i < count; i++) {
        error = rd_kafka_ConfigResource_error(answers[i]);
        if (error == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART)
            htw__kafka_fail(self, "topic %s does not exist any more",
                            rd_kafka_ConfigResource_name(answers[i]));
        if (error != 0)
            break;
        check_config(self, answers[i]);
    }
    rd_kafka_event_destroy(event);
    return error;
}

/* Except for dead letters. */
static void ask(struct htw__kafka *self) {
    rd_kafka_ConfigResource_t *resources[HTW__RELAY_SOURCES];
    size_t count = 0;
    for (uint32_t level = 0; level < HTW__RELAY_SOURCES; level++)
        if (self->topics.names[level][0] != '\0')
            resources[count++] =
                rd_kafka_ConfigResource_new(RD_KAFKA_RESOURCE_TOPIC, self->topics.names[level]);
    rd_kafka_DescribeConfigs(self->admin, resources, count, NULL, self->settings.queue);
    rd_kafka_ConfigResource_destroy_array(resources, count);
}

void htw__settings_check(struct htw__kafka *self) {
    self->settings.queue = rd_kafka_queue_new(self->admin);
    ask(self);
    rd_kafka_resp_err_t error = take(self, CONFIG_MS);
    if (error != 0)
        htw__kafka_say(
            self, HTW__LOG_WARNING,
            "the configuration of the topics could not be checked (%s): level topics must "
            "have retention.ms=-1 and retention.bytes=-1, or records are lost",
            rd_kafka_err2str(error));
    self->settings.were_checked = true;
    self->settings.asked_ms = htw__clock_monotonic_ms();
}

/* An answer that says nothing is no news: the start has said so. */
void htw__settings_run(struct htw__kafka *self, int64_t now_ms) {
    (void)take(self, 0);
    if (now_ms - self->settings.asked_ms < AGAIN_MS)
        return;
    self->settings.asked_ms = now_ms;
    ask(self);
    htw__group_retry(self);
}

void htw__settings_end(struct htw__kafka *self) {
    if (self->settings.queue != NULL)
        rd_kafka_queue_destroy(self->settings.queue);
}
