/* SPDX-License-Identifier: MIT */
/* loaded.c - a bucket of level 0 in memory. */
#include "loaded.h"

#include "../../../src/base/list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* After all offsets. */
#define OFFSET_LAST (INT64_C(1) << 60)

static bool precedes(const struct htw__heap_node *one, const struct htw__heap_node *two) {
    const struct htw__entry *a = HTW_CONTAINER_OF(one, const struct htw__entry, turn);
    const struct htw__entry *b = HTW_CONTAINER_OF(two, const struct htw__entry, turn);
    return a->deadline_ms < b->deadline_ms ||
           (a->deadline_ms == b->deadline_ms && a->offset < b->offset);
}

void htw__loaded_init(struct htw__loaded *self, struct htw_wheel *wheel, int64_t end_ms,
                      int64_t position, const struct htw__relay_progress *progress, int64_t end,
                      void *owner, uint32_t slot) {
    *self = (struct htw__loaded) { .wheel = wheel,
                                   .owner = owner,
                                   .slot = slot,
                                   .end_ms = progress->deadline_ms >= 0 ? progress->end_ms : end_ms,
                                   .progress = *progress,
                                   .seen = position,
                                   .target = end > progress->read_end ? end : progress->read_end };
    self->is_armed = self->seen >= self->target;
    htw__ring_init(&self->entries);
    htw__heap_init(&self->due, precedes);
}

static struct htw__entry *entry_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw__entry, link);
}

static void disarm(struct htw__entry *entry) {
    htw_wheel_cancel(entry->loaded->wheel, &entry->timer);
    if (entry->turn.place != 0)
        htw__heap_remove(&entry->loaded->due, &entry->turn);
}

/* Takes an entry out of everything, and leaves it to the caller. */
static void detach(struct htw__entry *entry) {
    struct htw__loaded *self = entry->loaded;
    disarm(entry);
    htw__link_unlink(&entry->link);
    self->count--;
    self->bytes -= entry->size;
}

static void drop(struct htw__entry *entry) {
    detach(entry);
    free(entry);
}

static void drop_all(struct htw__loaded *self) {
    struct htw__link *next;
    for (struct htw__link *at = self->entries._next; at != &self->entries; at = next) {
        next = at->_next;
        drop(entry_of(at));
    }
}

void htw__loaded_fini(struct htw__loaded *self) {
    drop_all(self);
    htw__heap_fini(&self->due, &htw__default_allocator);
}

/* ---- the cut */

struct turn {
    int64_t deadline_ms, offset;
};

static int compare_turns(const void *one, const void *two) {
    const struct turn *a = one, *b = two;
    if (a->deadline_ms != b->deadline_ms)
        return a->deadline_ms < b->deadline_ms ? -1 : 1;
    return a->offset < b->offset ? -1 : a->offset > b->offset;
}

static bool is_cut_off(const struct htw__loaded *self, int64_t deadline_ms, int64_t offset) {
    return self->is_cut && (deadline_ms > self->cut_deadline_ms ||
                            (deadline_ms == self->cut_deadline_ms && offset >= self->cut_offset));
}

/* Drops the later half. Without memory to sort, it makes no cut this time. */
static void cut(struct htw__loaded *self) {
    size_t count = 0;
    struct turn *turns = malloc(self->count * sizeof(*turns));
    if (turns == NULL)
        return;
    for (struct htw__link *at = self->entries._next; at != &self->entries; at = at->_next)
        turns[count++] = (struct turn) { entry_of(at)->deadline_ms, entry_of(at)->offset };
    qsort(turns, count, sizeof(*turns), compare_turns);
    self->is_cut = true;
    self->cut_deadline_ms = turns[count / 2].deadline_ms;
    self->cut_offset = turns[count / 2].offset;
    free(turns);
    for (struct htw__link *at = self->entries._next, *next; at != &self->entries; at = next) {
        struct htw__entry *entry = entry_of(at);
        next = at->_next;
        if (is_cut_off(self, entry->deadline_ms, entry->offset))
            drop(entry);
    }
}

/* ---- arriving and leaving */

/* There is room among the due for all entries. */
static int arm(struct htw__loaded *self, struct htw__entry *entry) {
    uint64_t tick = (uint64_t)entry->deadline_ms;
    if (tick > htw_wheel_now(self->wheel))
        return htw_wheel_schedule(self->wheel, &entry->timer, tick);
    htw__heap_push(&self->due, &entry->turn);
    return 0;
}

static int arm_all(struct htw__loaded *self) {
    int error = 0;
    for (struct htw__link *at = self->entries._next; at != &self->entries && error == 0;
         at = at->_next)
        error = arm(self, entry_of(at));
    return error;
}

int htw__loaded_move(struct htw__loaded *self, struct htw_wheel *wheel) {
    for (struct htw__link *at = self->entries._next; at != &self->entries; at = at->_next)
        disarm(entry_of(at));
    self->wheel = wheel;
    return self->is_armed ? arm_all(self) : 0;
}

void htw__loaded_fall_due(struct htw_timer *timer) {
    struct htw__entry *entry = HTW_CONTAINER_OF(timer, struct htw__entry, timer);
    htw__heap_push(&entry->loaded->due, &entry->turn);
}

int htw__loaded_reach(struct htw__loaded *self, int64_t offset) {
    if (offset > self->seen)
        self->seen = offset;
    if (self->seen > self->progress.read_end)
        self->progress.read_end = self->seen;
    if (self->is_armed || self->seen < self->target)
        return 0;
    self->is_armed = true;
    return arm_all(self);
}

static struct htw__entry *make_entry(struct htw__loaded *self,
                                     const struct htw__relay_record *record,
                                     const struct htw__request *request, int64_t deadline_ms) {
    size_t size = sizeof(struct htw__entry) + htw__record_copy_size(record);
    struct htw__entry *entry = malloc(size);
    if (entry == NULL ||
        htw__heap_reserve(&self->due, &htw__default_allocator, self->count + 1) != 0) {
        free(entry);
        return NULL;
    }
    *entry = (struct htw__entry) {
        .loaded = self, .deadline_ms = deadline_ms, .offset = record->offset, .size = size
    };
    entry->record = htw__record_copy(record, entry + 1);
    entry->request = htw__request_of_copy(request, record, entry->record);
    htw__ring_push_back(&self->entries, &entry->link);
    self->count++;
    self->bytes += size;
    return entry;
}

/* What becomes of a record that has arrived. */
enum fate { STAYS, SKIPPED, LEAVES };

static enum fate judge(const struct htw__loaded *self, int64_t deadline_ms, int64_t offset) {
    if (offset >= self->progress.read_end && deadline_ms < self->progress.deadline_ms)
        return LEAVES;
    return htw__progress_covers(&self->progress, deadline_ms, offset) ||
                   is_cut_off(self, deadline_ms, offset)
               ? SKIPPED
               : STAYS;
}

static int keep(struct htw__loaded *self, const struct htw__relay_record *record,
                const struct htw__request *request, int64_t deadline_ms) {
    struct htw__entry *entry = make_entry(self, record, request, deadline_ms);
    if (entry == NULL)
        return -ENOMEM;
    /* An entry that makes the bucket armed is armed with all others. */
    return self->is_armed ? arm(self, entry) : 0;
}

enum htw__arrival htw__loaded_add(struct htw__loaded *self, const struct htw__relay_record *record,
                                  const struct htw__request *request, size_t bytes_max) {
    int64_t deadline_ms = request->why == NULL ? request->deadline_ms : 0;
    if (record->offset < self->seen)
        return HTW__ARRIVAL_KEPT;
    if (deadline_ms > self->end_ms)
        deadline_ms = self->end_ms;
    enum fate fate = judge(self, deadline_ms, record->offset);
    if ((fate == STAYS && keep(self, record, request, deadline_ms) != 0) ||
        htw__loaded_reach(self, record->offset + 1) != 0)
        return HTW__ARRIVAL_NO_MEMORY;
    if (fate == STAYS && self->bytes > bytes_max && self->count >= 2)
        cut(self);
    return fate == LEAVES ? HTW__ARRIVAL_DUE : HTW__ARRIVAL_KEPT;
}

struct htw__entry *htw__loaded_leave(struct htw__loaded *self) {
    struct htw__heap_node *first = htw__heap_first(&self->due);
    if (first == NULL)
        return NULL;
    struct htw__entry *entry = HTW_CONTAINER_OF(first, struct htw__entry, turn);
    self->progress.end_ms = self->end_ms;
    self->progress.deadline_ms = entry->deadline_ms;
    self->progress.offset = entry->offset;
    detach(entry);
    return entry;
}

bool htw__loaded_is_empty(const struct htw__loaded *self) {
    return self->is_armed && self->count == 0 && !self->is_cut;
}

bool htw__loaded_needs_pass(const struct htw__loaded *self) {
    return self->is_armed && self->count == 0 && self->is_cut;
}

void htw__loaded_begin_pass(struct htw__loaded *self, int64_t position) {
    /* All before the cut is done. */
    bool is_first = self->cut_offset == 0;
    self->progress.end_ms = self->end_ms;
    self->progress.deadline_ms = self->cut_deadline_ms - is_first;
    self->progress.offset = is_first ? OFFSET_LAST : self->cut_offset - 1;
    self->seen = position;
    self->target = self->progress.read_end;
    self->is_armed = self->seen >= self->target;
    self->is_cut = false;
}
