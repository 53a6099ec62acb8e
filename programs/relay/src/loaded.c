/* SPDX-License-Identifier: MIT */
/* loaded.c - a bucket of level 0 in memory. */
#include "loaded.h"

#include "memory.h"

#include <stdlib.h>

/* After all offsets. */
#define OFFSET_LAST (INT64_C(1) << 60)

static struct htw__entry *entry_of(struct htw__heap_node *node) {
    return HTW_CONTAINER_OF(node, struct htw__entry, turn);
}

static bool precedes(const struct htw__heap_node *one, const struct htw__heap_node *two) {
    const struct htw__entry *a = HTW_CONTAINER_OF(one, const struct htw__entry, turn);
    const struct htw__entry *b = HTW_CONTAINER_OF(two, const struct htw__entry, turn);
    return a->deadline_ms < b->deadline_ms ||
           (a->deadline_ms == b->deadline_ms && a->offset < b->offset);
}

void htw__loaded_init(struct htw__loaded *self, int64_t end_ms, int64_t position,
                      const struct htw__relay_progress *progress, int64_t end) {
    *self = (struct htw__loaded) { .end_ms = progress->deadline_ms >= 0 ? progress->end_ms : end_ms,
                                   .progress = *progress,
                                   .seen = position,
                                   .target = end > progress->read_end ? end : progress->read_end };
    htw__heap_init(&self->entries, precedes);
}

/* Takes an entry out, and leaves it to the caller. */
static struct htw__entry *detach(struct htw__loaded *self, struct htw__heap_node *node) {
    htw__heap_remove(&self->entries, node);
    self->bytes -= entry_of(node)->size;
    return entry_of(node);
}

static void drop_from(struct htw__loaded *self, uint32_t first) {
    while (self->entries.count > first)
        free(detach(self, self->entries.nodes[self->entries.count - 1]));
}

void htw__loaded_fini(struct htw__loaded *self) {
    drop_from(self, 0);
    htw__heap_fini(&self->entries, &htw__default_allocator);
}

/* ---- arriving */

/* Drops the later half. */
static void cut(struct htw__loaded *self) {
    uint32_t half = self->entries.count / 2;
    htw__heap_sort(&self->entries);
    self->is_cut = true;
    self->cut_deadline_ms = entry_of(self->entries.nodes[half])->deadline_ms;
    self->cut_offset = entry_of(self->entries.nodes[half])->offset;
    drop_from(self, half);
}

static bool is_cut_off(const struct htw__loaded *self, int64_t deadline_ms, int64_t offset) {
    return self->is_cut && (deadline_ms > self->cut_deadline_ms ||
                            (deadline_ms == self->cut_deadline_ms && offset >= self->cut_offset));
}

void htw__loaded_reach(struct htw__loaded *self, int64_t offset) {
    if (offset > self->seen)
        self->seen = offset;
    if (self->seen > self->progress.read_end)
        self->progress.read_end = self->seen;
}

static void keep(struct htw__loaded *self, const struct htw__relay_record *record,
                 const struct htw__relay_request *request, int64_t deadline_ms) {
    size_t size = sizeof(struct htw__entry) + htw__record_copy_size(record);
    struct htw__entry *entry = htw__memory(size);
    if (htw__heap_reserve(&self->entries, &htw__default_allocator, self->entries.count + 1) != 0)
        htw__memory_end();
    entry->deadline_ms = deadline_ms;
    entry->offset = record->offset;
    entry->size = size;
    entry->record = htw__record_copy(record, entry + 1);
    entry->request = htw__request_of_copy(request, record, entry->record);
    htw__heap_push(&self->entries, &entry->turn);
    self->bytes += size;
}

bool htw__loaded_add(struct htw__loaded *self, const struct htw__relay_record *record,
                     const struct htw__relay_request *request, size_t bytes_max) {
    int64_t deadline_ms = request->why == NULL ? request->deadline_ms : 0, offset = record->offset;
    if (offset < self->seen)
        return false;
    if (deadline_ms > self->end_ms)
        deadline_ms = self->end_ms;
    bool is_late = offset >= self->progress.read_end && deadline_ms < self->progress.deadline_ms;
    bool is_kept = !is_late && !htw__progress_covers(&self->progress, deadline_ms, offset) &&
                   !is_cut_off(self, deadline_ms, offset);
    if (is_kept)
        keep(self, record, request, deadline_ms);
    htw__loaded_reach(self, offset + 1);
    if (is_kept && self->bytes > bytes_max && self->entries.count >= 2)
        cut(self);
    return is_late;
}

/* ---- leaving */

int64_t htw__loaded_next(const struct htw__loaded *self) {
    struct htw__heap_node *first = htw__heap_first(&self->entries);
    return first == NULL || self->seen < self->target ? INT64_MAX : entry_of(first)->deadline_ms;
}

/* Of the entry at a place of the heap, and of those that follow it. */
static size_t count_due(const struct htw__heap *heap, size_t place, int64_t now_ms) {
    if (place >= heap->count || entry_of(heap->nodes[place])->deadline_ms > now_ms)
        return 0;
    return 1 + count_due(heap, 2 * place + 1, now_ms) + count_due(heap, 2 * place + 2, now_ms);
}

size_t htw__loaded_overdue(const struct htw__loaded *self, int64_t now_ms) {
    return count_due(&self->entries, 0, now_ms);
}

struct htw__entry *htw__loaded_leave(struct htw__loaded *self, int64_t now_ms) {
    struct htw__heap_node *first = htw__heap_first(&self->entries);
    if (first == NULL || htw__loaded_next(self) > now_ms)
        return NULL;
    struct htw__entry *entry = detach(self, first);
    self->progress.end_ms = self->end_ms;
    self->progress.deadline_ms = entry->deadline_ms;
    self->progress.offset = entry->offset;
    return entry;
}

bool htw__loaded_is_empty(const struct htw__loaded *self) {
    return self->seen >= self->target && self->entries.count == 0;
}

void htw__loaded_begin_pass(struct htw__loaded *self, int64_t position) {
    /* All before the cut is done. */
    bool is_first = self->cut_offset == 0;
    self->progress.end_ms = self->end_ms;
    self->progress.deadline_ms = self->cut_deadline_ms - is_first;
    self->progress.offset = is_first ? OFFSET_LAST : self->cut_offset - 1;
    self->seen = position;
    self->target = self->progress.read_end;
    self->is_cut = false;
}
