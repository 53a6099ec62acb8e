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
    if (self->cannot_trim || positions->cnt > NEWS_MAX)
        return;
    if (self->trims == NULL)
        self->trims = rd_kafka_topic_partition_list_new(64);
    for (int i = 0; i < positions->cnt; i++) {
        const rd_kafka_topic_partition_t *position = &positions->elems[i];
        if (position->offset == 0 || strcmp(position->topic, self->options.input) == 0)
            continue;
        rd_kafka_topic_partition_t *known =
            rd_kafka_topic_partition_list_find(self->trims, position->topic, position->partition);
        if (known == NULL)
            known = rd_kafka_topic_partition_list_add(self->trims, position->topic,
                                                      position->partition);
        known->offset = position->offset;
    }
}

static void take_result(struct htw__kafka *self) {
    rd_kafka_event_t *event = rd_kafka_queue_poll(self->trim_queue, 0);
    if (event == NULL)
        return;
    rd_kafka_resp_err_t error = rd_kafka_event_error(event);
    if (error == RD_KAFKA_RESP_ERR__UNSUPPORTED_FEATURE ||
        error == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED) {
        self->cannot_trim = true;
        htw__kafka_say(self, "records that were read cannot be deleted: %s: the level topics grow",
                       rd_kafka_err2str(error));
    }
    rd_kafka_event_destroy(event);
    self->is_trimming = false;
}

void htw__trim_run(struct htw__kafka *self, int64_t now_ms) {
    if (self->is_trimming)
        take_result(self);
    if (self->is_trimming || self->trims == NULL || now_ms - self->last_trim_ms < EVERY_MS)
        return;
    rd_kafka_DeleteRecords_t *request = rd_kafka_DeleteRecords_new(self->trims);
    rd_kafka_DeleteRecords(self->admin, &request, 1, NULL, self->trim_queue);
    rd_kafka_DeleteRecords_destroy(request);
    rd_kafka_topic_partition_list_destroy(self->trims);
    self->trims = NULL;
    self->is_trimming = true;
    self->last_trim_ms = now_ms;
}
