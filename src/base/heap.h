/* SPDX-License-Identifier: MIT */
/*
 * heap.h - an indexed binary min-heap of (key, id) pairs.
 *
 * Ids are small integers, each at most once in the heap. A table by id locates each, so that its
 * key can be lowered. Memory is reserved beforehand, 20 bytes an id, and no other operation
 * allocates. Of equal keys the highest id comes first.
 */
#ifndef HTW_SRC_BASE_HEAP_H
#define HTW_SRC_BASE_HEAP_H

#include "alloc.h"

#include <stdbool.h>
#include <stdint.h>

struct htw__heap_entry {
    uint64_t key;
    uint32_t id;
};

struct htw__heap {
    struct htw__heap_entry *entries; /* entries[0] is the top */
    uint32_t *indices;               /* by id: where in entries, or HTW__HEAP_ABSENT */
    uint32_t count;
    uint32_t capacity; /* ids are less than this */
};

/* The index of an id that is not in the heap. */
#define HTW__HEAP_ABSENT UINT32_MAX

/* Whether `a` comes before `b`. */
static inline bool htw__heap_entry_precedes(struct htw__heap_entry a, struct htw__heap_entry b) {
    return a.key < b.key || (a.key == b.key && a.id > b.id);
}

void htw__heap_init(struct htw__heap *heap);
void htw__heap_fini(struct htw__heap *heap, const struct htw_allocator *allocator);

/* Makes room for ids 0 .. capacity - 1. 0, or -ENOMEM: nothing has changed. */
int htw__heap_reserve(struct htw__heap *heap, const struct htw_allocator *allocator,
                      uint32_t capacity);

/* The bytes that the heap holds. */
size_t htw__heap_memory(const struct htw__heap *heap);

/* Adds `id` with `key`, or lowers the key that it has to `key`. */
void htw__heap_lower(struct htw__heap *heap, uint64_t key, uint32_t id);

/* Removes the top. The heap must not be empty. */
void htw__heap_pop(struct htw__heap *heap);

/* Whether the order holds and the table agrees. O(capacity). */
bool htw__heap_is_valid(const struct htw__heap *heap);

#endif /* HTW_SRC_BASE_HEAP_H */
