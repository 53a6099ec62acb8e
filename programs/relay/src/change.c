/* SPDX-License-Identifier: MIT */
/* change.c - cancels or moves a record that waits. */
#include "change.h"

#include "../../../src/base/clock.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>

#define SEND_MS 30000
#define ASK_MS 2000
#define LOOK_MS 50

/* A bucket is loaded a second before its start; and the clock of the relay may be another second ahead. */
#define MARGIN_MS 2000

int64_t htw__change_offset(const struct htw__waiting *victim) {
    return victim->from.level == HTW__RELAY_INPUT ? victim->record->offset : victim->request.offset;
}

/* ---- sending */

static void add_number(rd_kafka_headers_t *headers, const char *name, int64_t number) {
    char text[HTW__REQUEST_TIME_SIZE];
    snprintf(text, sizeof(text), "%" PRId64, number);
    rd_kafka_header_add(headers, name, -1, text, -1);
}

static rd_kafka_headers_t *cancel_of(const struct htw__waiting *victim) {
    rd_kafka_headers_t *headers = rd_kafka_headers_new(1);
    rd_kafka_header_add(headers, "htw-cancel", -1, victim->request.id.bytes,
                        (ssize_t)victim->request.id.size);
    return headers;
}

/* The record itself, for another time, and for its own place alone. */
static rd_kafka_headers_t *again(const struct htw__waiting *victim, int64_t to_ms) {
    const struct htw__relay_record *record = victim->record;
    rd_kafka_headers_t *headers = rd_kafka_headers_new(record->header_count + 2);
    for (size_t i = 0; i < record->header_count; i++) {
        const struct htw__header *header = &record->headers[i];
        if (!htw__request_is_written(header))
            rd_kafka_header_add(headers, header->name.bytes, (ssize_t)header->name.size,
                                header->value.bytes, (ssize_t)header->value.size);
    }
    add_number(headers, "htw-deliver-at", to_ms);
    add_number(headers, "htw-if-offset", htw__change_offset(victim));
    return headers;
}

int htw__change_send(struct htw__kafka *kafka, const struct htw__waiting *victim, int64_t to_ms,
                     int64_t *ret_offset) {
    struct htw__sent sent = { .error = RD_KAFKA_RESP_ERR__TIMED_OUT };
    rd_kafka_t *producer = htw__client_create(kafka, HTW__CLIENT_CHANGE, NULL);
    if (producer == NULL)
        return -EIO;
    bool is_cancel = to_ms == 0;
    rd_kafka_resp_err_t error = htw__client_produce(
        producer, kafka->options.input, (int32_t)victim->from.stripe, victim->record->key,
        is_cancel ? (struct htw__bytes) { NULL, 0 } : victim->record->value,
        is_cancel ? cancel_of(victim) : again(victim, to_ms), &sent);
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR) {
        rd_kafka_flush(producer, htw__kafka_limit_ms(kafka, SEND_MS));
        error = sent.error;
    }
    if (!sent.is_done) { /* it must not be acknowledged after this */
        rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(producer, HTW__STOP_MS);
    }
    rd_kafka_destroy(producer);
    *ret_offset = sent.offset;
    return error == RD_KAFKA_RESP_ERR_NO_ERROR
               ? 0
               : htw__kafka_fail(kafka, "cannot write to %s: %s", kafka->options.input,
                                 rd_kafka_err2str(error));
}

/* ---- what becomes of it */

/* The position of the victim's partition of the input; -1: none; -2: no answer. */
static int64_t ask_position(struct htw__kafka *kafka, const struct htw__waiting *victim) {
    rd_kafka_topic_partition_list_t *list = rd_kafka_topic_partition_list_new(1);
    const rd_kafka_topic_partition_t *input =
        rd_kafka_topic_partition_list_add(list, kafka->options.input, (int32_t)victim->from.stripe);
    bool is_known = htw__lookup_offsets(kafka->admin, HTW__LOOKUP_POSITIONS, list, ASK_MS) == 0;
    int64_t offset = !is_known ? -2 : input->offset < 0 ? -1 : input->offset;
    rd_kafka_topic_partition_list_destroy(list);
    return offset;
}

enum htw__change htw__change_await(struct htw__kafka *kafka, const struct htw__waiting *victim,
                                   int64_t offset, int timeout_ms) {
    int64_t begin_ms = htw__clock_monotonic_ms();
    while (ask_position(kafka, victim) <= offset) {
        if (htw__clock_monotonic_ms() - begin_ms > timeout_ms || htw__kafka_is_stopping(kafka))
            return HTW__CHANGE_UNREAD;
        poll(NULL, 0, LOOK_MS);
    }
    int64_t now_ms = htw__clock_realtime_ms();
    int64_t start_ms = htw__levels_round(&kafka->options.relay.levels, victim->key.wanted_ms);
    return now_ms + MARGIN_MS < start_ms ? HTW__CHANGE_SURE : HTW__CHANGE_LATE;
}
