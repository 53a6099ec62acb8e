/* SPDX-License-Identifier: MIT */
/* lookup.c - a thread that asks the brokers which topics there are, and how far the group is. */
#include "lookup.h"

#include "../base/thread.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* So many questions are asked by one request for all topics, which costs the brokers more than a few single ones. */
#define MANY 16

/* Between two such requests: the answer to one is as long as the list of all topics. */
#define PAUSE_MS 1000

#define OFFSETS_MS 1000 /* for offsets: names wait meanwhile */

static int32_t partitions_of(const rd_kafka_metadata_topic_t *topic) {
    switch ((int)topic->err) { /* of more than a hundred */
    case RD_KAFKA_RESP_ERR_NO_ERROR:
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
    if (rd_kafka_metadata(client, 0, topic, &metadata, timeout_ms) == RD_KAFKA_RESP_ERR_NO_ERROR &&
        metadata->topic_cnt == 1)
        count = partitions_of(&metadata->topics[0]);
    if (count > 0 && ret_replicas != NULL)
        *ret_replicas = metadata->topics[0].partitions[0].replica_cnt;
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
    rd_kafka_topic_destroy(topic);
    return count;
}

/* ---- the thread */

static int compare_names(const void *a, const void *b) {
    const rd_kafka_metadata_topic_t *one = a, *other = b;
    return strcmp(one->topic, other->topic);
}

/* A topic that is not in the list does not exist, or may not be seen. */
static void answer_all(struct htw__lookup *self, struct htw__lookup_item *items, size_t count) {
    const struct rd_kafka_metadata *metadata = NULL;
    bool has_answer = rd_kafka_metadata(self->client, 1, NULL, &metadata, HTW__LOOKUP_MS) ==
                      RD_KAFKA_RESP_ERR_NO_ERROR;
    if (has_answer)
        qsort(metadata->topics, (size_t)metadata->topic_cnt, sizeof(*metadata->topics),
              compare_names);
    for (size_t i = 0; i < count; i++) {
        items[i].partitions = has_answer ? 0 : -EAGAIN;
        if (!has_answer)
            continue;
        const rd_kafka_metadata_topic_t wanted = { .topic = items[i].name };
        const rd_kafka_metadata_topic_t *found =
            bsearch(&wanted, metadata->topics, (size_t)metadata->topic_cnt,
                    sizeof(*metadata->topics), compare_names);
        if (found != NULL)
            items[i].partitions = partitions_of(found);
    }
    if (metadata != NULL)
        rd_kafka_metadata_destroy(metadata);
}

static bool must_ask_offsets(const struct htw__lookup *self) {
    return self->list != NULL && !self->list_is_known;
}

/* Waits for a question, and where `pause` is set also for the end of a pause. False: the thread must end. */
static bool await_question(struct htw__lookup *self, bool pause) {
    struct timespec end;
    clock_gettime(CLOCK_MONOTONIC, &end);
    end.tv_sec += PAUSE_MS / 1000;
    while (pause && !self->must_end)
        pause = pthread_cond_timedwait(&self->wake, &self->lock, &end) != ETIMEDOUT;
    while (self->question_count == 0 && !must_ask_offsets(self) && !self->must_end)
        pthread_cond_wait(&self->wake, &self->lock);
    return !self->must_end;
}

static void answer(struct htw__lookup *self, struct htw__lookup_item *items, size_t count) {
    if (count >= MANY)
        answer_all(self, items, count);
    else
        for (size_t i = 0; i < count; i++)
            items[i].partitions =
                htw__lookup_now(self->client, items[i].name, HTW__LOOKUP_MS, NULL);
}

static rd_kafka_resp_err_t find_offsets(rd_kafka_t *client, enum htw__lookup_offsets offsets,
                                        rd_kafka_topic_partition_list_t *list) {
    if (offsets == HTW__LOOKUP_POSITIONS)
        return rd_kafka_committed(client, list, OFFSETS_MS);
    for (int i = 0; i < list->cnt; i++)
        list->elems[i].offset =
            offsets == HTW__LOOKUP_STARTS ? RD_KAFKA_OFFSET_BEGINNING : RD_KAFKA_OFFSET_END;
    return rd_kafka_offsets_for_times(client, list, OFFSETS_MS);
}

/* With the lock, which is given up meanwhile. */
static void answer_offsets(struct htw__lookup *self) {
    rd_kafka_topic_partition_list_t *list = self->list;
    pthread_mutex_unlock(&self->lock);
    rd_kafka_resp_err_t error = find_offsets(self->client, self->offsets, list);
    for (int i = 0; i < list->cnt && error != RD_KAFKA_RESP_ERR_NO_ERROR; i++)
        list->elems[i].err = error;
    pthread_mutex_lock(&self->lock);
    self->list_is_known = true;
}

static void *run(void *context) {
    static const uint64_t one = 1;
    struct htw__lookup *self = context;
    bool must_pause = false;
    pthread_mutex_lock(&self->lock);
    while (await_question(self, must_pause)) {
        if (must_ask_offsets(self))
            answer_offsets(self);
        size_t count = self->question_count;
        memcpy(self->asked, self->questions, count * sizeof(*self->asked));
        self->question_count = 0;
        self->asked_count = count;
        pthread_mutex_unlock(&self->lock);
        answer(self, self->asked, count);
        must_pause = count >= MANY;
        pthread_mutex_lock(&self->lock);
        memcpy(&self->answers[self->answer_count], self->asked, count * sizeof(*self->asked));
        self->answer_count += count;
        self->asked_count = 0;
        (void)!write(self->event_fd, &one, sizeof(one));
    }
    pthread_mutex_unlock(&self->lock);
    return NULL;
}

/* ---- start and end */

static int start(struct htw__lookup *self) {
    pthread_condattr_t attributes;
    self->questions = malloc(3 * HTW__LOOKUPS_MAX * sizeof(*self->questions));
    if (self->questions == NULL)
        return -ENOMEM;
    self->asked = self->questions + HTW__LOOKUPS_MAX;
    self->answers = self->asked + HTW__LOOKUPS_MAX;
    pthread_mutex_init(&self->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&self->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return htw__thread_start(&self->thread, "htw", "lookup", 0, run, self);
}

int htw__lookup_start(struct htw__lookup *self, rd_kafka_t *client, int event_fd) {
    *self = (struct htw__lookup) { .client = client, .event_fd = event_fd };
    int error = start(self);
    self->is_running = error == 0;
    return error;
}

void htw__lookup_stop(struct htw__lookup *self) {
    if (self->is_running) {
        pthread_mutex_lock(&self->lock);
        self->must_end = true;
        pthread_cond_signal(&self->wake);
        pthread_mutex_unlock(&self->lock);
        pthread_join(self->thread, NULL);
    }
    if (self->questions != NULL) {
        pthread_cond_destroy(&self->wake);
        pthread_mutex_destroy(&self->lock);
    }
    if (self->list != NULL)
        rd_kafka_topic_partition_list_destroy(self->list);
    free(self->questions);
    *self = (struct htw__lookup) { .client = NULL };
}

/* ---- questions and answers */

bool htw__lookup_ask(struct htw__lookup *self, const char *name) {
    pthread_mutex_lock(&self->lock);
    bool has_room =
        self->question_count + self->asked_count + self->answer_count < HTW__LOOKUPS_MAX;
    if (has_room) {
        snprintf(self->questions[self->question_count].name, HTW__TOPIC_NAME_SIZE, "%s", name);
        self->question_count++;
        pthread_cond_signal(&self->wake);
    }
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

size_t htw__lookup_take(struct htw__lookup *self, struct htw__lookup_item *items, size_t max) {
    pthread_mutex_lock(&self->lock);
    size_t count = self->answer_count < max ? self->answer_count : max;
    self->answer_count -= count;
    memcpy(items, &self->answers[self->answer_count], count * sizeof(*items));
    pthread_mutex_unlock(&self->lock);
    return count;
}

bool htw__lookup_ask_offsets(struct htw__lookup *self, enum htw__lookup_offsets offsets,
                             rd_kafka_topic_partition_list_t *list) {
    pthread_mutex_lock(&self->lock);
    bool has_room = self->list == NULL;
    if (has_room) {
        self->list = list;
        self->offsets = offsets;
        self->list_is_known = false;
        pthread_cond_signal(&self->wake);
    }
    pthread_mutex_unlock(&self->lock);
    return has_room;
}

rd_kafka_topic_partition_list_t *htw__lookup_take_offsets(struct htw__lookup *self,
                                                          enum htw__lookup_offsets *ret_offsets) {
    rd_kafka_topic_partition_list_t *list = NULL;
    pthread_mutex_lock(&self->lock);
    if (self->list_is_known) {
        list = self->list;
        *ret_offsets = self->offsets;
        self->list = NULL;
        self->list_is_known = false;
    }
    pthread_mutex_unlock(&self->lock);
    return list;
}
