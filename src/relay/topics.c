/* SPDX-License-Identifier: MIT */
/*
 * topics.c - the topics of a relay: INPUT, from which it reads; INPUT.l0, INPUT.l1, ..., its levels; and
 * the dead letters.
 *
 * A level topic has `size` partitions for each of the input: bucket `slot` of stripe s is partition
 * s * size + slot. So when the input gets more partitions, those of the levels are added at the end, and
 * nothing moves.
 */
#include "kafka.h"

#include "../base/clock.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DESTINATION_MS 5000
#define LOOK_MS 500

/* How long an answer about a destination counts. That a topic does not exist is asked again sooner. */
#define KNOWN_MS 60000
#define MISSING_MS 5000

int htw__topics_name_all(struct htw__kafka *self) {
    for (uint32_t level = 0; level < self->options.relay.levels.count; level++) {
        int size = snprintf(self->level_topics[level], sizeof(self->level_topics[level]), "%s.l%u",
                            self->options.input, level);
        if (size < 0 || (size_t)size >= sizeof(self->level_topics[level]))
            return htw__kafka_fail(self, "the name of the topic is too long: %s",
                                   self->options.input);
    }
    return 0;
}

const char *htw__topics_name(const struct htw__kafka *self, struct htw__source source) {
    return source.level == HTW__RELAY_INPUT ? self->options.input
                                            : self->level_topics[source.level];
}

int32_t htw__topics_partition(const struct htw__kafka *self, struct htw__source source) {
    if (source.level == HTW__RELAY_INPUT)
        return (int32_t)source.stripe;
    return (int32_t)(source.stripe * self->options.relay.levels.size + source.slot);
}

bool htw__topics_source(const struct htw__kafka *self, const char *topic, int32_t partition,
                        struct htw__source *ret_source) {
    const struct htw__levels *levels = &self->options.relay.levels;
    if (partition < 0)
        return false;
    for (uint32_t level = 0; level < levels->count; level++) {
        if (strcmp(topic, self->level_topics[level]) != 0)
            continue;
        *ret_source = (struct htw__source) { (uint32_t)partition / levels->size, level,
                                             (uint32_t)partition % levels->size };
        return true;
    }
    *ret_source = (struct htw__source) { (uint32_t)partition, HTW__RELAY_INPUT, 0 };
    return strcmp(topic, self->options.input) == 0;
}

/* ---- asking */

/* The number of partitions of a topic; 0: there is none; negative: no answer. The client knows it from
 * then on: or what it is to do with the topic would wait, for up to a second. */
static int32_t ask_by(rd_kafka_t *client, const char *name, int timeout_ms) {
    const struct rd_kafka_metadata *metadata;
    int32_t count = -EAGAIN;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    if (topic == NULL)
        return 0;
    if (rd_kafka_metadata(client, 0, topic, &metadata, timeout_ms) == RD_KAFKA_RESP_ERR_NO_ERROR) {
        if (metadata->topic_cnt == 1) {
            const struct rd_kafka_metadata_topic *answer = &metadata->topics[0];
            if (answer->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                count = answer->partition_cnt;
            else if (answer->err == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
                     answer->err == RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION)
                count = 0;
            else if (answer->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED)
                count = -EACCES;
        }
        rd_kafka_metadata_destroy(metadata);
    }
    rd_kafka_topic_destroy(topic);
    return count;
}

int32_t htw__topics_ask(struct htw__kafka *self, const char *name, int timeout_ms) {
    return ask_by(self->admin, name, timeout_ms);
}

void htw__topics_meet(struct htw__kafka *self, rd_kafka_t *producer) {
    for (uint32_t level = 0; level < self->options.relay.levels.count; level++)
        if (ask_by(producer, self->level_topics[level], LOOK_MS) < 0)
            return; /* the others would wait for an answer, too */
}

bool htw__topics_have_buckets(struct htw__kafka *self, uint32_t stripe) {
    rd_kafka_t *clients[] = { self->admin, self->readers[0], self->readers[1],
                              self->writers[0].producer, self->writers[1].producer };
    int32_t wanted = (int32_t)((stripe + 1) * self->options.relay.levels.size);
    for (size_t i = 0; i < sizeof(clients) / sizeof(clients[0]); i++)
        for (uint32_t level = 0; level < self->options.relay.levels.count; level++)
            if (clients[i] == NULL ||
                ask_by(clients[i], self->level_topics[level], LOOK_MS) < wanted)
                return false;
    return true;
}

/* ---- destinations */

static struct htw__destination *find_destination(struct htw__kafka *self, const char *name) {
    for (size_t i = 0; i < self->destination_count; i++)
        if (strcmp(self->destinations[i].name, name) == 0)
            return &self->destinations[i];
    return NULL;
}

static struct htw__destination *add_destination(struct htw__kafka *self, const char *name) {
    struct htw__destination *destinations =
        realloc(self->destinations, (self->destination_count + 1) * sizeof(*destinations));
    if (destinations == NULL)
        return NULL;
    self->destinations = destinations;
    struct htw__destination *added = &destinations[self->destination_count++];
    *added = (struct htw__destination) { .partitions = -EAGAIN };
    snprintf(added->name, sizeof(added->name), "%s", name);
    return added;
}

static bool is_denied(const struct htw__destination *known) {
    return known->trust == HTW__TRUST_DENIED && known->partitions == -EACCES;
}

static bool is_fresh(const struct htw__destination *known) {
    int64_t age_ms = htw__clock_monotonic_ns() / 1000000 - known->asked_ms;
    bool counts_long = known->partitions > 0 || is_denied(known);
    return known->partitions != -EAGAIN && age_ms < (counts_long ? KNOWN_MS : MISSING_MS);
}

int32_t htw__topics_destination(struct htw__kafka *self, const char *name,
                                struct htw__destination **ret_destination) {
    struct htw__destination *known = find_destination(self, name);
    *ret_destination = known;
    if (known != NULL && is_fresh(known))
        return known->partitions;
    /* The producers are asked, since it is they that must know it. */
    int32_t count = -EAGAIN;
    for (int i = 0; i < 2; i++)
        if (self->writers[i].producer != NULL)
            count = ask_by(self->writers[i].producer, name, DESTINATION_MS);
    if (known == NULL)
        known = add_destination(self, name);
    if (known == NULL)
        return -ENOMEM;
    /* Without an answer: what was known last. */
    if (count != -EAGAIN || known->partitions < 0)
        known->partitions = count;
    known->asked_ms = htw__clock_monotonic_ns() / 1000000;
    *ret_destination = known;
    return known->partitions;
}

void htw__topics_refuse(struct htw__kafka *self, const char *name, rd_kafka_resp_err_t why) {
    struct htw__destination *known = find_destination(self, name);
    bool may_not = why == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED;
    bool is_missing =
        why == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART || why == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
    if (known == NULL || !(may_not || is_missing))
        return;
    known->partitions = may_not ? -EACCES : 0;
    known->asked_ms = htw__clock_monotonic_ns() / 1000000;
}

void htw__topics_ask_again(struct htw__kafka *self) {
    for (size_t i = 0; i < self->destination_count; i++)
        if (!is_denied(&self->destinations[i]))
            self->destinations[i].asked_ms = -KNOWN_MS;
}

static void introduce(struct htw__kafka *self, const char *name) {
    struct htw__destination *known;
    if (strpbrk(name, "*?[\\") == NULL && htw__topics_destination(self, name, &known) == 0)
        htw__kafka_say(self, "topic %s does not exist: until it does, records to it are bad ones",
                       name);
}

void htw__topics_introduce(struct htw__kafka *self) {
    const struct htw__destinations *destinations = &self->options.relay.destinations;
    if (destinations->default_topic != NULL)
        introduce(self, destinations->default_topic);
    introduce(self, self->options.relay.dead_letters);
    for (size_t i = 0; i < destinations->pattern_count; i++)
        introduce(self, destinations->patterns[i]);
}
