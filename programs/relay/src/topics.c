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

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define LOOK_MS 500
#define INTRODUCE_MS 5000

static int name_topic(struct htw__kafka *self, char name[HTW__TOPIC_NAME_SIZE],
                      const char *suffix) {
    struct htw__destinations *destinations = &self->options.relay.destinations;
    int size = snprintf(name, HTW__TOPIC_NAME_SIZE, "%s.%s", self->options.input, suffix);
    if (size < 0 || size >= HTW__TOPIC_NAME_SIZE)
        return htw__kafka_fail(self, "the name of the topic is too long: %s", self->options.input);
    self->topics.own[destinations->own_count++] = name;
    return 0;
}

int htw__topics_name_all(struct htw__kafka *self) {
    struct htw__relay_options *relay = &self->options.relay;
    struct htw__destinations *destinations = &relay->destinations;
    char suffix[16], topic[HTW__TOPIC_NAME_SIZE];
    self->topics.own[0] = self->options.input;
    destinations->own = self->topics.own;
    destinations->own_count = 1;
    for (uint32_t level = 0; level < relay->levels.count; level++) {
        snprintf(suffix, sizeof(suffix), "l%u", level);
        if (name_topic(self, self->topics.levels[level], suffix) != 0)
            return -EIO;
    }
    if (name_topic(self, self->topics.ids, "ids") != 0 ||
        name_topic(self, self->topics.dead, "dead") != 0)
        return -EIO;
    if (relay->dead_letters == NULL)
        relay->dead_letters = self->topics.dead;
    self->topics.own[destinations->own_count - 1] = relay->dead_letters;
    if (destinations->default_topic != NULL &&
        htw__destinations_choose(destinations, (struct htw__bytes) { NULL, 0 }, topic) != NULL)
        return htw__kafka_fail(self, "--to: a topic of the relay itself: %s",
                               destinations->default_topic);
    return 0;
}

const char *htw__topics_name(const struct htw__kafka *self, struct htw__source source) {
    return source.level == HTW__RELAY_INPUT ? self->options.input
           : source.level == HTW__RELAY_IDS ? self->topics.ids
                                            : self->topics.levels[source.level];
}

int32_t htw__topics_partition(const struct htw__kafka *self, struct htw__source source) {
    if (source.level == HTW__RELAY_INPUT || source.level == HTW__RELAY_IDS)
        return (int32_t)source.stripe;
    return (int32_t)(source.stripe * self->options.relay.levels.size + source.slot);
}

bool htw__topics_source(const struct htw__kafka *self, const char *topic, int32_t partition,
                        struct htw__source *ret_source) {
    const struct htw__levels *levels = &self->options.relay.levels;
    if (partition < 0)
        return false;
    for (uint32_t level = 0; level < levels->count; level++) {
        if (strcmp(topic, self->topics.levels[level]) != 0)
            continue;
        *ret_source = (struct htw__source) { (uint32_t)partition / levels->size, level,
                                             (uint32_t)partition % levels->size };
        return true;
    }
    bool is_input = strcmp(topic, self->options.input) == 0;
    *ret_source = (struct htw__source) { (uint32_t)partition,
                                         is_input ? HTW__RELAY_INPUT : HTW__RELAY_IDS, 0 };
    return is_input || strcmp(topic, self->topics.ids) == 0;
}

/* ---- asking */

void htw__topics_meet(struct htw__kafka *self, rd_kafka_t *client) {
    for (uint32_t level = 0; level < self->options.relay.levels.count; level++)
        if (htw__lookup_now(client, self->topics.levels[level], LOOK_MS, NULL) < 0)
            return; /* the others would wait for an answer, too */
    (void)htw__lookup_now(client, self->topics.ids, LOOK_MS, NULL);
}

bool htw__topics_have_buckets(struct htw__kafka *self, uint32_t stripe) {
    rd_kafka_t *clients[] = { self->admin, self->readers[0], self->readers[1],
                              self->writers[0].producer, self->writers[1].producer };
    int32_t wanted = (int32_t)((stripe + 1) * self->options.relay.levels.size);
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
        for (uint32_t level = 0; level < self->options.relay.levels.count; level++)
            if (clients[i] == NULL ||
                htw__lookup_now(clients[i], self->topics.levels[level], LOOK_MS, NULL) < wanted)
                return false;
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
        if (htw__lookup_now(clients[i], self->topics.ids, LOOK_MS, NULL) < (int32_t)stripe + 1)
            return false;
    return true;
}

static void introduce(struct htw__kafka *self, const char *name) {
    if (strpbrk(name, "*?[\\") != NULL || htw__directory_has(&self->directory, name))
        return;
    int32_t count = htw__lookup_now(self->admin, name, INTRODUCE_MS, NULL);
    if (count == 0)
        htw__kafka_say(self, "topic %s does not exist: until it does, records to it are bad ones",
                       name);
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
