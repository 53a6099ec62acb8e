/* SPDX-License-Identifier: MIT */
/* scan.c - reads what waits, what is due first before what is due later. */
#include "scan.h"

#include "../../../src/base/clock.h"
#include "memory.h"

#include <errno.h>
#include <stdlib.h>

/* For more of a partition: a relay that was killed leaves a transaction open for so long. */
#define PATIENCE_MS 25000

/* So long librdkafka waits for a batch to become full, also at the end of a topic. */
#define BATCH_MS 5
#define BATCH 512

/* What is overdue is in a bucket that starts within this, from now or from the clock of its stripe: a record whose topic is not
 * known, and the next of a stripe whose clock stands, wait for ten seconds at most. The clock may be ahead of now. */
#define SOON_MS 60000

/* So many times as far goes each step: one costs a question for each level. */
#define GROWTH 4

struct part {
    int64_t at, end; /* what is being read; at first `at` is the position, -1: none */
    struct htw__relay_progress progress;
    int64_t clock_ms; /* of the input: of the stripe */
};

struct scan {
    struct htw__kafka *kafka;
    htw__scan_visit *visit;
    void *context;
    uint32_t levels; /* 0: no relay has worked on this input yet */
    struct part *parts[HTW__RELAY_SOURCES];
    uint32_t counts[HTW__RELAY_SOURCES];
    uint32_t reading; /* partitions of the present level */
    int64_t until_ms; /* what is due later is not read yet, ... */
    int64_t next_ms;  /* ... and of that something is due before this */
};

static const char *topic_of(const struct scan *self, uint32_t level) {
    return self->kafka->topics.names[level];
}

/* Beside the positions of the input stand the sizes. */
static bool keep_position(struct scan *self, uint32_t level,
                          const rd_kafka_topic_partition_t *one) {
    struct part *part = &self->parts[level][one->partition];
    struct htw__relay_clock clock;
    part->at = one->offset >= 0 ? one->offset : -1;
    part->progress = HTW__PROGRESS_NONE(part->at);
    if (level == 0)
        return htw__progress_parse(htw__metadata_of(one), part->at, &part->progress) == 0;
    if (level != HTW__RELAY_INPUT)
        return true;
    int error = htw__clock_parse(htw__metadata_of(one), &clock);
    if (error == 0) {
        part->clock_ms = clock.time_ms;
        if (self->until_ms < clock.time_ms + SOON_MS)
            self->until_ms = clock.time_ms + SOON_MS;
        self->kafka->options.relay.levels = clock.levels;
        self->levels = clock.levels.count;
    }
    return error == 0 || error == -ENOENT;
}

/* A new stripe may have no buckets yet. Of positions, what is not committed yet does not count: nothing has happened, then. */
static int read_positions(struct scan *self, uint32_t level) {
    int32_t count = htw__topics_count(self->kafka, self->kafka->readers[0], level);
    rd_kafka_topic_partition_list_t *list =
        htw__topics_offsets(self->kafka, HTW__LOOKUP_POSITIONS, level, count);
    if (list == NULL)
        return -EIO;
    self->counts[level] = (uint32_t)count;
    self->parts[level] = htw__memory((size_t)count * sizeof(struct part));
    for (int i = 0; i < list->cnt; i++)
        if (!keep_position(self, level, &list->elems[i]))
            htw__kafka_fail(self->kafka,
                            "partition %d of %s: the group %s has a position that was not written "
                            "by a relay",
                            (int)list->elems[i].partition, topic_of(self, level),
                            self->kafka->options.group);
    rd_kafka_topic_partition_list_destroy(list);
    return self->kafka->has_failed ? -EIO : 0;
}

/* ---- reading one level */

/* No record of a bucket is due before it starts, except for those that are overdue. The clock is as old as the positions: if the slot
 * has got another turn since, that starts later. */
static bool is_later(struct scan *self, uint32_t level, int32_t partition) {
    const struct htw__levels *levels = &self->kafka->options.relay.levels;
    uint32_t stripe = (uint32_t)partition / levels->size;
    if (level >= HTW__RELAY_LEVELS_MAX || stripe >= self->counts[HTW__RELAY_INPUT])
        return false;
    int64_t width_ms = htw__levels_width(levels, level);
    int64_t number = htw__levels_turn(levels, level, (uint32_t)partition % levels->size,
                                      self->parts[HTW__RELAY_INPUT][stripe].clock_ms);
    if (number * width_ms < self->until_ms)
        return false;
    self->next_ms = htw__clock_earlier(self->next_ms, (number + 1) * width_ms);
    return true;
}

/* Lists what is to be read, from where. A bucket without a position has never been written to. */
static int begin_level(struct scan *self, uint32_t level,
                       rd_kafka_topic_partition_list_t *ret_wanted) {
    rd_kafka_topic_partition_list_t *list =
        htw__topics_offsets(self->kafka, HTW__LOOKUP_ENDS, level, (int32_t)self->counts[level]);
    self->reading = 0;
    for (int i = 0; list != NULL && i < list->cnt; i++) {
        const rd_kafka_topic_partition_t *one = &list->elems[i];
        struct part *part = &self->parts[level][one->partition];
        if (part->at >= one->offset || (part->at < 0 && level < HTW__RELAY_LEVELS_MAX) ||
            is_later(self, level, one->partition))
            continue;
        part->end = one->offset;
        self->reading++;
        rd_kafka_topic_partition_list_add(ret_wanted, one->topic, one->partition)->offset =
            part->at >= 0 ? part->at : RD_KAFKA_OFFSET_BEGINNING;
    }
    if (list == NULL)
        return -EIO;
    rd_kafka_topic_partition_list_destroy(list);
    return 0;
}

/* Its reading ends, so that what comes after the end does not take the place of others. */
static void finish(struct scan *self, struct htw__source from, struct part *part) {
    rd_kafka_topic_partition_list_t *list = htw__topics_list(self->kafka, from, 0);
    rd_kafka_error_destroy(rd_kafka_incremental_unassign(self->kafka->readers[0], list));
    rd_kafka_topic_partition_list_destroy(list);
    part->at = part->end;
    self->reading--;
}

/* Whether a record of level 0 has left its bucket: see progress.h. */
static bool is_done(const struct part *part, const struct htw__relay_request *request,
                    int64_t offset) {
    int64_t deadline_ms = request->why == NULL ? request->deadline_ms : 0;
    if (deadline_ms > part->progress.end_ms)
        deadline_ms = part->progress.end_ms;
    return part->progress.deadline_ms >= 0 &&
           htw__progress_covers(&part->progress, deadline_ms, offset);
}

static void take_record(struct scan *self, struct htw__source from, const struct part *part,
                        const rd_kafka_message_t *message) {
    struct htw__relay_record record = htw__reader_view(self->kafka, message);
    struct htw__relay_request request = { .why = NULL };
    if (from.level != HTW__RELAY_IDS)
        htw__request_parse(&record, &request);
    if (from.level != 0 || !is_done(part, &request, record.offset))
        self->visit(self->context, from, &record, &request);
}

bool htw__scan_is_of(struct htw__kafka *kafka, const rd_kafka_message_t *message, uint32_t level,
                     struct htw__source *ret_from) {
    if (message->err == RD_KAFKA_RESP_ERR_TOPIC_AUTHORIZATION_FAILED ||
        message->err == RD_KAFKA_RESP_ERR_GROUP_AUTHORIZATION_FAILED)
        htw__kafka_fail(kafka, "%s", rd_kafka_message_errstr(message));
    return (message->err == 0 || message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF) &&
           htw__topics_source(kafka, rd_kafka_topic_name(message->rkt), message->partition,
                              ret_from) &&
           ret_from->level == level;
}

/* What is in an open transaction of the input has not been sent yet; in a level, it may be what was in another place
 * before. */
static void take(struct scan *self, uint32_t level, const rd_kafka_message_t *message) {
    struct htw__source from;
    bool is_end = message->err == RD_KAFKA_RESP_ERR__PARTITION_EOF;
    if (!htw__scan_is_of(self->kafka, message, level, &from))
        return;
    struct part *part = &self->parts[level][message->partition];
    if (part->at >= part->end) /* all has come */
        return;
    if (!is_end && message->offset < part->end)
        take_record(self, from, part, message);
    if (message->offset >= part->end - !is_end || (is_end && level == HTW__RELAY_INPUT))
        finish(self, from, part);
}

static void read_all(struct scan *self, uint32_t level) {
    struct htw__kafka *kafka = self->kafka;
    rd_kafka_message_t *messages[BATCH];
    int64_t last_ms = htw__clock_monotonic_ms();
    bool was_full = false;
    while (self->reading > 0 && !kafka->has_failed) {
        ssize_t count =
            rd_kafka_consume_batch_queue(kafka->reader_queues[0], BATCH_MS, messages, BATCH);
        int64_t now_ms = htw__clock_monotonic_ms();
        for (ssize_t i = 0; i < count; i++) {
            if (messages[i]->err == 0)
                last_ms = now_ms;
            take(self, level, messages[i]);
            rd_kafka_message_destroy(messages[i]);
        }
        htw__reader_resume(kafka->readers[0], kafka->reader_queues[0], &was_full);
        if (htw__kafka_is_stopping(kafka))
            htw__kafka_fail(kafka, "stopped");
        else if (self->reading > 0 && now_ms - last_ms > PATIENCE_MS)
            htw__kafka_fail(kafka, "%s: no answer, or a transaction does not end",
                            topic_of(self, level));
    }
}

static int read_level(struct scan *self, uint32_t level) {
    rd_kafka_t *reader = self->kafka->readers[0];
    rd_kafka_topic_partition_list_t *wanted = rd_kafka_topic_partition_list_new(16);
    if (begin_level(self, level, wanted) == 0 && wanted->cnt > 0) {
        rd_kafka_error_t *failure = rd_kafka_incremental_assign(reader, wanted);
        if (failure != NULL)
            htw__kafka_fail(self->kafka, "cannot read %s: %s", topic_of(self, level),
                            rd_kafka_error_string(failure));
        else
            read_all(self, level);
        rd_kafka_error_destroy(failure);
        rd_kafka_assign(reader, NULL);
    }
    rd_kafka_topic_partition_list_destroy(wanted);
    return self->kafka->has_failed ? -EIO : 0;
}

/* ---- all */

static int begin(struct scan *self) {
    struct htw__kafka *kafka = self->kafka;
    if (kafka->readers[0] == NULL &&
        htw__client_consume(kafka, HTW__CLIENT_SCAN, NULL, &kafka->readers[0],
                            &kafka->reader_queues[0]) != 0)
        return -EIO;
    if (read_positions(self, HTW__RELAY_INPUT) != 0)
        return -EIO;
    if (self->levels > 0) {
        int error = htw__topics_name_all(kafka);
        for (uint32_t level = 0; level < self->levels && error == 0; level++)
            error = read_positions(self, level);
        if (error != 0 || read_positions(self, HTW__RELAY_IDS) != 0 ||
            read_level(self, HTW__RELAY_IDS) != 0)
            return -EIO;
    }
    return read_level(self, HTW__RELAY_INPUT);
}

/* Each time from the highest level to the lowest. */
static int scan(struct scan *self, htw__scan_enough *enough) {
    int error = begin(self);
    for (int64_t step_ms = SOON_MS;; step_ms *= GROWTH) {
        self->next_ms = INT64_MAX;
        for (uint32_t level = self->levels; level > 0 && error == 0; level--)
            error = read_level(self, level - 1);
        if (error != 0 || self->next_ms == INT64_MAX)
            return error != 0 ? error : 1;
        if (enough(self->context, self->until_ms))
            return 0;
        int64_t until_ms = self->until_ms + step_ms;
        self->until_ms = until_ms > self->next_ms ? until_ms : self->next_ms;
    }
}

int htw__scan(struct htw__kafka *kafka, int64_t until_ms, htw__scan_visit *visit,
              htw__scan_enough *enough, void *context) {
    struct scan self = { .kafka = kafka, .visit = visit, .context = context };
    int64_t soon_ms = htw__clock_realtime_ms() + SOON_MS;
    self.until_ms = until_ms > soon_ms ? until_ms : soon_ms;
    int result = scan(&self, enough);
    for (size_t i = 0; i < HTW__RELAY_SOURCES; i++)
        free(self.parts[i]);
    return result;
}
