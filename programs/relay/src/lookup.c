/* SPDX-License-Identifier: MIT */
/* lookup.c - asks the brokers in the background which topics there are, and how far the group is. */
#include "lookup.h"

#include "../../../src/base/clock.h"
#include "memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* So many questions are asked by one request for all topics, which costs the brokers more than a few single ones. */
#define MANY 16

/* Between two such requests: the answer to one is as long as the list of all topics. */
#define PAUSE_MS 1000

#define OFFSETS_MS 1000 /* for offsets: names wait meanwhile */

static int32_t partitions_of(const rd_kafka_metadata_topic_t *topic) {
    switch ((int)topic->err) { /* of more than a hundred */
    case 0:
        return topic->partition_cnt;
    case RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART:
    case RD_KAFKA_RESP_ERR_TOPIC_EXCEPTION:
        return 0;
    case RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED:
        return -EACCES;
    default:
        return -EAGAIN;
    }
}

int32_t htw__lookup_now(rd_kafka_t *client, const char *name, int timeout_ms,
                        int32_t *ret_replicas) {
    int32_t count = -EAGAIN;
    rd_kafka_topic_t *topic = rd_kafka_topic_new(client, name, NULL);
    if (topic == NULL)
        return 0; /* no topic can have such a name */
    const struct rd_kafka_metadata *metadata = NULL;
    if (rd_kafka_metadata(client, 0, topic, &metadata, timeout_ms) == 0 && metadata->topic_cnt == 1)
        count = partitions_of(&metadata->topics[0]);
    if (count > 0 && ret_replicas != NULL)
        *ret_replicas = metadata->topics[0].partitions[0].replica_cnt;
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return count;
}

/* Each partition may have an error of its own. */
static rd_kafka_resp_err_t find_offsets(rd_kafka_t *client, enum htw__lookup_offsets which,
                                        rd_kafka_topic_partition_list_t *list, int timeout_ms) {
    if (which == HTW__LOOKUP_POSITIONS)
        return rd_kafka_committed(client, list, timeout_ms);
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset =
            which == HTW__LOOKUP_STARTS ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    return rd_kafka_offsets_for_times(client, list, timeout_ms);
}

rd_kafka_resp_err_t htw__lookup_offsets(rd_kafka_t *client, enum htw__lookup_offsets which,
                                        rd_kafka_topic_partition_list_t *list, int timeout_ms) {
    rd_kafka_resp_err_t error = find_offsets(client, which, list, timeout_ms);
    for (int i = 0; i < list->cnt && error == 0; i++)
        error = list->elems[i].err;
    return error;
}

/* ---- in the background */

static int compare_names(const void *a, const void *b) {
    const rd_kafka_metadata_topic_t *one = a, *other = b;
    return strcmp(one->topic, other->topic);
}

/* A topic that is not in the list does not exist, or may not be seen. */
static void answer_many(struct htw__lookup *self) {
    const struct rd_kafka_metadata *metadata = NULL;
    bool has_answer = rd_kafka_metadata(self->client, 1, NULL, &metadata, HTW__LOOKUP_MS) == 0;
    if (has_answer)
        qsort(metadata->topics, (size_t)metadata->topic_cnt, sizeof(*metadata->topics),
              compare_names);
    for (size_t i = 0; i < self->count; i++) {
        const rd_kafka_metadata_topic_t wanted = { .topic = self->items[i].name };
        const rd_kafka_metadata_topic_t *found =
            has_answer ? bsearch(&wanted, metadata->topics, (size_t)metadata->topic_cnt,
                                 sizeof(*metadata->topics), compare_names)
                       : NULL;
        self->items[i].partitions = found != NULL ? partitions_of(found) : has_answer ? 0 : -EAGAIN;
    }
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
}

static void answer_offsets(struct htw__lookup *self) {
    rd_kafka_resp_err_t error = find_offsets(self->client, self->offsets, self->list, OFFSETS_MS);
    for (int i = 0; i < self->list->cnt && error != 0; i++)
        self->list->elems[i].err = error;
}

static int answer_all(void *context) {
    struct htw__lookup *self = context;
    if (self->list_state == HTW__LIST_IS_ASKED)
        answer_offsets(self);
    if (self->count >= MANY)
        answer_many(self);
    for (size_t i = 0; i < self->count && self->count < MANY; i++)
        self->items[i].partitions =
            htw__lookup_now(self->client, self->items[i].name, HTW__LOOKUP_MS, NULL);
    return 0;
}

/* ---- start and end */

void htw__lookup_init(struct htw__lookup *self, rd_kafka_t *client, int event_fd) {
    *self = (struct htw__lookup) { .client = client };
    self->background = (struct htw__background) {
        .job = answer_all, .context = self, .name = "lookup", .event_fd = event_fd
    };
}

void htw__lookup_fini(struct htw__lookup *self) {
    int result;
    (void)htw__background_take(&self->background, true, &result);
    if (self->list != NULL)
        rd_kafka_topic_partition_list_destroy(self->list);
    free(self->items);
    *self = (struct htw__lookup) { .client = NULL };
}

/* ---- questions and answers */

bool htw__lookup_is_free(const struct htw__lookup *self) {
    return !self->background.is_in_flight &&
           (self->paused_ms == 0 || htw__clock_monotonic_ms() - self->paused_ms >= PAUSE_MS);
}

void htw__lookup_add(struct htw__lookup *self, const char *name) {
    self->items =
        htw__memory_reserve(self->items, self->count + 1, &self->room, sizeof(*self->items));
    snprintf(self->items[self->count++].name, HTW__TOPIC_NAME_SIZE, "%s", name);
}

bool htw__lookup_ask_offsets(struct htw__lookup *self, enum htw__lookup_offsets offsets,
                             rd_kafka_topic_partition_list_t *list) {
    if (self->list != NULL)
        return false;
    self->list = list;
    self->offsets = offsets;
    self->list_state = HTW__LIST_WAITS;
    return true;
}

void htw__lookup_send(struct htw__lookup *self) {
    bool has_list = self->list != NULL && self->list_state == HTW__LIST_WAITS;
    if (self->background.is_in_flight || (self->count == 0 && !has_list))
        return;
    if (has_list)
        self->list_state = HTW__LIST_IS_ASKED;
    htw__background_begin(&self->background);
}

size_t htw__lookup_take(struct htw__lookup *self) {
    int result;
    if (!htw__background_take(&self->background, false, &result))
        return 0;
    if (self->list != NULL && self->list_state == HTW__LIST_IS_ASKED)
        self->list_state = HTW__LIST_IS_KNOWN;
    size_t count = self->count;
    if (count >= MANY)
        self->paused_ms = htw__clock_monotonic_ms();
    self->count = 0;
    return count;
}

rd_kafka_topic_partition_list_t *htw__lookup_take_offsets(struct htw__lookup *self,
                                                          enum htw__lookup_offsets *ret_offsets) {
    rd_kafka_topic_partition_list_t *list = self->list;
    if (list == NULL || self->list_state != HTW__LIST_IS_KNOWN)
        return NULL;
    *ret_offsets = self->offsets;
    self->list = NULL;
    return list;
}
