/* SPDX-License-Identifier: MIT */
/* waiting.c - pages of what waits. */
#include "waiting.h"

#include "../../../src/base/key_table.h"
#include "index.h"
#include "memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- identity */

/* Hashes stand in what users keep, so they are the same in each run and on each machine. */
static uint64_t add_hash(uint64_t hash, struct htw__bytes bytes) {
    uint64_t length = bytes.bytes == NULL ? UINT64_MAX : (uint64_t)bytes.size;
    return htw__key_hash(bytes.bytes, bytes.bytes == NULL ? 0 : bytes.size,
                         (hash ^ length) * UINT64_C(0x9e3779b97f4a7c15));
}

/* Without what the relay writes, which differs from level to level. */
static uint64_t hash_all(const struct htw__relay_record *record,
                         const struct htw__relay_request *request) {
    uint64_t hash = add_hash((uint64_t)request->wanted_ms, record->key);
    hash = add_hash(hash, record->value);
    for (size_t i = 0; i < record->header_count; i++) {
        if (htw__request_is_written(&record->headers[i]))
            continue;
        hash = add_hash(hash, record->headers[i].name);
        hash = add_hash(hash, record->headers[i].value);
    }
    return hash;
}

static struct htw__waiting_key key_of(const struct htw__relay_record *record,
                                      const struct htw__relay_request *request) {
    return (struct htw__waiting_key) { request->wanted_ms, hash_all(record, request) };
}

int htw__waiting_key_compare(const struct htw__waiting_key *a, const struct htw__waiting_key *b) {
    if (a->wanted_ms != b->wanted_ms)
        return a->wanted_ms < b->wanted_ms ? -1 : 1;
    return a->print < b->print ? -1 : a->print > b->print;
}

void htw__waiting_key_format(const struct htw__waiting_key *key, char text[HTW__WAITING_KEY_SIZE]) {
    snprintf(text, HTW__WAITING_KEY_SIZE, "%" PRId64 ".%016" PRIx64, key->wanted_ms, key->print);
}

/* What is read is written again: so signs, spaces, lacking digits and what overflows are refused. */
bool htw__waiting_key_parse(const char *text, struct htw__waiting_key *ret_key) {
    char again[HTW__WAITING_KEY_SIZE], *end;
    ret_key->wanted_ms = strtoll(text, &end, 10);
    ret_key->print = *end == '.' ? strtoull(end + 1, &end, 16) : 0;
    htw__waiting_key_format(ret_key, again);
    return strcmp(text, again) == 0;
}

/* ---- what is alive */

/* Stripes have their own. */
static uint64_t hash_in(struct htw__source from, uint64_t hash) {
    return hash ^ (from.stripe + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void take_entry(struct htw__relay_ids *ids, struct htw__source from,
                       const struct htw__relay_record *record) {
    struct htw__index_entry entry;
    if (!htw__index_parse(record, &entry))
        return;
    if (entry.offset >= 0)
        htw__ids_put(ids, hash_in(from, entry.hash), entry.offset, 0);
    else
        htw__ids_remove(ids, hash_in(from, entry.hash));
}

/* As htw__index_arrive(), and what follows. */
static bool arrive(struct htw__relay_ids *ids, uint64_t hash,
                   const struct htw__relay_request *request, int64_t offset) {
    int64_t found = htw__ids_find(ids, hash, NULL);
    if (request->is_cancel)
        htw__ids_remove(ids, hash);
    if (request->is_cancel || request->only_asks ||
        (request->if_offset >= 0 && found != request->if_offset && found != offset))
        return false;
    htw__ids_put(ids, hash, offset, 0);
    return true;
}

bool htw__waiting_judge(struct htw__relay_ids *ids, struct htw__source from,
                        const struct htw__relay_record *record,
                        const struct htw__relay_request *request) {
    if (from.level == HTW__RELAY_IDS) {
        take_entry(ids, from, record);
        return false;
    }
    if (request->why != NULL || request->id.bytes == NULL)
        return true;
    uint64_t hash = hash_in(from, request->hash);
    if (from.level == HTW__RELAY_INPUT)
        return arrive(ids, hash, request, record->offset);
    return !request->is_cancel && htw__ids_find(ids, hash, NULL) == request->offset;
}

/* A record of the input may have been replaced by what came behind it there. */
static bool is_alive(const struct htw__relay_ids *ids, const struct htw__waiting *row) {
    if (row->from.level != HTW__RELAY_INPUT || row->request.id.bytes == NULL)
        return true;
    return htw__ids_find(ids, hash_in(row->from, row->request.hash), NULL) == row->record->offset;
}

/* ---- what is wanted */

static bool has_text(struct htw__bytes bytes, const char *text) {
    return bytes.bytes != NULL && memmem(bytes.bytes, bytes.size, text, strlen(text)) != NULL;
}

static bool is_wanted(const struct htw__waiting_filter *filter, const struct htw__waiting *row) {
    const struct htw__waiting_key *key = &row->key;
    const struct htw__relay_record *record = row->record;
    const struct htw__relay_request *request = &row->request;
    if (key->wanted_ms < filter->from_ms || key->wanted_ms >= filter->until_ms ||
        (filter->key != NULL && !htw__bytes_are_equal(record->key, htw__bytes_of(filter->key))))
        return false;
    if (filter->to != NULL && !htw__bytes_are_equal(request->to, htw__bytes_of(filter->to)))
        return false;
    if (filter->text != NULL && !has_text(record->value, filter->text) &&
        !has_text(record->key, filter->text) && !has_text(request->id, filter->text))
        return false;
    return htw__waiting_key_compare(key, &filter->after) > 0;
}

/* ---- a row */

bool htw__waiting_make(struct htw__source from, const struct htw__relay_record *record,
                       const struct htw__relay_request *request, struct htw__waiting *ret_row) {
    *ret_row = (struct htw__waiting) { .from = from, .record = record, .request = *request };
    struct htw__relay_request *made = &ret_row->request;
    if (made->is_letter)
        made->wanted_ms = made->deadline_ms;
    if (request->why != NULL || /* what is bad goes to the dead letters */
        (made->recurs && !made->has_time &&
         (htw__recurrence_next(&made->recurrence, made->wanted_ms, &made->wanted_ms) != 0 ||
          made->wanted_ms == HTW__RECURRENCE_NONE)))
        return false;
    ret_row->key = key_of(record, made);
    return true;
}

struct htw__waiting htw__waiting_copy(const struct htw__waiting *row) {
    struct htw__waiting copy = *row;
    copy.record = htw__record_copy(row->record, htw__memory(htw__record_copy_size(row->record)));
    copy.request = htw__request_of_copy(&row->request, row->record, copy.record);
    return copy;
}

/* ---- a page */

void htw__waiting_page_init(struct htw__waiting_page *self,
                            const struct htw__waiting_filter *filter, size_t limit) {
    *self = (struct htw__waiting_page) { .filter = *filter, .limit = limit };
}

static void free_row(struct htw__waiting_page *self, struct htw__waiting *row) {
    self->bytes -= htw__record_copy_size(row->record);
    free((void *)(uintptr_t)row->record);
}

void htw__waiting_page_fini(struct htw__waiting_page *self) {
    for (size_t i = 0; i < self->count; i++)
        free_row(self, &self->rows[i]);
    htw__ids_fini(&self->ids);
    free(self->rows);
    self->rows = NULL;
    self->count = self->room = 0;
}

/* Of those that are the same, the one in the lowest level comes first: it has moved. In the input it is the last one, which may
 * have replaced the others. */
static int compare_rows(const void *one, const void *two) {
    const struct htw__waiting *a = one, *b = two;
    int order = htw__waiting_key_compare(&a->key, &b->key);
    if (order == 0)
        order = (int)a->from.level - (int)b->from.level;
    return order != 0 ? order : a->record->offset > b->record->offset ? -1 : 1;
}

/* Whether the last row is not kept. */
static bool is_full(const struct htw__waiting_page *self) {
    return self->count > self->limit || (self->bytes > HTW__WAITING_PAGE_BYTES && self->count > 2);
}

static void sort(struct htw__waiting_page *self) {
    size_t count = 0;
    if (self->count > 0)
        qsort(self->rows, self->count, sizeof(*self->rows), compare_rows);
    for (size_t i = 0; i < self->count; i++) {
        if (count > 0 &&
            htw__waiting_key_compare(&self->rows[count - 1].key, &self->rows[i].key) == 0)
            free_row(self, &self->rows[i]);
        else
            self->rows[count++] = self->rows[i];
    }
    self->count = count;
    for (; is_full(self); self->count--) {
        free_row(self, &self->rows[self->count - 1]);
        self->has_more = true;
    }
    if (self->count > 0)
        self->last = self->rows[self->count - 1].key;
}

static void reserve(struct htw__waiting_page *self) {
    if (self->bytes > 2 * HTW__WAITING_PAGE_BYTES ||
        (self->count == self->room && self->room / 2 > self->limit))
        sort(self);
    self->rows = htw__memory_reserve(self->rows, self->count + 1, &self->room, sizeof(*self->rows));
}

void htw__waiting_page_add(struct htw__waiting_page *self, struct htw__source from,
                           const struct htw__relay_record *record,
                           const struct htw__relay_request *found) {
    struct htw__waiting row;
    if (!htw__waiting_judge(&self->ids, from, record, found) ||
        !htw__waiting_make(from, record, found, &row) || !is_wanted(&self->filter, &row))
        return;
    self->found++;
    /* After the last one of a full page nothing is kept. */
    if (self->has_more && htw__waiting_key_compare(&row.key, &self->last) > 0)
        return;
    reserve(self);
    self->bytes += htw__record_copy_size(record);
    self->rows[self->count++] = htw__waiting_copy(&row);
}

bool htw__waiting_page_is_full(void *page, int64_t until_ms) {
    struct htw__waiting_page *self = page;
    sort(self);
    bool is_full =
        (self->has_more || self->count == self->limit) && self->last.wanted_ms < until_ms;
    self->has_more |= is_full;
    return is_full;
}

void htw__waiting_page_end(struct htw__waiting_page *self) {
    size_t count = 0;
    sort(self);
    for (size_t i = 0; i < self->count; i++) {
        if (!is_alive(&self->ids, &self->rows[i]))
            free_row(self, &self->rows[i]);
        else
            self->rows[count++] = self->rows[i];
    }
    self->count = count;
}
