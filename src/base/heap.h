/* SPDX-License-Identifier: MIT */
/*
 * heap.h - a binary heap of nodes that are part of what is ordered. The array of pointers to them is reserved
 * beforehand; no other operation allocates.
 */
#ifndef HTW_SRC_BASE_HEAP_H
#define HTW_SRC_BASE_HEAP_H

#include "alloc.h"

#include <stdbool.h>
#include <stdint.h>

/* All zero: in no heap. */
struct htw__heap_node {
    uint32_t place; /* in `nodes`, plus 1; 0: none */
};

/* Whether `a` comes before `b`. A total order, which does not change while both are in the heap. */
typedef bool htw__heap_order(const struct htw__heap_node *a, const struct htw__heap_node *b);

struct htw__heap {
    htw__heap_order *precedes;
    struct htw__heap_node **nodes; /* nodes[0] is the first */
    uint32_t count, room;
};

HTW__SHARED void htw__heap_init(struct htw__heap *heap, htw__heap_order *precedes);
HTW__SHARED void htw__heap_fini(struct htw__heap *heap, const struct htw_allocator *allocator);

/* Makes room for `count` nodes in all. 0, or -ENOMEM: nothing has changed. */
HTW__SHARED int htw__heap_reserve(struct htw__heap *heap, const struct htw_allocator *allocator,
                                  size_t count);

/* The bytes that the heap holds. */
HTW__SHARED size_t htw__heap_memory(const struct htw__heap *heap);

/* Adds a node, for which there must be room. O(log n). */
HTW__SHARED void htw__heap_push(struct htw__heap *heap, struct htw__heap_node *node);

/* Removes a node of the heap. O(log n). */
HTW__SHARED void htw__heap_remove(struct htw__heap *heap, struct htw__heap_node *node);

/* Puts all nodes in order. O(n log n). */
HTW__SHARED void htw__heap_sort(struct htw__heap *heap);

/* The first node; NULL: none. */
static inline struct htw__heap_node *htw__heap_first(const struct htw__heap *heap) {
    return heap->count > 0 ? heap->nodes[0] : NULL;
}

#endif /* HTW_SRC_BASE_HEAP_H */
