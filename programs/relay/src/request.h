/* SPDX-License-Identifier: MIT */
/*
 * request.h - what a record asks of the relay, in its headers:
 *
 *     htw-deliver-at  when: milliseconds since 1970, in decimal digits
 *     htw-delay       or: milliseconds after the record's timestamp
 *     htw-deliver-to  the topic; without it the default one
 *     htw-id          a name for it, by which it can be cancelled
 *     htw-cancel      the record cancels the one of this id, with the same key; a time beside it means nothing
 *     htw-if-offset   the record is for the place of the one with its id that has this offset in the input
 *     htw-ask         a number: the relay answers under it what became of the record (index.h). Without a time or
 *                     htw-cancel, the record only asks
 *     htw-every, htw-cron, htw-zone, htw-until, htw-catch-up: it comes again (recurrence.h)
 *
 * A record in a bucket has the same headers, except that htw-delay has become htw-deliver-at. So the
 * relay reads input and buckets by the same rules. Two kinds of records wait in a bucket for a second try:
 *
 *     htw-offset        in a bucket: that of the record in the input, if it has an id
 *     htw-counted-to    of one that comes again: up to when it was counted which of the missed occurrences come
 *     htw-postponed-to  the record is due, and it is not known yet whether its topic exists
 *     htw-retry-at      a dead letter that its topic did not take; it has all its headers, and htw-reason
 */
#ifndef HTW_RELAY_REQUEST_H
#define HTW_RELAY_REQUEST_H

#include "recurrence.h"

#define HTW__RELAY_ID_MAX 256u

/* Of a record of the input: librdkafka reads 100 000, and a relay adds some. */
#define HTW__RELAY_HEADERS_MAX 99990

/* No offset is larger: Kafka would need centuries. */
#define HTW__RELAY_OFFSET_MAX ((INT64_C(1) << 59) - 2)

struct htw__relay_request {
    const char
        *why; /* it is a bad one: a static phrase, and nothing else counts; NULL: it is not */
    const char *own; /* why it is bad if it is of the input: it has a header of the relay's own */
    int64_t deadline_ms; /* when it leaves its bucket */
    int64_t wanted_ms;   /* when it is to be delivered: earlier, if it was postponed */
    bool is_cancel;
    bool only_asks;       /* it asks what waits under its id, and changes nothing */
    int64_t ask;          /* the number of the answer that is wanted; -1: none is */
    bool has_time;        /* what recurs need not */
    int64_t offset;       /* of a record in a bucket: that in the input; -1: none */
    int64_t if_offset;    /* it is for the place of the one with this offset alone; -1: any */
    bool is_letter;       /* a dead letter that waits: nothing else of it is read */
    struct htw__bytes to; /* absent: the default topic */
    struct htw__bytes id; /* absent: none. Of a cancel: that of the victim */
    uint64_t hash;        /* of the key and the id: ids.h */
    bool recurs;
    struct htw__recurrence recurrence; /* if it recurs */
    int64_t counted_ms; /* all occurrences up to then come, however late; -1: none was counted */
};

/* Reads the headers of a record. Returns request->why. The request leads into the record. */
const char *htw__request_parse(const struct htw__relay_record *record,
                               struct htw__relay_request *ret_request);

/* The same of a copy of the record. */
struct htw__relay_request htw__request_of_copy(const struct htw__relay_request *request,
                                               const struct htw__relay_record *record,
                                               const struct htw__relay_record *copy);

/* Whether a header is the relay's to write, and may be another when the record is read again. */
bool htw__request_is_written(const struct htw__header *header);

/* ---- the headers with which a record goes on: those of the producer, and what the relay writes */

#define HTW__HEADERS_MORE 4 /* which the relay adds, at most */

struct htw__headers {
    struct htw__header *items; /* valid until they are written again, as the record is */
    size_t count, room;
    char texts[HTW__HEADERS_MORE][24];
};

/* To a bucket: the deadline is absolute, others stay. */
void htw__headers_to_wait(struct htw__headers *headers, const struct htw__relay_record *record,
                          const struct htw__relay_request *request);

/* To its topic: without those that steer the relay, but with htw-id and with htw-delivered-for. */
void htw__headers_to_deliver(struct htw__headers *headers, const struct htw__relay_record *record,
                             int64_t wanted_ms);

/* To the dead letters: all, and htw-reason; NULL: the record has one. With a source, of one that is too large, the small ones,
 * and htw-source. */
void htw__headers_of_letter(struct htw__headers *headers, const struct htw__relay_record *record,
                            const char *reason, const char *source);

/* A dead letter to a bucket, to be tried again. */
void htw__headers_to_retry(struct htw__headers *headers, const struct htw__relay_record *record,
                           const char *reason, int64_t retry_ms);

/* To the input, with a question. With `if_offset` >= 0: for another time, and for its own place alone. */
void htw__headers_to_ask(struct htw__headers *headers, const struct htw__relay_record *record,
                         int64_t ask, int64_t to_ms, int64_t if_offset);

#endif /* HTW_RELAY_REQUEST_H */
