/* SPDX-License-Identifier: MIT */
/*
 * topics.c - the topics of a relay: INPUT, from which it reads; INPUT.l0, INPUT.l1, ..., its levels; INPUT.ids, which
 * of those with an id wait (index.h), with as many partitions as the input; and the dead letters.
 *
 * A level topic has `size` partitions for each of the input: bucket `slot` of stripe s is partition
 * s * size + slot. So when the input gets more partitions, those of the levels are added at the end, and
 * nothing moves.
 */
#include "kafka.h"

#include "../../../src/base/clock.h"

#include <poll.h>
#include <stdio.h>
#include <string.h>

#define ASK_MS 10000
#define AGAIN_MS 100
#define LOOK_MS 500
#define INTRODUCE_MS 5000

static int name_topic(struct htw__kafka *self, uint32_t source, const char *suffix) {
    struct htw__destinations *destinations = &self->options.relay.destinations;
    int size = snprintf(self->topics.names[source], HTW__TOPIC_NAME_SIZE, "%s%s",
                        self->options.input, suffix);
    if (size < 0 || size >= HTW__TOPIC_NAME_SIZE)
        return htw__kafka_fail(self, "the name of the topic is too long: %s", self->options.input);
    self->topics.own[destinations->own_count++] = self->topics.names[source];
    return 0;
}

int htw__topics_name_all(struct htw__kafka *self) {
    struct htw__relay_options *relay = &self->options.relay;
    struct htw__destinations *destinations = &relay->destinations;
    char topic[HTW__TOPIC_NAME_SIZE], suffix[16];
    destinations->own = self->topics.own;
    destinations->own_count = 0;
    if (name_topic(self, HTW__RELAY_INPUT, "") != 0 ||
        name_topic(self, HTW__RELAY_IDS, ".ids") != 0 ||
        name_topic(self, HTW__RELAY_SOURCES, ".dead") != 0)
        return -EIO;
    if (relay->dead_letters == NULL)
        relay->dead_letters = self->topics.names[HTW__RELAY_SOURCES];
    self->topics.own[destinations->own_count - 1] = relay->dead_letters;
    for (uint32_t level = 0; level < relay->levels.count; level++) {
        snprintf(suffix, sizeof(suffix), ".l%u", level);
        if (name_topic(self, level, suffix) != 0)
            return -EIO;
    }
    if (destinations->default_topic != NULL &&
        htw__destinations_choose(destinations, (struct htw__bytes) { NULL, 0 }, topic) != NULL)
        return htw__kafka_fail(self, "--to: a topic of the relay itself: %s",
                               destinations->default_topic);
    return 0;
}

/* Partitions of a stripe. */
static uint32_t size_of(const struct htw__kafka *self, uint32_t level) {
    return level < HTW__RELAY_LEVELS_MAX ? self->options.relay.levels.size : 1;
}

int32_t htw__topics_partition(const struct htw__kafka *self, struct htw__source source) {
    return (int32_t)(source.stripe * size_of(self, source.level) + source.slot);
}

rd_kafka_topic_partition_t *htw__topics_add(const struct htw__kafka *self,
                                            rd_kafka_topic_partition_list_t *list,
                                            struct htw__source source, int64_t offset) {
    rd_kafka_topic_partition_t *added = rd_kafka_topic_partition_list_add(
        list, self->topics.names[source.level], htw__topics_partition(self, source));
    added->offset = offset;
    return added;
}

rd_kafka_topic_partition_list_t *htw__topics_list(const struct htw__kafka *self,
                                                  struct htw__source source, int64_t offset) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    htw__topics_add(self, list, source, offset);
    return list;
}

bool htw__topics_source(const struct htw__kafka *self, const char *topic, int32_t partition,
                        struct htw__source *ret_source) {
    for (uint32_t level = 0; level < HTW__RELAY_SOURCES && partition >= 0; level++)
        if (strcmp(topic, self->topics.names[level]) == 0) {
            uint32_t size = size_of(self, level);
            *ret_source = (struct htw__source) { (uint32_t)partition / size, level,
                                                 (uint32_t)partition % size };
            return true;
        }
    return false;
}

/* ---- asking */

int32_t htw__topics_count(struct htw__kafka *self, rd_kafka_t *client, uint32_t level) {
    const char *topic = self->topics.names[level];
    int32_t count = htw__lookup_now(client, topic, ASK_MS, NULL);
    return count > 0 ? count
                     : htw__kafka_fail(self,
                                       count == 0         ? "topic %s does not exist"
                                       : count == -EACCES ? "topic %s: not allowed to see it"
                                                          : "no answer from the brokers for %s",
                                       topic);
}

/* Brokers that have just got a partition do not know it yet. */
rd_kafka_topic_partition_list_t *htw__topics_offsets(struct htw__kafka *self,
                                                     enum htw__lookup_offsets which, uint32_t level,
                                                     int32_t count) {
    if (count <= 0)
        return NULL;
    const char *topic = self->topics.names[level];
    int64_t begin_ms = htw__clock_monotonic_ms();
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(count);
    rd_kafka_topic_partition_list_add_range(list, topic, 0, count - 1);
    rd_kafka_resp_err_t error;
    while ((error = htw__lookup_offsets(self->admin, which, list, ASK_MS)) != 0 &&
           htw__clock_monotonic_ms() - begin_ms <= ASK_MS && !htw__kafka_is_stopping(self))
        poll(NULL, 0, AGAIN_MS);
    if (error == 0)
        return list;
    htw__kafka_fail(self, "no answer for the %s of %s: %s",
                    which == HTW__LOOKUP_ENDS ? "ends" : "positions", topic,
                    rd_kafka_err2str(error));
    rd_kafka_topic_partition_list_destroy(list);
    return NULL;
}

void htw__topics_meet(struct htw__kafka *self, rd_kafka_t *client) {
    for (uint32_t level = 0; level < HTW__RELAY_INPUT; level++)
        if (self->topics.names[level][0] != '\0' &&
            htw__lookup_now(client, self->topics.names[level], LOOK_MS, NULL) < 0)
            return; /* the others would wait for an answer, too */
}

bool htw__topics_have_buckets(struct htw__kafka *self, uint32_t stripe) {
    rd_kafka_t *clients[] = { self->readers[0], self->readers[1], self->writers[0].producer,
                              self->writers[1].producer };
    for (uint32_t level = 0; level < HTW__RELAY_INPUT; level++)
        if (self->topics.names[level][0] != '\0' &&
            htw__lookup_now(self->admin, self->topics.names[level], LOOK_MS, NULL) <
                (int32_t)((stripe + 1) * size_of(self, level)))
            return false;
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
        if (clients[i] != NULL)
            htw__topics_meet(self, clients[i]);
    return true;
}

static void introduce(struct htw__kafka *self, const char *name) {
    if (strpbrk(name, "*?[\\") != NULL || htw__directory_has(&self->directory, name))
        return;
    int32_t count = htw__lookup_now(self->admin, name, INTRODUCE_MS, NULL);
    if (count == 0)
        htw__kafka_say(self, HTW__LOG_WARNING,
                       "topic %s does not exist: until it does, records to it are bad ones", name);
    (void)htw__directory_add(&self->directory, name,
                             count); /* without memory it is asked for later */
}

void htw__topics_introduce(struct htw__kafka *self) {
    const struct htw__destinations *destinations = &self->options.relay.destinations;
    if (destinations->default_topic != NULL)
        introduce(self, destinations->default_topic);
    introduce(self, self->options.relay.dead_letters);
    for (size_t i = 0; i < destinations->pattern_count; i++)
        introduce(self, destinations->patterns[i]);
}
