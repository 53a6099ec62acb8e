/* SPDX-License-Identifier: MIT */
/* request.c - reads and writes the headers that steer the relay. */
#include "request.h"

#include "destinations.h"
#include "levels.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum name {
    DELIVER_AT,
    DELAY,
    DELIVER_TO,
    ID,
    CANCEL,
    DELIVERED_FOR,
    REASON,
    SOURCE,
    RETRY_AT,
    POSTPONED_TO,
    OFFSET,
    COUNTED_TO,
    IF_OFFSET,
    EVERY,
    CRON,
    ZONE,
    UNTIL,
    CATCH_UP,
    NAMES,
    NONE = NAMES
};

/* Headers larger than this are left out where a record must become small. */
#define SMALL_MAX 1024
#define SMALL_COUNT_MAX 64

/* Where a header goes on with its record; those of the producer go everywhere. */
enum {
    BUCKET = 1,
    TOPIC = 2,
    NEW_LETTER = 4, /* a dead letter that gets its reason now */
    OLD_LETTER = 8, /* one that has it */
    LETTER = NEW_LETTER | OLD_LETTER,
    WRITTEN = 16 /* no place: it is the relay's to write */
};

static const struct {
    const char *text;
    const char *twice; /* why a record with two of them is bad */
    unsigned goes;
} names[NAMES] = {
    [DELIVER_AT] = { "htw-deliver-at", "more than one header htw-deliver-at", WRITTEN | LETTER },
    [DELAY] = { "htw-delay", "more than one header htw-delay", WRITTEN | LETTER },
    [DELIVER_TO] = { "htw-deliver-to", "more than one header htw-deliver-to", BUCKET | LETTER },
    [ID] = { "htw-id", "more than one header htw-id", BUCKET | TOPIC | LETTER },
    [CANCEL] = { "htw-cancel", "more than one header htw-cancel", WRITTEN | LETTER },
    [DELIVERED_FOR] = { "htw-delivered-for", NULL, WRITTEN | BUCKET | LETTER },
    [REASON] = { "htw-reason", NULL, WRITTEN | BUCKET | TOPIC | OLD_LETTER },
    [SOURCE] = { "htw-source", NULL, WRITTEN | BUCKET },
    [RETRY_AT] = { "htw-retry-at", NULL, WRITTEN | BUCKET },
    [POSTPONED_TO] = { "htw-postponed-to", NULL, WRITTEN },
    [OFFSET] = { "htw-offset", NULL, WRITTEN },
    [COUNTED_TO] = { "htw-counted-to", NULL, WRITTEN },
    [IF_OFFSET] = { "htw-if-offset", "more than one header htw-if-offset", WRITTEN | LETTER },
    [EVERY] = { "htw-every", "more than one header htw-every", BUCKET | LETTER },
    [CRON] = { "htw-cron", "more than one header htw-cron", BUCKET | LETTER },
    [ZONE] = { "htw-zone", "more than one header htw-zone", BUCKET | LETTER },
    [UNTIL] = { "htw-until", "more than one header htw-until", BUCKET | LETTER },
    [CATCH_UP] = { "htw-catch-up", "more than one header htw-catch-up", BUCKET | LETTER },
};

static enum name name_of(const struct htw__header *header) {
    if (header->name.size < 4 || memcmp(header->name.bytes, "htw-", 4) != 0)
        return NONE;
    for (enum name name = 0; name < NAMES; name++)
        if (htw__bytes_are_equal(header->name, htw__bytes_of(names[name].text)))
            return name;
    return NONE;
}

bool htw__request_is_written(const struct htw__header *header) {
    enum name name = name_of(header);
    return name != NONE && (names[name].goes & WRITTEN) != 0;
}

static bool parse_ms(struct htw__bytes text, int64_t *ret_ms) {
    return htw__bytes_number(text, HTW__RELAY_DEADLINE_MAX, ret_ms);
}

/* One that fits beside the marks in an entry of ids.h. */
static bool parse_offset(struct htw__bytes text, int64_t *ret_offset) {
    return htw__bytes_number(text, HTW__RELAY_OFFSET_MAX, ret_offset);
}

static bool is_topic_name(struct htw__bytes name) {
    const char *text = name.bytes;
    return htw__bytes_are_name(name, HTW__TOPIC_NAME_SIZE - 1) &&
           !(text[0] == '.' && (name.size == 1 || (name.size == 2 && text[1] == '.')));
}

static const char *read_deadline(const struct htw__relay_record *record,
                                 const struct htw__header *const found[NAMES], int64_t *ret_ms) {
    if (found[DELIVER_AT] != NULL && found[DELAY] != NULL)
        return "both htw-deliver-at and htw-delay";
    if (found[DELIVER_AT] != NULL)
        return parse_ms(found[DELIVER_AT]->value, ret_ms)
                   ? NULL
                   : "htw-deliver-at is not a number of milliseconds up to the year 9999";
    if (found[DELAY] == NULL && (found[EVERY] != NULL || found[CRON] != NULL)) {
        *ret_ms = record->timestamp_ms;
        return *ret_ms >= 0 && *ret_ms <= HTW__RELAY_DEADLINE_MAX
                   ? NULL
                   : "htw-every or htw-cron without htw-deliver-at, and the record has no "
                     "timestamp";
    }
    if (found[DELAY] == NULL)
        return "neither htw-deliver-at nor htw-delay";
    int64_t delay_ms;
    if (!parse_ms(found[DELAY]->value, &delay_ms))
        return "htw-delay is not a number of milliseconds";
    if (record->timestamp_ms < 0)
        return "htw-delay, and the record has no timestamp";
    if (record->timestamp_ms > HTW__RELAY_DEADLINE_MAX - delay_ms)
        return "htw-delay ends after the year 9999";
    *ret_ms = record->timestamp_ms + delay_ms;
    return NULL;
}

static const struct htw__bytes *value_of(const struct htw__header *header) {
    return header != NULL ? &header->value : NULL;
}

/* Of a record that comes again; NULL: it does not, or that is in order. */
static const char *read_recurrence(const struct htw__header *const found[NAMES],
                                   struct htw__request *request) {
    const struct htw__recurrence_texts texts = { value_of(found[EVERY]), value_of(found[CRON]),
                                                 value_of(found[ZONE]), value_of(found[CATCH_UP]) };
    request->recurs = texts.every != NULL || texts.cron != NULL;
    request->has_time = found[DELIVER_AT] != NULL || found[DELAY] != NULL;
    if (!request->recurs)
        return found[ZONE] != NULL || found[UNTIL] != NULL || found[CATCH_UP] != NULL
                   ? "htw-zone, htw-until and htw-catch-up need htw-every or htw-cron"
                   : NULL;
    if (request->is_cancel)
        return "a cancel does not recur";
    if (found[ID] == NULL)
        return "htw-every and htw-cron need htw-id";
    const char *why = htw__recurrence_parse(&texts, &request->recurrence);
    if (why != NULL || found[UNTIL] == NULL)
        return why;
    return parse_ms(found[UNTIL]->value, &request->recurrence.until_ms)
               ? NULL
               : "htw-until is not a number of milliseconds up to the year 9999";
}

static const char *parse(const struct htw__relay_record *record, struct htw__request *ret_request) {
    const struct htw__header *found[NAMES] = { NULL };
    *ret_request = (struct htw__request) { .offset = -1, .if_offset = -1, .counted_ms = -1 };
    if (record->has_unread_headers)
        return "its headers cannot be read, and are not here: there are more than 100 000";
    for (size_t i = 0; i < record->header_count; i++) {
        enum name name = name_of(&record->headers[i]);
        if (name == NONE)
            continue;
        if (found[name] != NULL && names[name].twice != NULL)
            return names[name].twice;
        found[name] = &record->headers[i];
    }
    if (found[RETRY_AT] != NULL) {
        ret_request->is_letter = true;
        return parse_ms(found[RETRY_AT]->value, &ret_request->deadline_ms)
                   ? NULL
                   : "htw-retry-at is not a number of milliseconds";
    }
    ret_request->is_cancel = found[CANCEL] != NULL;
    const char *why =
        ret_request->is_cancel ? NULL : read_deadline(record, found, &ret_request->wanted_ms);
    if (why != NULL)
        return why;
    ret_request->deadline_ms = ret_request->wanted_ms;
    if (found[POSTPONED_TO] != NULL &&
        !parse_ms(found[POSTPONED_TO]->value, &ret_request->deadline_ms))
        return "htw-postponed-to is not a number of milliseconds";
    if (found[CANCEL] != NULL && found[ID] != NULL)
        return "both htw-id and htw-cancel";
    why = read_recurrence(found, ret_request);
    if (why != NULL)
        return why;
    const struct htw__header *id = found[CANCEL] != NULL ? found[CANCEL] : found[ID];
    if (id != NULL) {
        if (id->value.bytes == NULL || id->value.size == 0 || id->value.size > HTW__RELAY_ID_MAX)
            return found[CANCEL] != NULL ? "htw-cancel is empty or longer than 256 bytes"
                                         : "htw-id is empty or longer than 256 bytes";
        ret_request->id = id->value;
    }
    if (found[COUNTED_TO] != NULL && !parse_ms(found[COUNTED_TO]->value, &ret_request->counted_ms))
        return "htw-counted-to is not a number of milliseconds";
    if (found[OFFSET] != NULL &&
        (id == NULL || !parse_offset(found[OFFSET]->value, &ret_request->offset)))
        return "htw-offset is not an offset, or there is no htw-id";
    if (found[IF_OFFSET] != NULL &&
        (found[ID] == NULL || !parse_offset(found[IF_OFFSET]->value, &ret_request->if_offset)))
        return "htw-if-offset is not an offset, or there is no htw-id";
    if (found[DELIVER_TO] != NULL) {
        if (!is_topic_name(found[DELIVER_TO]->value))
            return "htw-deliver-to is not the name of a topic";
        ret_request->to = found[DELIVER_TO]->value;
    }
    return NULL;
}

const char *htw__request_parse(const struct htw__relay_record *record,
                               struct htw__request *ret_request) {
    return ret_request->why = parse(record, ret_request);
}

static struct htw__bytes bytes_of_copy(struct htw__bytes value,
                                       const struct htw__relay_record *record,
                                       const struct htw__relay_record *copy) {
    for (size_t i = 0; i < record->header_count; i++)
        if (record->headers[i].value.bytes == value.bytes)
            return copy->headers[i].value;
    return value;
}

struct htw__request htw__request_of_copy(const struct htw__request *request,
                                         const struct htw__relay_record *record,
                                         const struct htw__relay_record *copy) {
    struct htw__request result = *request;
    if (result.to.bytes != NULL)
        result.to = bytes_of_copy(result.to, record, copy);
    if (result.id.bytes != NULL)
        result.id = bytes_of_copy(result.id, record, copy);
    return result;
}

static struct htw__header make_header(enum name name, const char *value) {
    return (struct htw__header) { htw__bytes_of(names[name].text), htw__bytes_of(value) };
}

static size_t add_deadline(struct htw__header *headers, size_t count, enum name name,
                           int64_t deadline_ms, char time[HTW__REQUEST_TIME_SIZE]) {
    snprintf(time, HTW__REQUEST_TIME_SIZE, "%" PRId64, deadline_ms);
    headers[count] = make_header(name, time);
    return count + 1;
}

static size_t copy_headers(const struct htw__relay_record *record, unsigned where, size_t size_max,
                           size_t count_max, struct htw__header *headers) {
    size_t count = 0;
    for (size_t i = 0; i < record->header_count && count < count_max; i++) {
        const struct htw__header *header = &record->headers[i];
        enum name name = name_of(header);
        if ((name == NONE || (names[name].goes & where) != 0) &&
            header->name.size + header->value.size <= size_max)
            headers[count++] = *header;
    }
    return count;
}

size_t htw__request_headers_to_wait(const struct htw__relay_record *record,
                                    const struct htw__request *request, struct htw__header *headers,
                                    struct htw__request_times *times) {
    size_t count = copy_headers(record, BUCKET, SIZE_MAX, SIZE_MAX, headers);
    count = add_deadline(headers, count, DELIVER_AT, request->wanted_ms, times->wanted);
    if (request->offset >= 0)
        count = add_deadline(headers, count, OFFSET, request->offset, times->offset);
    if (request->recurs && request->counted_ms >= request->wanted_ms)
        count = add_deadline(headers, count, COUNTED_TO, request->counted_ms, times->counted);
    if (request->deadline_ms == request->wanted_ms)
        return count;
    return add_deadline(headers, count, POSTPONED_TO, request->deadline_ms, times->deadline);
}

size_t htw__request_headers_to_deliver(const struct htw__relay_record *record, int64_t deadline_ms,
                                       struct htw__header *headers,
                                       char time[HTW__REQUEST_TIME_SIZE]) {
    size_t count = copy_headers(record, TOPIC, SIZE_MAX, SIZE_MAX, headers);
    return add_deadline(headers, count, DELIVERED_FOR, deadline_ms, time);
}

/* Of those that are small enough, and a reason unless there is one. */
static size_t write_letter(const struct htw__relay_record *record, const char *reason,
                           size_t size_max, size_t count_max, struct htw__header *headers) {
    size_t count = copy_headers(record, reason == NULL ? OLD_LETTER : NEW_LETTER, size_max,
                                count_max, headers);
    if (reason != NULL)
        headers[count++] = make_header(REASON, reason);
    return count;
}

size_t htw__request_headers_of_dead(const struct htw__relay_record *record, const char *reason,
                                    struct htw__header *headers) {
    return write_letter(record, reason, SIZE_MAX, SIZE_MAX, headers);
}

size_t htw__request_headers_of_short(const struct htw__relay_record *record, const char *reason,
                                     const char *source, struct htw__header *headers) {
    size_t count = write_letter(record, reason, SMALL_MAX, SMALL_COUNT_MAX, headers);
    headers[count] = make_header(SOURCE, source);
    return count + 1;
}

size_t htw__request_headers_to_retry(const struct htw__relay_record *record, const char *reason,
                                     int64_t retry_ms, struct htw__header *headers,
                                     char time[HTW__REQUEST_TIME_SIZE]) {
    size_t count = htw__request_headers_of_dead(record, reason, headers);
    return add_deadline(headers, count, RETRY_AT, retry_ms, time);
}
