/* SPDX-License-Identifier: MIT */
/*
 * trim.c - deletes records of buckets that were read, so that level topics need no retention time.
 *
 * Only what lies before a committed position is deleted. It is no part of a transaction, and if it fails
 * nothing is lost: the next time more is deleted.
 */
#include "kafka.h"

#include <string.h>

#define EVERY_MS 10000
#define NEWS_MAX 2000

void htw__trim_note(struct htw__kafka *self, const rd_kafka_topic_partition_list_t *positions) {
    /* So many are only committed again, so that they do not expire. */
    if (self->trim.is_refused || positions->cnt > NEWS_MAX)
        return;
    if (self->trim.list == NULL)
        self->trim.list = rd_kafka_topic_partition_list_new(64);
    for (int i = 0; i < positions->cnt; i++) {
        const rd_kafka_topic_partition_t *position = &positions->elems[i];
        if (position->offset == 0 || strcmp(position->topic, self->options.input) == 0)
            continue;
        rd_kafka_topic_partition_t *known = rd_kafka_topic_partition_list_find(
            self->trim.list, position->topic, position->partition);
        if (known == NULL)
            known = rd_kafka_topic_partition_list_add(self->trim.list, position->topic,
                                                      position->partition);
        known->offset = position->offset;
    }
}

static void take_result(struct htw__kafka *self) {
    rd_kafka_event_t *event = rd_kafka_queue_poll(self->trim.queue, 0);
    if (event == NULL)
        return;
    rd_kafka_resp_err_t error = rd_kafka_event_error(event);
    if (error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ||
        error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
        self->trim.is_refused = true;
        htw__kafka_say(self, HTW__LOG_WARNING,
                       "records that were read cannot be deleted: %s: the level topics grow",
                       rd_kafka_err2str(error));
    }
    rd_kafka_event_destroy(event);
    self->trim.is_running = false;
}

void htw__trim_run(struct htw__kafka *self, int64_t now_ms) {
    if (self->trim.is_running)
        take_result(self);
    if (self->trim.is_running || self->trim.list == NULL || now_ms - self->trim.last_ms < EVERY_MS)
        return;
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(self->trim.list);
    rd_kafka_DeleteRecords(self->admin, &request, 1, NULL, self->trim.queue);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(self->trim.list);
    self->trim.list = NULL;
    self->trim.is_running = true;
    self->trim.last_ms = now_ms;
}
