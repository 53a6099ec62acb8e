/* SPDX-License-Identifier: MIT */
/* index.c - which records with an id are alive. */
#include "index.h"

#include "memory.h"

#include <endian.h>
#include <stdlib.h>
#include <string.h>

/* A record that waits for a topic does so for ten seconds at most, by the clock of another relay. */
#define STALE_MS 60000

/* How many stale entries are removed in one go. */
#define CLEAN_MAX 1000

static struct htw__source source_of(const struct htw__stripe *stripe) {
    return (struct htw__source) { stripe->index, HTW__RELAY_IDS, 0 };
}

/* ---- the topic: the hash is the key; offset and deadline are the value, the high bytes first, whatever machine wrote them */

static int publish(struct htw__relay *self, struct htw__stripe *stripe, struct htw__bytes key,
                   struct htw__bytes value) {
    const struct htw__outgoing outgoing = { .partition = -1,
                                            .bucket = source_of(stripe),
                                            .from = source_of(stripe),
                                            .record = { .key = key, .value = value } };
    stripe->input_is_dirty = true; /* so that it is committed */
    return self->transport->publish(self->transport, &outgoing);
}

/* With an offset of HTW__IDS_NONE the entry is removed. */
static int publish_entry(struct htw__relay *self, struct htw__stripe *stripe,
                         const struct htw__index_entry *entry) {
    const uint64_t key = htobe64(entry->hash);
    const uint64_t value[] = { htobe64((uint64_t)entry->offset),
                               htobe64((uint64_t)entry->deadline_ms) };
    return publish(self, stripe, (struct htw__bytes) { &key, sizeof(key) },
                   entry->offset >= 0 ? (struct htw__bytes) { value, sizeof(value) }
                                      : (struct htw__bytes) { NULL, 0 });
}

static int erase(struct htw__relay *self, struct htw__stripe *stripe, uint64_t hash) {
    htw__ids_remove(&stripe->ids, hash);
    return publish_entry(self, stripe, &(struct htw__index_entry) { hash, HTW__IDS_NONE, 0 });
}

/* False: there are not so many. */
static bool read_numbers(struct htw__bytes bytes, uint64_t *numbers, size_t count) {
    if (bytes.bytes == NULL || bytes.size != count * sizeof(*numbers))
        return false;
    memcpy(numbers, bytes.bytes, bytes.size);
    for (size_t i = 0; i < count; i++)
        numbers[i] = be64toh(numbers[i]);
    return true;
}

bool htw__index_parse(const struct htw__relay_record *record, struct htw__index_entry *ret_entry) {
    uint64_t key, value[2];
    if (!read_numbers(record->key, &key, 1))
        return false;
    *ret_entry = (struct htw__index_entry) { key, HTW__IDS_NONE, 0 };
    if (read_numbers(record->value, value, 2)) {
        ret_entry->offset = (int64_t)(value[0] & INT64_MAX);
        ret_entry->deadline_ms = (int64_t)(value[1] & INT64_MAX);
    }
    return true;
}

/* ---- answers: in the same topic under a key that no entry has; a relay that does not know them passes them over */

#define ANSWER htw__bytes_of("answer")

enum { IS_DONE = 1, IS_SURE = 2 };

int htw__index_answer(struct htw__relay *self, struct htw__stripe *stripe,
                      const struct htw__relay_request *request, int64_t offset, int64_t before,
                      int64_t flags) {
    int64_t flags_now;
    int64_t now = htw__ids_find(&stripe->ids, request->hash, &flags_now);
    /* Its own, again: without transactions it may have been entered, and not been answered. */
    bool is_done =
        request->is_cancel ? before >= 0 : now != before || flags_now != flags || now == offset;
    bool is_sure = flags == 0 && self->options.owner != NULL;
    const uint64_t value[] = { htobe64((uint64_t)request->ask), htobe64((uint64_t)before),
                               htobe64((is_done ? IS_DONE : 0) | (is_sure ? IS_SURE : 0)) };
    return publish(self, stripe, ANSWER, (struct htw__bytes) { value, sizeof(value) });
}

bool htw__index_parse_answer(const struct htw__relay_record *record,
                             struct htw__index_answer *ret_answer) {
    uint64_t value[3];
    if (!htw__bytes_are_equal(record->key, ANSWER) || !read_numbers(record->value, value, 3))
        return false;
    *ret_answer = (struct htw__index_answer) { .ask = (int64_t)value[0],
                                               .offset = (int64_t)value[1],
                                               .is_done = (value[2] & IS_DONE) != 0,
                                               .is_sure = (value[2] & IS_SURE) != 0 };
    return true;
}

/* ---- taking over */

void htw__index_begin(struct htw__relay *self, struct htw__stripe *stripe, int64_t end) {
    stripe->ids_end = end;
    stripe->ids_ms = stripe->ids_unsure_ms = self->now_ms;
    stripe->ids_input_end = stripe->input_end;
    stripe->ids_are_read = end == 0;
    if (!stripe->ids_are_read)
        self->transport->open(self->transport, source_of(stripe), 0);
}

/* Whether its record may have left level 0 already: perhaps by a clock that was ahead. */
static bool is_unsure(const struct htw__stripe *stripe, int64_t deadline_ms) {
    const struct htw__levels *levels = &stripe->levels;
    int64_t now_ms = stripe->ids_ms > stripe->clock_ms ? stripe->ids_ms : stripe->clock_ms;
    return htw__levels_number(levels, 0, deadline_ms) <
           htw__levels_number(levels, 0, now_ms) + levels->size;
}

void htw__index_read(struct htw__stripe *stripe, const struct htw__relay_record *record) {
    struct htw__index_entry entry;
    if (stripe->ids_are_read || !htw__index_parse(record, &entry))
        return;
    if (entry.offset < 0) {
        htw__ids_remove(&stripe->ids, entry.hash);
        return;
    }
    bool unsure = is_unsure(stripe, entry.deadline_ms);
    if (unsure && entry.deadline_ms > stripe->ids_unsure_ms)
        stripe->ids_unsure_ms = entry.deadline_ms;
    htw__ids_put(&stripe->ids, entry.hash, entry.offset, unsure ? HTW__ID_UNSURE : 0);
}

void htw__index_reached(struct htw__relay *self, struct htw__stripe *stripe, int64_t offset) {
    if (stripe->ids_are_read || offset < stripe->ids_end)
        return;
    stripe->ids_are_read = true;
    stripe->catch_up_since = self->now_ms;
    self->must_look = true;
    self->transport->close(self->transport, source_of(stripe));
}

void htw__index_fini(struct htw__relay *self, struct htw__stripe *stripe) {
    if (!stripe->ids_are_read)
        self->transport->close(self->transport, source_of(stripe));
    htw__ids_fini(&stripe->ids);
    for (int i = 0; i < 2; i++)
        free(stripe->leaving[i].items);
}

/* ---- what arrives */

int htw__index_cancel(struct htw__relay *self, struct htw__stripe *stripe,
                      const struct htw__relay_request *request) {
    int64_t flags, offset = htw__ids_find(&stripe->ids, request->hash, &flags);
    bool is_waiting = offset >= 0 && (flags & HTW__ID_LEAVING) == 0;
    struct htw__relay_work *work = &self->open[HTW__CHANNEL_FILE];
    work->cancelled += is_waiting;
    work->cancels_late += !is_waiting && request->ask < 0; /* it is not asked everywhere */
    int error = request->ask < 0
                    ? 0
                    : htw__index_answer(self, stripe, request, HTW__IDS_NONE, offset, flags);
    /* Of one that is leaving, too: if DELIVER is aborted, it is cancelled after all. */
    return error == 0 && offset >= 0 ? erase(self, stripe, request->hash) : error;
}

bool htw__index_arrive(struct htw__relay *self, const struct htw__stripe *stripe,
                       const struct htw__relay_request *request, int64_t offset) {
    int64_t flags;
    int64_t found = htw__ids_find(&stripe->ids, request->hash, &flags);
    if (request->if_offset < 0)
        return true;
    /* Its own: without transactions, it may have been entered before, and not been filed. */
    bool goes_on = found == offset || (found == request->if_offset && flags == 0);
    self->files_first |= goes_on;
    self->open[HTW__CHANNEL_FILE].cancels_late += !goes_on;
    return goes_on;
}

int htw__index_enter(struct htw__relay *self, struct htw__stripe *stripe, uint64_t hash,
                     int64_t offset, int64_t last_ms) {
    int64_t flags, found = htw__ids_find(&stripe->ids, hash, &flags);
    self->open[HTW__CHANNEL_FILE].cancelled +=
        found >= 0 && found != offset && (flags & HTW__ID_LEAVING) == 0;
    htw__ids_put(&stripe->ids, hash, offset, 0);
    return publish_entry(self, stripe, &(struct htw__index_entry) { hash, offset, last_ms });
}

/* ---- what leaves */

bool htw__index_is_alive(struct htw__stripe *stripe, const struct htw__relay_request *request) {
    int64_t flags;
    int64_t offset = htw__ids_find(&stripe->ids, request->hash, &flags);
    if (offset != request->offset)
        return htw__index_has_lost(stripe, request);
    if ((flags & HTW__ID_UNSURE) != 0) /* it is here */
        htw__ids_put(&stripe->ids, request->hash, offset, flags & ~HTW__ID_UNSURE);
    return true;
}

bool htw__index_has_lost(const struct htw__stripe *stripe,
                         const struct htw__relay_request *request) {
    return request->offset < stripe->ids_log.since &&
           htw__ids_find(&stripe->ids, request->hash, NULL) < 0;
}

void htw__index_published(struct htw__stripe *stripe, int64_t offset) {
    if (offset < stripe->ids_log.end)
        stripe->ids_began_anew = true;
    else
        stripe->ids_log.end = offset + 1;
}

int htw__index_leave(struct htw__relay *self, struct htw__stripe *stripe, enum htw__channel channel,
                     uint64_t hash, bool stays) {
    struct htw__leaving *leaving = &stripe->leaving[channel];
    int64_t offset = htw__ids_find(&stripe->ids, hash, NULL);
    if (offset < 0)
        return 0;
    /* Without transactions, what is published is there, and the delivery may still fail. */
    if (channel == HTW__CHANNEL_FILE && self->options.owner != NULL && !stays)
        return erase(self, stripe, hash);
    leaving->items = htw__memory_reserve(leaving->items, leaving->count + 1, &leaving->room,
                                         sizeof(*leaving->items));
    int64_t flag = stays ? HTW__ID_OCCURS(channel) : HTW__ID_LEAVING;
    leaving->items[leaving->count++] = (struct htw__id) { hash, offset | flag };
    htw__ids_put(&stripe->ids, hash, offset, flag);
    return 0;
}

void htw__index_committed(struct htw__stripe *stripe, enum htw__channel channel) {
    struct htw__leaving *leaving = &stripe->leaving[channel];
    size_t count = leaving->left;
    for (size_t i = leaving->left; i < leaving->count; i++) {
        const struct htw__id left = leaving->items[i];
        int64_t flags, offset = htw__ids_find(&stripe->ids, left.hash, &flags);
        if ((left.offset & HTW__ID_LEAVING) != 0)
            leaving->items[count++] = left;
        else if ((offset | flags) == left.offset)
            htw__ids_put(&stripe->ids, left.hash, offset, 0);
    }
    leaving->left = leaving->count = count;
}

/* ---- what is over */

static int clean_stale(struct htw__relay *self, struct htw__stripe *stripe) {
    uint64_t hash;
    size_t at = 0;
    int error = 0;
    if (stripe->ids.unsure == 0 || stripe->clock_ms < stripe->ids_unsure_ms + STALE_MS ||
        stripe->input_position < stripe->ids_input_end)
        return 0;
    for (int i = 0; i < CLEAN_MAX && error == 0 && htw__ids_next_unsure(&stripe->ids, &at, &hash);
         i++)
        error = erase(self, stripe, hash);
    return error;
}

static int clean_left(struct htw__relay *self, struct htw__stripe *stripe,
                      struct htw__leaving *leaving) {
    int error = 0;
    for (size_t i = 0; i < leaving->left && error == 0; i++) {
        const struct htw__id *left = &leaving->items[i];
        int64_t flags, offset = htw__ids_find(&stripe->ids, left->hash, &flags);
        if ((offset | flags) == left->offset)
            error = erase(self, stripe, left->hash);
    }
    leaving->count -= leaving->left;
    if (leaving->left > 0)
        memmove(leaving->items, leaving->items + leaving->left,
                leaving->count * sizeof(*leaving->items));
    leaving->left = 0;
    return error;
}

int htw__index_clean(struct htw__relay *self, struct htw__stripe *stripe) {
    if (self->is_filing)
        return 0;
    int error = clean_left(self, stripe, &stripe->leaving[HTW__CHANNEL_FILE]);
    if (error == 0)
        error = clean_left(self, stripe, &stripe->leaving[HTW__CHANNEL_DELIVER]);
    return error != 0 ? error : clean_stale(self, stripe);
}
