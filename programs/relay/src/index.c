/* SPDX-License-Identifier: MIT */
/* index.c - which records with an id are alive. */
#include "index.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A record that waits for a topic does so for ten seconds at most, by the clock of another relay. */
#define STALE_MS 60000

/* How many stale entries are removed in one go. */
#define CLEAN_MAX 1000

static struct htw__source source_of(const struct htw__stripe *stripe) {
    return (struct htw__source) { stripe->index, HTW__RELAY_IDS, 0 };
}

/* ---- the topic */

struct stored {
    int64_t offset, deadline_ms;
};

/* Numbers stand there with their high bytes first, whatever machine wrote them. */
#define HASH_SIZE 8u
#define STORED_SIZE 16u

static void write_number(uint64_t number, unsigned char bytes[8]) {
    for (size_t i = 8; i > 0; i--, number >>= 8)
        bytes[i - 1] = (unsigned char)number;
}

static uint64_t read_number(const unsigned char bytes[8]) {
    uint64_t number = 0;
    for (size_t i = 0; i < 8; i++)
        number = number << 8 | bytes[i];
    return number;
}

static int publish(struct htw__relay *self, struct htw__stripe *stripe, uint64_t hash,
                   const struct stored *stored) {
    struct htw__outgoing outgoing = { .partition = -1,
                                      .bucket = source_of(stripe),
                                      .from = source_of(stripe) };
    unsigned char key[HASH_SIZE], value[STORED_SIZE];
    write_number(hash, key);
    outgoing.record.key = (struct htw__bytes) { key, sizeof(key) };
    if (stored != NULL) {
        write_number((uint64_t)stored->offset, value);
        write_number((uint64_t)stored->deadline_ms, value + 8);
        outgoing.record.value = (struct htw__bytes) { value, sizeof(value) };
    }
    stripe->input_is_dirty = true; /* so that it is committed */
    return self->transport->publish(self->transport, &outgoing);
}

static int erase(struct htw__relay *self, struct htw__stripe *stripe, uint64_t hash) {
    htw__ids_remove(&stripe->ids, hash);
    return publish(self, stripe, hash, NULL);
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

bool htw__index_parse(const struct htw__relay_record *record, uint64_t *ret_hash,
                      int64_t *ret_offset, int64_t *ret_deadline_ms) {
    const unsigned char *value = record->value.bytes;
    if (record->key.bytes == NULL || record->key.size != HASH_SIZE)
        return false;
    *ret_hash = read_number(record->key.bytes);
    *ret_offset = HTW__IDS_NONE;
    if (value == NULL || record->value.size != STORED_SIZE)
        return true;
    *ret_offset = (int64_t)(read_number(value) & INT64_MAX);
    *ret_deadline_ms = (int64_t)(read_number(value + 8) & INT64_MAX);
    return true;
}

int htw__index_read(struct htw__stripe *stripe, const struct htw__relay_record *record) {
    uint64_t hash;
    int64_t offset, deadline_ms;
    if (stripe->ids_are_read || !htw__index_parse(record, &hash, &offset, &deadline_ms))
        return 0;
    if (offset >= 0) {
        bool unsure = is_unsure(stripe, deadline_ms);
        if (unsure && deadline_ms > stripe->ids_unsure_ms)
            stripe->ids_unsure_ms = deadline_ms;
        return htw__ids_put(&stripe->ids, hash, offset, unsure ? HTW__ID_UNSURE : 0);
    }
    htw__ids_remove(&stripe->ids, hash);
    return 0;
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

/* Whether there is an entry of a record that is not delivered; returns its offset. */
static int64_t find_waiting(const struct htw__stripe *stripe, uint64_t hash, bool *ret_is_waiting) {
    int64_t flags;
    int64_t offset = htw__ids_find(&stripe->ids, hash, &flags);
    *ret_is_waiting = offset >= 0 && (flags & HTW__ID_LEAVING) == 0;
    return offset;
}

int htw__index_cancel(struct htw__relay *self, struct htw__stripe *stripe,
                      const struct htw__relay_record *record, const struct htw__request *request) {
    uint64_t hash = htw__ids_hash(record->key, request->id);
    bool is_waiting;
    int64_t offset = find_waiting(stripe, hash, &is_waiting);
    struct htw__relay_work *work = &self->open[HTW__CHANNEL_FILE - 1];
    work->cancelled += is_waiting;
    work->cancels_late += !is_waiting;
    /* Of one that is leaving, too: if DELIVER is aborted, it is cancelled after all. */
    return offset >= 0 ? erase(self, stripe, hash) : 0;
}

int htw__index_arrive(struct htw__relay *self, struct htw__stripe *stripe,
                      const struct htw__relay_record *record, const struct htw__request *request) {
    uint64_t hash = htw__ids_hash(record->key, request->id);
    if (request->if_offset < 0)
        return 1;
    int64_t flags;
    int64_t offset = htw__ids_find(&stripe->ids, hash, &flags);
    /* Its own: without transactions, it may have been entered before, and not been filed. */
    if (offset == record->offset || (offset == request->if_offset && flags == 0)) {
        self->files_first = true;
        return 1;
    }
    self->open[HTW__CHANNEL_FILE - 1].cancels_late++;
    return 0;
}

int htw__index_enter(struct htw__relay *self, struct htw__stripe *stripe,
                     const struct htw__relay_record *record, const struct htw__request *request,
                     int64_t last_ms) {
    uint64_t hash = htw__ids_hash(record->key, request->id);
    const struct stored stored = { record->offset, last_ms };
    bool is_replaced;
    if (find_waiting(stripe, hash, &is_replaced) == record->offset)
        is_replaced = false;
    self->open[HTW__CHANNEL_FILE - 1].cancelled += is_replaced;
    int error = htw__ids_put(&stripe->ids, hash, record->offset, 0);
    return error != 0 ? error : publish(self, stripe, hash, &stored);
}

/* ---- what leaves */

bool htw__index_is_alive(struct htw__stripe *stripe, const struct htw__relay_record *record,
                         const struct htw__request *request) {
    int64_t flags;
    uint64_t hash = htw__ids_hash(record->key, request->id);
    int64_t offset = htw__ids_find(&stripe->ids, hash, &flags);
    if (offset != request->offset)
        return htw__index_has_lost(stripe, record, request);
    if ((flags & HTW__ID_UNSURE) != 0) /* it is here; and no memory is needed for what is there */
        (void)htw__ids_put(&stripe->ids, hash, offset, flags & ~HTW__ID_UNSURE);
    return true;
}

bool htw__index_has_lost(const struct htw__stripe *stripe, const struct htw__relay_record *record,
                         const struct htw__request *request) {
    return request->offset < stripe->ids_log.since &&
           htw__ids_find(&stripe->ids, htw__ids_hash(record->key, request->id), NULL) < 0;
}

void htw__index_published(struct htw__stripe *stripe, int64_t offset) {
    if (offset < stripe->ids_log.end)
        stripe->ids_began_anew = true;
    else
        stripe->ids_log.end = offset + 1;
}

static int add_leaving(struct htw__stripe *stripe, struct htw__leaving *leaving, uint64_t hash,
                       int64_t offset) {
    if (leaving->count == leaving->room) {
        size_t room = leaving->room == 0 ? 64 : 2 * leaving->room;
        struct htw__id *items = realloc(leaving->items, room * sizeof(*items));
        if (items == NULL)
            return -ENOMEM;
        leaving->items = items;
        leaving->room = room;
    }
    leaving->items[leaving->count++] = (struct htw__id) { hash, offset };
    return htw__ids_put(&stripe->ids, hash, offset, HTW__ID_LEAVING);
}

int htw__index_leave(struct htw__relay *self, struct htw__stripe *stripe, struct htw__source from,
                     const struct htw__relay_record *record, const struct htw__request *request) {
    uint64_t hash = htw__ids_hash(record->key, request->id);
    enum htw__channel channel = htw__channel_of(from);
    int64_t offset = htw__ids_find(&stripe->ids, hash, NULL);
    if (offset < 0)
        return 0;
    /* Without transactions, what is published is there, and the delivery may still fail. */
    if (channel == HTW__CHANNEL_FILE && self->options.owner != NULL)
        return erase(self, stripe, hash);
    return add_leaving(stripe, &stripe->leaving[channel - 1], hash, offset);
}

void htw__index_positions(struct htw__stripe *stripe, enum htw__channel channel) {
    for (unsigned i = 0; i < 2; i++)
        if ((channel & (i + 1)) != 0)
            stripe->leaving[i].committing = stripe->leaving[i].count;
}

void htw__index_committed(struct htw__relay *self, struct htw__stripe *stripe,
                          enum htw__channel channel) {
    for (unsigned i = 0; i < 2; i++) {
        struct htw__leaving *leaving = &stripe->leaving[i];
        if ((channel & (i + 1)) == 0 || leaving->committing <= leaving->left)
            continue;
        leaving->left = leaving->committing;
        self->must_look = true;
    }
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
        int64_t flags;
        if (htw__ids_find(&stripe->ids, left->hash, &flags) == left->offset &&
            (flags & HTW__ID_LEAVING) != 0)
            error = erase(self, stripe, left->hash);
    }
    leaving->count -= leaving->left;
    leaving->committing -=
        leaving->left < leaving->committing ? leaving->left : leaving->committing;
    if (leaving->left > 0)
        memmove(leaving->items, leaving->items + leaving->left,
                leaving->count * sizeof(*leaving->items));
    leaving->left = 0;
    return error;
}

int htw__index_clean(struct htw__relay *self, struct htw__stripe *stripe) {
    if (self->is_filing)
        return 0;
    int error = clean_left(self, stripe, &stripe->leaving[0]);
    if (error == 0)
        error = clean_left(self, stripe, &stripe->leaving[1]);
    return error != 0 ? error : clean_stale(self, stripe);
}
