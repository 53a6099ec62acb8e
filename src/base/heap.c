/* SPDX-License-Identifier: MIT */
/* heap.c - an indexed binary min-heap. */
#include "heap.h"

#include "annotate.h"
#include "compiler.h"

#include <errno.h>
#include <string.h>

static void place(struct htw__heap *heap, uint32_t index, struct htw__heap_entry entry) {
    heap->entries[index] = entry;
    heap->indices[entry.id] = index;
}

/* Puts `entry` at `index`, or above, and moves the ancestors that come after it down. */
static void sift_up(struct htw__heap *heap, uint32_t index, struct htw__heap_entry entry) {
    while (index > 0) {
        uint32_t parent = (index - 1) / 2;
        if (!htw__heap_entry_precedes(entry, heap->entries[parent]))
            break;
        place(heap, index, heap->entries[parent]);
        index = parent;
    }
    place(heap, index, entry);
}

void htw__heap_init(struct htw__heap *heap) {
    *heap = (struct htw__heap) { NULL, NULL, 0, 0 };
}

static size_t heap_bytes(uint32_t capacity) {
    return capacity * (sizeof(struct htw__heap_entry) + sizeof(uint32_t));
}

size_t htw__heap_memory(const struct htw__heap *heap) {
    return heap_bytes(heap->capacity);
}

void htw__heap_fini(struct htw__heap *heap, const struct htw_allocator *allocator) {
    htw__release(allocator, heap->entries, heap_bytes(heap->capacity));
    htw__heap_init(heap);
}

int htw__heap_reserve(struct htw__heap *heap, const struct htw_allocator *allocator,
                      uint32_t capacity) {
    if (capacity <= heap->capacity)
        return 0;
    struct htw__heap grown = { .count = heap->count, .capacity = capacity };
    grown.entries = htw__allocate(allocator, heap_bytes(capacity));
    if (grown.entries == NULL)
        return -ENOMEM;
    grown.indices = (uint32_t *)(void *)(grown.entries + capacity);
    HTW__ANNOTATE_IGNORE_BEGIN();
    if (heap->capacity > 0) {
        memcpy(grown.entries, heap->entries, heap->count * sizeof(*heap->entries));
        memcpy(grown.indices, heap->indices, heap->capacity * sizeof(*heap->indices));
    }
    for (uint32_t id = heap->capacity; id < capacity; id++)
        grown.indices[id] = HTW__HEAP_ABSENT;
    HTW__ANNOTATE_IGNORE_END();
    htw__heap_fini(heap, allocator);
    *heap = grown;
    return 0;
}

/* Not inlined, like htw__heap_pop(): the caller has no registers to spare for it. */
HTW__NOINLINE void htw__heap_lower(struct htw__heap *heap, uint64_t key, uint32_t id) {
    uint32_t index = heap->indices[id] == HTW__HEAP_ABSENT ? heap->count++ : heap->indices[id];
    sift_up(heap, index, (struct htw__heap_entry) { key, id });
}

/*
 * The hole at the top sinks to the bottom along the lesser children, and the last entry rises from
 * there, rarely far, since it came from the bottom. That is one comparison a level; sinking the
 * last entry from the top would take two.
 */
HTW__NOINLINE void htw__heap_pop(struct htw__heap *heap) {
    heap->indices[heap->entries[0].id] = HTW__HEAP_ABSENT;
    uint32_t count = --heap->count;
    uint32_t hole = 0;
    uint32_t child;
    while ((child = 2 * hole + 1) < count) {
        /* entries[count] is the last entry, which may be read. No branch: the processor could not
           predict which child is the lesser. */
        const struct htw__heap_entry *left = &heap->entries[child];
        const struct htw__heap_entry *right = left + 1;
        child += (right->key < left->key) | ((right->key == left->key) & (right->id > left->id));
        place(heap, hole, heap->entries[child]);
        hole = child;
    }
    if (hole != count)
        sift_up(heap, hole, heap->entries[count]);
}

bool htw__heap_is_valid(const struct htw__heap *heap) {
    if (heap->count > heap->capacity)
        return false;
    for (uint32_t i = 0; i < heap->count; i++) {
        struct htw__heap_entry entry = heap->entries[i];
        if (entry.id >= heap->capacity || heap->indices[entry.id] != i)
            return false;
        if (i > 0 && htw__heap_entry_precedes(entry, heap->entries[(i - 1) / 2]))
            return false;
    }
    uint32_t present = 0;
    for (uint32_t id = 0; id < heap->capacity; id++)
        present += heap->indices[id] != HTW__HEAP_ABSENT;
    return present == heap->count;
}
