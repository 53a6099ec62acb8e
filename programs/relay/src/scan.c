/* SPDX-License-Identifier: MIT */
/* scan.c - reads all that waits. */
#include "scan.h"

#include "request.h"

#include "../../../src/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#define ASK_MS 10000

/* For more of a partition: a relay that was killed leaves a transaction open for so long. */
#define PATIENCE_MS 25000
#define POLL_MS 100

#define BATCH 512

struct part {
    int64_t at, end; /* what is to be read; at first `at` is the position, -1: none */
    bool is_reading; /* not all of it has come */
    bool is_stuck;   /* all has come that can be read now */
    struct htw__relay_progress progress;
};

struct scan {
    struct htw__kafka *kafka;
    htw__scan_visit *visit;
    void *context;
    uint32_t levels; /* 0: no relay has worked on this input yet */
    /* Of the input, of the index, and by level: */
    struct part *parts[HTW__RELAY_LEVELS_MAX + 2];
    uint32_t counts[HTW__RELAY_LEVELS_MAX + 2];
    uint32_t reading; /* partitions of the present level */
};

/* ---- what is where */

static uint32_t index_of(uint32_t level) {
    return level == HTW__RELAY_INPUT ? 0 : level == HTW__RELAY_IDS ? 1 : level + 2;
}

static struct part *parts_of(const struct scan *self, uint32_t level) {
    return self->parts[index_of(level)];
}

static const char *topic_of(const struct scan *self, uint32_t level) {
    return htw__topics_name(self->kafka, (struct htw__source) { 0, level, 0 });
}

static rd_kafka_topic_partition_list_t *list_parts(const struct scan *self, uint32_t level) {
    uint32_t count = self->counts[index_of(level)];
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new((int)count);
    for (uint32_t i = 0; i < count; i++)
        rd_kafka_topic_partition_list_add(list, topic_of(self, level), (int32_t)i);
    return list;
}

/* ---- asking */

/* Brokers that have just got a partition do not know it yet. Of positions, what is not committed yet does not count: nothing
 * has happened, then. */
static int ask(struct scan *self, enum htw__lookup_offsets which,
               rd_kafka_topic_partition_list_t *list) {
    int64_t begin_ms = htw__clock_monotonic_ms();
    for (;;) {
        rd_kafka_resp_err_t error = htw__lookup_offsets(self->kafka->admin, which, list, ASK_MS);
        if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
            return 0;
        if (htw__clock_monotonic_ms() - begin_ms > ASK_MS || htw__kafka_is_stopping(self->kafka))
            return htw__kafka_fail(self->kafka, "no answer for the %s of %s: %s",
                                   which == HTW__LOOKUP_ENDS ? "ends" : "positions",
                                   list->elems[0].topic, rd_kafka_err2str(error));
        poll(NULL, 0, POLL_MS);
    }
}

/* How many partitions there are. A new stripe may have no buckets yet. The reader asks: so it knows the leaders when it
 * begins to read, and does not look for them only once a second. */
static int count_parts(struct scan *self, uint32_t level) {
    const char *topic = topic_of(self, level);
    int32_t count = htw__lookup_now(self->kafka->readers[0], topic, ASK_MS, NULL);
    if (count <= 0)
        return htw__kafka_fail(self->kafka,
                               count == 0         ? "topic %s does not exist"
                               : count == -EACCES ? "topic %s: not allowed to see it"
                                                  : "no answer from the brokers for %s",
                               topic);
    self->counts[index_of(level)] = (uint32_t)count;
    return 0;
}

/* ---- positions */

static int find_levels(struct scan *self, const rd_kafka_topic_partition_list_t *list) {
    struct htw__kafka *kafka = self->kafka;
    for (int i = 0; i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        struct htw__relay_clock clock;
        int error =
            htw__clock_parse((struct htw__bytes) { one->metadata, one->metadata_size }, &clock);
        if (error == -ENOENT)
            continue;
        if (error != 0)
            return htw__kafka_fail(kafka,
                                   "partition %d of %s: the group %s has a position that was not "
                                   "written by a relay",
                                   (int)one->partition, kafka->options.input, kafka->options.group);
        kafka->options.relay.levels = clock.levels;
        self->levels = clock.levels.count;
    }
    return self->levels == 0 ? 0 : htw__topics_name_all(kafka);
}

/* The sizes first, which stand beside the positions of the input. */
static int read_levels(struct scan *self) {
    int error = count_parts(self, HTW__RELAY_INPUT);
    if (error != 0)
        return error;
    rd_kafka_topic_partition_list_t *list = list_parts(self, HTW__RELAY_INPUT);
    error = ask(self, HTW__LOOKUP_POSITIONS, list);
    if (error == 0)
        error = find_levels(self, list);
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

static int keep_position(struct scan *self, uint32_t level, const rd_kafka_topic_partition_t *one) {
    struct part *part = &parts_of(self, level)[one->partition];
    const struct htw__bytes metadata = { one->metadata, one->metadata_size };
    part->at = one->offset >= 0 ? one->offset : -1;
    part->progress = HTW__PROGRESS_NONE(part->at);
    if (level != 0 || htw__progress_parse(metadata, part->at, &part->progress) == 0)
        return 0;
    return htw__kafka_fail(self->kafka,
                           "partition %d of %s: its position was not written by a relay",
                           (int)one->partition, one->topic);
}

static int read_positions(struct scan *self, uint32_t level) {
    int error = count_parts(self, level);
    if (error != 0)
        return error;
    struct part *parts = calloc(self->counts[index_of(level)], sizeof(*parts));
    if (parts == NULL)
        return htw__kafka_fail(self->kafka, "out of memory");
    self->parts[index_of(level)] = parts;
    rd_kafka_topic_partition_list_t *list = list_parts(self, level);
    error = ask(self, HTW__LOOKUP_POSITIONS, list);
    for (int i = 0; i < list->cnt && error == 0; i++)
        error = keep_position(self, level, &list->elems[i]);
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

/* ---- reading one level */

/* A bucket without a position has never been written to. */
static bool is_wanted(const struct part *part, uint32_t level, int64_t end) {
    bool is_bucket = level != HTW__RELAY_INPUT && level != HTW__RELAY_IDS;
    return part->at < end && (part->at >= 0 || !is_bucket);
}

/* Lists what is to be read, from where. */
static int begin_level(struct scan *self, uint32_t level,
                       rd_kafka_topic_partition_list_t *ret_wanted) {
    rd_kafka_topic_partition_list_t *list = list_parts(self, level);
    int error = ask(self, HTW__LOOKUP_ENDS, list);
    self->reading = 0;
    for (int i = 0; i < list->cnt && error == 0; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        struct part *part = &parts_of(self, level)[one->partition];
        if (!is_wanted(part, level, one->offset))
            continue;
        part->end = one->offset;
        part->is_reading = true;
        self->reading++;
        rd_kafka_topic_partition_list_add(ret_wanted, one->topic, one->partition)->offset =
            part->at >= 0 ? part->at : RD_KAFKA_OFFSET_BEGINNING;
    }
    rd_kafka_topic_partition_list_destroy(list);
    return error;
}

/* Its reading ends, so that what comes after the end does not take the place of others. */
static void finish(struct scan *self, uint32_t level, int32_t partition, struct part *part) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    rd_kafka_topic_partition_list_add(list, topic_of(self, level), partition);
    rd_kafka_error_destroy(rd_kafka_incremental_unassign(self->kafka->readers[0], list));
    rd_kafka_topic_partition_list_destroy(list);
    part->is_reading = false;
    self->reading--;
}

/* Whether a record of level 0 has left its bucket: see progress.h. */
static bool is_done(const struct part *part, const struct htw__relay_record *record) {
    struct htw__request request;
    if (part->progress.deadline_ms < 0)
        return false;
    int64_t deadline_ms = htw__request_parse(record, &request) == NULL ? request.deadline_ms : 0;
    if (deadline_ms > part->progress.end_ms)
        deadline_ms = part->progress.end_ms;
    return htw__progress_covers(&part->progress, deadline_ms, record->offset);
}

static int take_record(struct scan *self, struct htw__source from, const struct part *part,
                       const rd_kafka_message_t *message) {
    struct htw__relay_record record;
    if (!htw__reader_view(self->kafka, message, &record))
        return htw__kafka_fail(self->kafka, "out of memory");
    return from.level == 0 && is_done(part, &record) ? 0
                                                     : self->visit(self->context, from, &record);
}

/* What is in an open transaction of the input has not been sent yet; in a level, it may be what was in another place
 * before. */
static int take(struct scan *self, uint32_t level, const rd_kafka_message_t *message) {
    struct htw__source from;
    int error = 0;
    if (message->err != RD_KAFKA_RESP_ERR_NO_ERROR &&
        message->err != RD_KAFKA_RESP_ERR__PARTITION_EOF) {
        if (message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
            message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
            return htw__kafka_fail(self->kafka, "%s", rd_kafka_message_errstr(message));
        return 0; /* what mends itself */
    }
    if (!htw__topics_source(self->kafka, rd_kafka_topic_name(message->rkt), message->partition,
                            &from) ||
        from.level != level)
        return 0;
    struct part *part = &parts_of(self, level)[message->partition];
    if (!part->is_reading)
        return 0;
    bool is_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    part->is_stuck = is_end;
    if (!is_end && message->offset < part->end)
        error = take_record(self, from, part, message);
    if (message->offset >= part->end - !is_end || (is_end && level == HTW__RELAY_INPUT))
        finish(self, level, message->partition, part);
    return error;
}

/* Nothing has come for long: that is an error, unless what is missing are open transactions. */
static int give_up(struct scan *self, uint32_t level) {
    uint32_t stuck = 0;
    for (uint32_t i = 0; i < self->counts[index_of(level)]; i++)
        stuck += parts_of(self, level)[i].is_reading && parts_of(self, level)[i].is_stuck;
    if (stuck < self->reading)
        return htw__kafka_fail(self->kafka, "no answer from the brokers: %s",
                               self->kafka->options.brokers);
    htw__kafka_say(self->kafka,
                   "%u partitions of %s have open transactions: what is in these is not listed",
                   stuck, topic_of(self, level));
    self->reading = 0;
    return 0;
}

static int read_all(struct scan *self, uint32_t level) {
    rd_kafka_message_t *messages[BATCH];
    int64_t last_ms = htw__clock_monotonic_ms();
    bool was_full = false;
    int error = 0;
    while (self->reading > 0 && error == 0) {
        ssize_t count =
            rd_kafka_consume_batch_queue(self->kafka->reader_queues[0], POLL_MS, messages, BATCH);
        int64_t now_ms = htw__clock_monotonic_ms();
        for (ssize_t i = 0; i < count; i++) {
            if (messages[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR)
                last_ms = now_ms;
            if (error == 0)
                error = take(self, level, messages[i]);
            rd_kafka_message_destroy(messages[i]);
        }
        htw__reader_resume(self->kafka->readers[0], self->kafka->reader_queues[0], &was_full);
        if (error == 0 && htw__kafka_is_stopping(self->kafka))
            error = htw__kafka_fail(self->kafka, "stopped");
        else if (error == 0 && self->reading > 0 && now_ms - last_ms > PATIENCE_MS)
            error = give_up(self, level);
    }
    return error;
}

static int read_level(struct scan *self, uint32_t level) {
    rd_kafka_t *reader = self->kafka->readers[0];
    rd_kafka_topic_partition_list_t *wanted = rd_kafka_topic_partition_list_new(16);
    int error = begin_level(self, level, wanted);
    if (error == 0 && wanted->cnt > 0) {
        rd_kafka_error_t *failure = rd_kafka_incremental_assign(reader, wanted);
        if (failure != NULL) {
            error = htw__kafka_fail(self->kafka, "cannot read %s: %s", topic_of(self, level),
                                    rd_kafka_error_string(failure));
            rd_kafka_error_destroy(failure);
        } else {
            error = read_all(self, level);
        }
        rd_kafka_assign(reader, NULL);
    }
    rd_kafka_topic_partition_list_destroy(wanted);
    return error;
}

/* ---- all */

int htw__scan(struct htw__kafka *kafka, htw__scan_visit *visit, void *context) {
    struct scan self = { .kafka = kafka, .visit = visit, .context = context };
    int error = kafka->readers[0] != NULL
                    ? 0
                    : htw__client_consume(kafka, HTW__CLIENT_SCAN, NULL, &kafka->readers[0],
                                          &kafka->reader_queues[0]);
    if (error == 0)
        error = read_levels(&self);
    if (error == 0)
        error = read_positions(&self, HTW__RELAY_INPUT);
    for (uint32_t level = 0; level < self.levels && error == 0; level++)
        error = read_positions(&self, level);
    if (error == 0 && self.levels > 0)
        error = read_positions(&self, HTW__RELAY_IDS);
    if (error == 0 && self.levels > 0)
        error = read_level(&self, HTW__RELAY_IDS);
    if (error == 0)
        error = read_level(&self, HTW__RELAY_INPUT);
    for (uint32_t level = self.levels; level > 0 && error == 0; level--)
        error = read_level(&self, level - 1);
    for (size_t i = 0; i <= HTW__RELAY_LEVELS_MAX + 1; i++)
        free(self.parts[i]);
    return error;
}
