/* SPDX-License-Identifier: MIT */
/* ask.c - asks relays for a record by its key and id. */
#include "ask.h"

#include "../../../src/base/clock.h"
#include "../../../src/base/random.h"
#include "index.h"
#include "scan.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define SEND_MS 30000
#define LOOKUP_MS 10000
#define POLL_MS 100

/* How long a relay may take to answer: it may be busy, or just starting. */
#define ANSWER_MS 20000

/* ---- reading */

/* Makes the clients, once. False: `error` says why. */
static bool begin(struct htw__kafka *kafka) {
    rd_kafka_t **producer = &kafka->writers[0].producer;
    if (*producer != NULL)
        return true;
    *producer = htw__client_create(kafka, HTW__CLIENT_CHANGE, NULL);
    return *producer != NULL &&
           htw__client_consume(kafka, HTW__CLIENT_SCAN, NULL, &kafka->readers[0],
                               &kafka->reader_queues[0]) == 0 &&
           htw__topics_count(kafka, kafka->readers[0], HTW__RELAY_INPUT) > 0;
}

static int assign(struct htw__kafka *kafka, const rd_kafka_topic_partition_list_t *list) {
    rd_kafka_resp_err_t error = rd_kafka_assign(kafka->readers[0], list);
    return error == 0 ? 0
                      : htw__kafka_fail(kafka, "cannot read %s: %s", list->elems[0].topic,
                                        rd_kafka_err2str(error));
}

/* The next record of a topic, or with its error the end of a partition; NULL: none in a while, or `kafka` has failed. */
static rd_kafka_message_t *next(struct htw__kafka *kafka, uint32_t level,
                                struct htw__source *ret_from) {
    rd_kafka_message_t *message = rd_kafka_consume_queue(kafka->reader_queues[0], POLL_MS);
    if (message == NULL || htw__scan_is_of(kafka, message, level, ret_from))
        return message;
    rd_kafka_message_destroy(message);
    return NULL;
}

/* ---- asking */

/* Sends it to the partitions of the list, and waits. */
static int send_all(struct htw__kafka *kafka, const struct htw__question *question, int64_t number,
                    const rd_kafka_topic_partition_list_t *list) {
    rd_kafka_t *producer = kafka->writers[0].producer;
    struct htw__headers headers = { .items = NULL };
    struct htw__relay_record record = question->record;
    struct htw__sent sent = { 0 };
    htw__headers_to_ask(&headers, &record, number, question->to_ms,
                        question->moved == NULL ? -1 : question->moved->offset);
    record.headers = headers.items;
    record.header_count = headers.count;
    for (int i = 0; i < list->cnt && sent.error == 0; i++) {
        sent.error = htw__client_produce(producer, kafka->options.input, list->elems[i].partition,
                                         &record, &sent);
        sent.left += sent.error == 0;
    }
    rd_kafka_flush(producer, htw__kafka_limit_ms(kafka, SEND_MS));
    if (sent.left > 0) { /* it must not be acknowledged after this */
        sent.error = sent.error != 0 ? sent.error : RD_KAFKA_RESP_ERR__TIMED_OUT;
        rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(producer, HTW__STOP_MS);
    }
    free(headers.items);
    return sent.error == 0 ? 0
                           : htw__kafka_fail(kafka, "cannot write to %s: %s", kafka->options.input,
                                             rd_kafka_err2str(sent.error));
}

/* Whether the next record is an answer to this question. */
static bool read_answer(struct htw__kafka *kafka, int64_t number, struct htw__source *ret_from,
                        struct htw__index_answer *ret_answer) {
    rd_kafka_message_t *message = next(kafka, HTW__RELAY_IDS, ret_from);
    if (message == NULL)
        return false;
    const struct htw__relay_record record = htw__reader_view(kafka, message);
    bool is = message->err == 0 && htw__index_parse_answer(&record, ret_answer) &&
              ret_answer->ask == number;
    rd_kafka_message_destroy(message);
    return is;
}

/* Reads answers, until one has it. Each partition that has answered leaves the list. */
static enum htw__reply await(struct htw__kafka *kafka, int64_t number,
                             rd_kafka_topic_partition_list_t *list,
                             struct htw__answer *ret_answer) {
    int64_t end_ms = htw__clock_monotonic_ms() + ANSWER_MS;
    struct htw__index_answer one;
    ret_answer->is_sure = true;
    while (list->cnt > 0 && !kafka->has_failed) {
        if (!read_answer(kafka, number, &ret_answer->from, &one)) {
            ret_answer->from.stripe = (uint32_t)list->elems[0].partition;
            if (htw__clock_monotonic_ms() > end_ms || htw__kafka_is_stopping(kafka))
                return HTW__REPLY_SILENT;
            continue;
        }
        ret_answer->offset = one.offset;
        ret_answer->is_done = one.is_done;
        ret_answer->is_sure &= one.is_sure;
        if (one.offset >= 0)
            return one.is_sure ? HTW__REPLY_FOUND : HTW__REPLY_UNSURE;
        rd_kafka_topic_partition_list_del(list, kafka->topics.names[HTW__RELAY_IDS],
                                          (int32_t)ret_answer->from.stripe);
    }
    return kafka->has_failed ? HTW__REPLY_FAILED : HTW__REPLY_NONE;
}

/* Where the index ends, in the partitions that are asked: those that the input has. NULL or empty: `error` says why. */
static rd_kafka_topic_partition_list_t *find_ends(struct htw__kafka *kafka,
                                                  const struct htw__answer *moved) {
    int32_t end = htw__topics_count(kafka, kafka->writers[0].producer, HTW__RELAY_INPUT),
            count = htw__topics_count(kafka, kafka->readers[0], HTW__RELAY_IDS);
    rd_kafka_topic_partition_list_t *list =
        htw__topics_offsets(kafka, HTW__LOOKUP_ENDS, HTW__RELAY_IDS, count);
    for (int i = count; list != NULL && i-- > 0;)
        if (i >= end || (moved != NULL && i != (int)moved->from.stripe))
            rd_kafka_topic_partition_list_del_by_idx(list, i);
    return list;
}

enum htw__reply htw__ask(struct htw__kafka *kafka, const struct htw__question *question,
                         struct htw__answer *ret_answer) {
    int64_t number = (int64_t)(htw__random_seed(kafka) % HTW__RELAY_OFFSET_MAX);
    rd_kafka_topic_partition_list_t *list = begin(kafka) ? find_ends(kafka, question->moved) : NULL;
    enum htw__reply reply = HTW__REPLY_FAILED;
    if (list == NULL)
        return reply;
    if (assign(kafka, list) == 0 && send_all(kafka, question, number, list) == 0)
        reply = await(kafka, number, list, ret_answer);
    rd_kafka_topic_partition_list_destroy(list);
    return reply;
}

/* ---- what it is about */

/* One that comes again waits for its next occurrence. */
static bool is_over(struct htw__waiting *row) {
    const struct htw__recurrence *recurrence = &row->request.recurrence;
    int64_t now_ms = htw__clock_realtime_ms(), *at_ms = &row->key.wanted_ms;
    if (!row->request.recurs || *at_ms > now_ms)
        return false;
    if (recurrence->every_ms != 0) /* they are counted from the first one */
        now_ms -= (now_ms - *at_ms) % recurrence->every_ms;
    return htw__recurrence_next(recurrence, now_ms, at_ms) != 0 || *at_ms == HTW__RECURRENCE_NONE;
}

struct sought {
    struct htw__source from;
    int64_t offset;
    struct htw__waiting *row;
    bool is_found;
};

/* The visitor of a scan. */
static void compare(void *context, struct htw__source from, const struct htw__relay_record *record,
                    const struct htw__relay_request *request) {
    struct sought *self = context;
    int64_t offset = from.level == HTW__RELAY_INPUT ? record->offset : request->offset;
    struct htw__waiting row;
    if (self->is_found || from.level == HTW__RELAY_IDS || from.stripe != self->from.stripe ||
        offset != self->offset || !htw__waiting_make(from, record, request, &row))
        return;
    *self->row = htw__waiting_copy(&row);
    self->is_found = true;
}

static bool is_found(void *context, int64_t until_ms) {
    (void)until_ms;
    return ((const struct sought *)context)->is_found;
}

/* In the input: false: it is not there any more. */
static bool read_input(struct htw__kafka *kafka, struct sought *sought) {
    rd_kafka_topic_partition_list_t *list = htw__topics_list(kafka, sought->from, sought->offset);
    int64_t end_ms = htw__clock_monotonic_ms() + LOOKUP_MS;
    bool is_read = assign(kafka, list) != 0;
    while (!is_read && !kafka->has_failed) {
        struct htw__source from;
        rd_kafka_message_t *message = next(kafka, HTW__RELAY_INPUT, &from);
        if (message == NULL &&
            (htw__clock_monotonic_ms() > end_ms || htw__kafka_is_stopping(kafka)))
            htw__kafka_fail(kafka, "no answer for %s", kafka->options.input);
        if (message == NULL)
            continue;
        is_read = true;
        if (message->err == 0) {
            const struct htw__relay_record record = htw__reader_view(kafka, message);
            struct htw__relay_request request;
            (void)htw__request_parse(&record, &request);
            compare(sought, from, &record, &request);
        }
        rd_kafka_message_destroy(message);
    }
    rd_kafka_assign(kafka->readers[0], NULL);
    rd_kafka_topic_partition_list_destroy(list);
    return sought->is_found;
}

int htw__ask_fetch(struct htw__kafka *kafka, const struct htw__answer *answer,
                   struct htw__waiting *ret_row) {
    const struct htw__source input = { answer->from.stripe, HTW__RELAY_INPUT, 0 };
    struct sought sought = { input, answer->offset, ret_row, false };
    if (!read_input(kafka, &sought) && !kafka->has_failed)
        htw__scan(kafka, 0, compare, is_found, &sought);
    if (kafka->has_failed || !sought.is_found)
        return kafka->has_failed ? -EIO : 0;
    if (!is_over(ret_row))
        return 1;
    free((void *)(uintptr_t)ret_row->record);
    return 0;
}
