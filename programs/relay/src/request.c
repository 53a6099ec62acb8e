/* SPDX-License-Identifier: MIT */
/* request.c - reads and writes the headers that steer the relay. */
#include "request.h"

#include "destinations.h"
#include "ids.h"
#include "levels.h"
#include "memory.h"

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
    ASK,
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
    INPUT = 16, /* again; what does not go there is the relay's to write */
};

static const struct {
    struct htw__bytes text;
    const char *twice; /* why a record with two of them is bad */
    const char *own;   /* why one of the input with it is bad */
    unsigned goes;
} names[NAMES] = {
#define TEXT(name) \
    { (name), sizeof(name) - 1 }
#define ONE(name, goes) \
    { TEXT(name), "more than one header " name, NULL, goes }
#define OWN(name, goes) \
    { TEXT(name), NULL, name " is for the relay alone", goes }
    [DELIVER_AT] = ONE("htw-deliver-at", LETTER),
    [DELAY] = ONE("htw-delay", LETTER),
    [DELIVER_TO] = ONE("htw-deliver-to", INPUT | BUCKET | LETTER),
    [ID] = ONE("htw-id", INPUT | BUCKET | TOPIC | LETTER),
    [CANCEL] = ONE("htw-cancel", INPUT | LETTER),
    [DELIVERED_FOR] = { TEXT("htw-delivered-for"), NULL, NULL, BUCKET | LETTER },
    [REASON] = { TEXT("htw-reason"), NULL, NULL, BUCKET | TOPIC | OLD_LETTER },
    [SOURCE] = { TEXT("htw-source"), NULL, NULL, BUCKET },
    [RETRY_AT] = OWN("htw-retry-at", BUCKET),
    [POSTPONED_TO] = OWN("htw-postponed-to", 0),
    [OFFSET] = OWN("htw-offset", 0),
    [COUNTED_TO] = OWN("htw-counted-to", 0),
    [IF_OFFSET] = ONE("htw-if-offset", LETTER),
    [EVERY] = ONE("htw-every", INPUT | BUCKET | LETTER),
    [CRON] = ONE("htw-cron", INPUT | BUCKET | LETTER),
    [ZONE] = ONE("htw-zone", INPUT | BUCKET | LETTER),
    [UNTIL] = ONE("htw-until", INPUT | BUCKET | LETTER),
    [CATCH_UP] = ONE("htw-catch-up", INPUT | BUCKET | LETTER),
    [ASK] = ONE("htw-ask", LETTER),
#undef TEXT
#undef ONE
#undef OWN
};

static enum name name_of(const struct htw__header *header) {
    if (header->name.size < 4 || memcmp(header->name.bytes, "htw-", 4) != 0)
        return NONE;
    for (enum name name = 0; name < NAMES; name++)
        if (htw__bytes_are_equal(header->name, names[name].text))
            return name;
    return NONE;
}

bool htw__request_is_written(const struct htw__header *header) {
    enum name name = name_of(header);
    return name != NONE && (names[name].goes & INPUT) == 0;
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
                                   struct htw__relay_request *request) {
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

static const char *parse(const struct htw__relay_record *record,
                         struct htw__relay_request *ret_request) {
    const struct htw__header *found[NAMES] = { NULL };
    *ret_request =
        (struct htw__relay_request) { .offset = -1, .if_offset = -1, .counted_ms = -1, .ask = -1 };
    if (record->has_unread_headers)
        return "its headers cannot be read, and are not here: there are more than 100 000";
    for (size_t i = 0; i < record->header_count; i++) {
        enum name name = name_of(&record->headers[i]);
        if (name == NONE)
            continue;
        if (found[name] != NULL && names[name].twice != NULL)
            return names[name].twice;
        if (names[name].own != NULL)
            ret_request->own = names[name].own;
        found[name] = &record->headers[i];
    }
    if (found[RETRY_AT] != NULL) {
        ret_request->is_letter = true;
        return parse_ms(found[RETRY_AT]->value, &ret_request->deadline_ms)
                   ? NULL
                   : "htw-retry-at is not a number of milliseconds";
    }
    ret_request->is_cancel = found[CANCEL] != NULL;
    ret_request->only_asks = found[ASK] != NULL && found[CANCEL] == NULL &&
                             found[DELIVER_AT] == NULL && found[DELAY] == NULL;
    const char *why = ret_request->is_cancel || ret_request->only_asks
                          ? NULL
                          : read_deadline(record, found, &ret_request->wanted_ms);
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
        ret_request->hash = htw__ids_hash(record->key, id->value);
    }
    if (found[COUNTED_TO] != NULL && !parse_ms(found[COUNTED_TO]->value, &ret_request->counted_ms))
        return "htw-counted-to is not a number of milliseconds";
    if (found[OFFSET] != NULL &&
        (id == NULL || !parse_offset(found[OFFSET]->value, &ret_request->offset)))
        return "htw-offset is not an offset, or there is no htw-id";
    if (found[IF_OFFSET] != NULL &&
        (found[ID] == NULL || !parse_offset(found[IF_OFFSET]->value, &ret_request->if_offset)))
        return "htw-if-offset is not an offset, or there is no htw-id";
    if (found[ASK] != NULL && (id == NULL || !parse_offset(found[ASK]->value, &ret_request->ask)))
        return "htw-ask is not a number, or there is neither htw-id nor htw-cancel";
    if (found[DELIVER_TO] != NULL) {
        if (!is_topic_name(found[DELIVER_TO]->value))
            return "htw-deliver-to is not the name of a topic";
        ret_request->to = found[DELIVER_TO]->value;
    }
    return NULL;
}

const char *htw__request_parse(const struct htw__relay_record *record,
                               struct htw__relay_request *ret_request) {
    return ret_request->why = parse(record, ret_request);
}

struct htw__relay_request htw__request_of_copy(const struct htw__relay_request *request,
                                               const struct htw__relay_record *record,
                                               const struct htw__relay_record *copy) {
    struct htw__relay_request result = *request;
    for (size_t i = 0; i < record->header_count; i++) {
        if (record->headers[i].value.bytes == request->to.bytes)
            result.to = copy->headers[i].value;
        if (record->headers[i].value.bytes == request->id.bytes)
            result.id = copy->headers[i].value;
    }
    return result;
}

/* ---- writing */

/* Begins with those of the record that go there. */
static void copy(struct htw__headers *self, const struct htw__relay_record *record, unsigned where,
                 bool is_short) {
    self->items = htw__memory_reserve(self->items, record->header_count + HTW__HEADERS_MORE,
                                      &self->room, sizeof(*self->items));
    self->count = 0;
    for (size_t i = 0; i < record->header_count; i++) {
        const struct htw__header *header = &record->headers[i];
        enum name name = name_of(header);
        bool is_large = header->name.size + header->value.size > SMALL_MAX;
        if (is_short && (is_large || self->count == SMALL_COUNT_MAX))
            continue;
        if (name == NONE || (names[name].goes & where) != 0)
            self->items[self->count++] = *header;
    }
}

static void add(struct htw__headers *self, enum name name, const char *value) {
    self->items[self->count++] = (struct htw__header) { names[name].text, htw__bytes_of(value) };
}

/* Each has a text of its own. */
static void add_number(struct htw__headers *self, enum name name, int64_t number, int text) {
    snprintf(self->texts[text], sizeof(self->texts[text]), "%" PRId64, number);
    add(self, name, self->texts[text]);
}

void htw__headers_to_wait(struct htw__headers *self, const struct htw__relay_record *record,
                          const struct htw__relay_request *request) {
    copy(self, record, BUCKET, false);
    add_number(self, DELIVER_AT, request->wanted_ms, 0);
    if (request->offset >= 0)
        add_number(self, OFFSET, request->offset, 1);
    if (request->recurs && request->counted_ms >= request->wanted_ms)
        add_number(self, COUNTED_TO, request->counted_ms, 2);
    if (request->deadline_ms != request->wanted_ms)
        add_number(self, POSTPONED_TO, request->deadline_ms, 3);
}

void htw__headers_to_deliver(struct htw__headers *self, const struct htw__relay_record *record,
                             int64_t wanted_ms) {
    copy(self, record, TOPIC, false);
    add_number(self, DELIVERED_FOR, wanted_ms, 0);
}

void htw__headers_of_letter(struct htw__headers *self, const struct htw__relay_record *record,
                            const char *reason, const char *source) {
    copy(self, record, reason == NULL ? OLD_LETTER : NEW_LETTER, source != NULL);
    if (reason != NULL)
        add(self, REASON, reason);
    if (source != NULL)
        add(self, SOURCE, source);
}

void htw__headers_to_retry(struct htw__headers *self, const struct htw__relay_record *record,
                           const char *reason, int64_t retry_ms) {
    htw__headers_of_letter(self, record, reason, NULL);
    add_number(self, RETRY_AT, retry_ms, 0);
}

void htw__headers_to_ask(struct htw__headers *self, const struct htw__relay_record *record,
                         int64_t ask, int64_t to_ms, int64_t if_offset) {
    copy(self, record, INPUT, false);
    add_number(self, ASK, ask, 0);
    if (if_offset < 0)
        return;
    add_number(self, DELIVER_AT, to_ms, 1);
    add_number(self, IF_OFFSET, if_offset, 2);
}
