/* SPDX-License-Identifier: MIT */
/* change.c - cancels or moves a record that waits. */
#include "change.h"

#include "../../../src/base/clock.h"

#include <poll.h>
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

/* Sends what is in the place of the victim, and waits. Returns its offset, or why it could not be sent. */
static rd_kafka_resp_err_t send_record(struct htw__kafka *kafka, rd_kafka_t *producer,
                                       uint32_t stripe, const struct htw__relay_record *record,
                                       int64_t *ret_offset) {
    struct htw__sent sent = { .error = RD_KAFKA_RESP_ERR__TIMED_OUT };
    rd_kafka_resp_err_t error =
        htw__client_produce(producer, kafka->options.input, (int32_t)stripe, record, &sent);
    if (error != 0)
        return error;
    rd_kafka_flush(producer, htw__kafka_limit_ms(kafka, SEND_MS));
    error = sent.error;
    if (!sent.is_done) { /* it must not be acknowledged after this */
        rd_kafka_purge(producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        rd_kafka_flush(producer, HTW__STOP_MS);
    }
    *ret_offset = sent.offset;
    return error;
}

int htw__change_send(struct htw__kafka *kafka, const struct htw__waiting *victim, int64_t to_ms,
                     int64_t *ret_offset) {
    const struct htw__header cancel = { htw__bytes_of("htw-cancel"), victim->request.id };
    struct htw__headers headers = { .items = NULL };
    struct htw__relay_record record = { .key = victim->record->key,
                                        .headers = &cancel,
                                        .header_count = 1 };
    rd_kafka_t *producer = htw__client_create(kafka, HTW__CLIENT_CHANGE, NULL);
    if (producer == NULL)
        return -EIO;
    if (to_ms != 0) {
        htw__headers_to_move(&headers, victim->record, to_ms, htw__change_offset(victim));
        record.headers = headers.items;
        record.header_count = headers.count;
        record.value = victim->record->value;
    }
    rd_kafka_resp_err_t error =
        send_record(kafka, producer, victim->from.stripe, &record, ret_offset);
    rd_kafka_destroy(producer);
    free(headers.items);
    return error == 0 ? 0
                      : htw__kafka_fail(kafka, "cannot write to %s: %s", kafka->options.input,
                                        rd_kafka_err2str(error));
}

/* ---- what becomes of it */

/* The position of the victim's partition of the input; negative: none, or no answer. */
static int64_t ask_position(struct htw__kafka *kafka, const struct htw__waiting *victim) {
    const struct htw__source input = { victim->from.stripe, HTW__RELAY_INPUT, 0 };
    rd_kafka_topic_partition_list_t *list = htw__topics_list(kafka, input, 0);
    bool is_known = htw__lookup_offsets(kafka->admin, HTW__LOOKUP_POSITIONS, list, ASK_MS) == 0;
    int64_t offset = is_known ? list->elems[0].offset : -2;
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
