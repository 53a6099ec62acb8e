/* SPDX-License-Identifier: MIT */
/* file.c - publishes records: to a bucket, to their topics, or to the dead letters. */
#include "file.h"

#include <errno.h>
#include <stdlib.h>

static int reserve_headers(struct htw__relay *self, size_t count) {
    count += HTW__REQUEST_HEADERS_MORE;
    if (count <= self->header_room)
        return 0;
    struct htw__header *headers = realloc(self->headers, count * sizeof(*headers));
    if (headers == NULL)
        return -ENOMEM;
    self->headers = headers;
    self->header_room = count;
    return 0;
}

/* The record with the headers of relay->headers. */
static struct htw__outgoing make_outgoing(const struct htw__relay *self, struct htw__source from,
                                          const struct htw__record *record, size_t header_count) {
    struct htw__outgoing outgoing = { .record = *record, .partition = -1, .from = from };
    outgoing.from_offset = record->offset;
    outgoing.record.headers = self->headers;
    outgoing.record.header_count = header_count;
    return outgoing;
}

static int bury(struct htw__relay *self, struct htw__source from, const struct htw__record *record,
                const char *reason) {
    int error = reserve_headers(self, record->header_count);
    if (error != 0)
        return error;
    struct htw__outgoing outgoing = make_outgoing(
        self, from, record, htw__request_headers_of_dead(record, reason, self->headers));
    outgoing.topic = self->options.dead_letters;
    self->stats.dead++;
    return self->transport->publish(self->transport, &outgoing);
}

static int deliver(struct htw__relay *self, struct htw__source from,
                   const struct htw__record *record, const struct htw__request *request) {
    char time[HTW__REQUEST_TIME_SIZE], topic[HTW__TOPIC_NAME_SIZE];
    const char *why = htw__destinations_choose(&self->options.destinations, request->to, topic);
    if (why != NULL)
        return bury(self, from, record, why);
    int error = reserve_headers(self, record->header_count);
    if (error != 0)
        return error;
    struct htw__outgoing outgoing = make_outgoing(
        self, from, record,
        htw__request_headers_to_deliver(record, request->deadline_ms, self->headers, time));
    outgoing.topic = topic;
    if (self->options.keep_partition)
        outgoing.partition = (int32_t)from.stripe;
    error = self->transport->publish(self->transport, &outgoing);
    if (error == -ENOENT)
        return bury(self, from, record, "the topic or its partition does not exist");
    if (error == -EACCES)
        return bury(self, from, record, "the relay may not write to the topic");
    if (error == -EMSGSIZE)
        return bury(self, from, record, "the record is too large for the topic");
    if (error != 0)
        return error;
    int64_t late_ms = self->now_ms - request->deadline_ms;
    htw__histogram_record(&self->stats.late_us, late_ms > 0 ? (uint64_t)late_ms * 1000 : 0);
    self->stats.delivered++;
    return 0;
}

static int file(struct htw__relay *self, struct htw__stripe *stripe, struct htw__source from,
                const struct htw__record *record, const struct htw__request *request) {
    if (htw__channel_of(from) == HTW__CHANNEL_FILE && request->deadline_ms < self->soonest_ms)
        self->soonest_ms = request->deadline_ms;
    if (request->deadline_ms <= self->now_ms) {
        if (!request->is_cancel)
            return deliver(self, from, record, request);
        self->stats.cancels_late++;
        return 0;
    }
    int error = reserve_headers(self, record->header_count);
    if (error != 0)
        return error;
    struct htw__place place =
        htw__levels_place(&stripe->levels, stripe->clock_ms, request->deadline_ms);
    char time[HTW__REQUEST_TIME_SIZE];
    struct htw__outgoing outgoing = make_outgoing(
        self, from, record,
        htw__request_headers_to_wait(record, request->deadline_ms, self->headers, time));
    outgoing.bucket = (struct htw__source) { stripe->index, place.level,
                                             htw__levels_slot(&stripe->levels, place.number) };
    struct htw__bucket *bucket =
        htw__stripe_bucket(stripe, outgoing.bucket.level, outgoing.bucket.slot);
    if (!htw__bucket_is_occupied(bucket)) {
        bucket->number = place.number;
        self->must_look = true;
    }
    bucket->in_flight++;
    if (htw__channel_of(from) == HTW__CHANNEL_DELIVER)
        stripe->input_is_dirty = true; /* the clock by which it was filed is to be committed soon */
    self->stats.filed[place.level]++;
    return self->transport->publish(self->transport, &outgoing);
}

/* Whether a record is known to be one that cannot be published; `*ret_reason` says why. It stays
 * known until it is read again and committed, which may take more than one attempt. */
static bool is_poison(const struct htw__relay *self, struct htw__source from, int64_t offset,
                      const char **ret_reason) {
    for (size_t i = 0; i < self->poison_count; i++) {
        const struct htw__poison *poison = &self->poisons[i];
        if (poison->offset == offset && poison->from.stripe == from.stripe &&
            poison->from.level == from.level &&
            (from.level == HTW__RELAY_INPUT || poison->from.slot == from.slot)) {
            *ret_reason = poison->reason;
            return true;
        }
    }
    return false;
}

int htw__relay_poison(struct htw__relay *self, struct htw__source from, int64_t offset,
                      const char *reason) {
    const char *known;
    if (is_poison(self, from, offset, &known))
        return -EEXIST;
    struct htw__poison *poisons =
        realloc(self->poisons, (self->poison_count + 1) * sizeof(*poisons));
    if (poisons == NULL)
        return -ENOMEM;
    poisons[self->poison_count++] = (struct htw__poison) { from, offset, reason };
    self->poisons = poisons;
    return 0;
}

int htw__relay_pass_on(struct htw__relay *self, struct htw__stripe *stripe, struct htw__source from,
                       const struct htw__record *record) {
    struct htw__request request;
    const char *why;
    char topic[HTW__TOPIC_NAME_SIZE];
    if (is_poison(self, from, record->offset, &why))
        return bury(self, from, record, why);
    why = htw__request_parse(record, &request);
    /* A bad topic is told when the record arrives, not when its time has come. */
    if (why == NULL && !request.is_cancel && from.level == HTW__RELAY_INPUT)
        why = htw__destinations_choose(&self->options.destinations, request.to, topic);
    if (why != NULL)
        return bury(self, from, record, why);
    return file(self, stripe, from, record, &request);
}
