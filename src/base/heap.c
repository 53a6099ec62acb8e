/* SPDX-License-Identifier: MIT */
/* heap.c - a binary heap of nodes that are part of what is ordered. */
#include "heap.h"

#include "assert.h"

#include <errno.h>
#include <string.h>

#define FIRST_ROOM 64u

void htw__heap_init(struct htw__heap *heap, htw__heap_order *precedes) {
    *heap = (struct htw__heap) { .precedes = precedes };
}

size_t htw__heap_memory(const struct htw__heap *heap) {
    return heap->room * sizeof(*heap->nodes);
}

void htw__heap_fini(struct htw__heap *heap, const struct htw_allocator *allocator) {
    htw__release(allocator, heap->nodes, htw__heap_memory(heap));
    htw__heap_init(heap, heap->precedes);
}

int htw__heap_reserve(struct htw__heap *heap, const struct htw_allocator *allocator, size_t count) {
    uint32_t room = heap->room == 0 ? FIRST_ROOM : heap->room;
    if (count <= heap->room)
        return 0;
    if (count > UINT32_MAX / 2)
        return -ENOMEM;
    while (room < count)
        room *= 2;
    struct htw__heap_node **nodes =
        htw__allocate(allocator, room * sizeof(struct htw__heap_node *));
    if (nodes == NULL)
        return -ENOMEM;
    if (heap->count > 0)
        memcpy(nodes, heap->nodes, heap->count * sizeof(struct htw__heap_node *));
    htw__release(allocator, heap->nodes, htw__heap_memory(heap));
    heap->nodes = nodes;
    heap->room = room;
    return 0;
}

static void put(struct htw__heap *heap, uint32_t place, struct htw__heap_node *node) {
    heap->nodes[place] = node;
    node->place = place + 1;
}

static void sift_up(struct htw__heap *heap, uint32_t place, struct htw__heap_node *node) {
    for (; place > 0 && heap->precedes(node, heap->nodes[(place - 1) / 2]); place = (place - 1) / 2)
        put(heap, place, heap->nodes[(place - 1) / 2]);
    put(heap, place, node);
}

static void sift_down(struct htw__heap *heap, uint32_t place, struct htw__heap_node *node) {
    for (uint32_t child; (child = 2 * place + 1) < heap->count; place = child) {
        if (child + 1 < heap->count && heap->precedes(heap->nodes[child + 1], heap->nodes[child]))
            child++;
        if (!heap->precedes(heap->nodes[child], node))
            break;
        put(heap, place, heap->nodes[child]);
    }
    put(heap, place, node);
}

void htw__heap_push(struct htw__heap *heap, struct htw__heap_node *node) {
    HTW_ASSERT(heap->count < heap->room && node->place == 0);
    sift_up(heap, heap->count++, node);
}

void htw__heap_remove(struct htw__heap *heap, struct htw__heap_node *node) {
    HTW_ASSERT(node->place != 0 && heap->nodes[node->place - 1] == node);
    uint32_t place = node->place - 1;
    struct htw__heap_node *last = heap->nodes[--heap->count];
    node->place = 0;
    if (last == node)
        return;
    if (place > 0 && heap->precedes(last, heap->nodes[(place - 1) / 2]))
        sift_up(heap, place, last);
    else
        sift_down(heap, place, last);
}

/* Takes one after the other from the front to the back of the array, where there is room for it, and turns it round. */
void htw__heap_sort(struct htw__heap *heap) {
    uint32_t all = heap->count;
    for (struct htw__heap_node *first; (first = htw__heap_first(heap)) != NULL;) {
        htw__heap_remove(heap, first);
        heap->nodes[heap->count] = first;
    }
    for (uint32_t i = 0; i < all / 2; i++) {
        struct htw__heap_node *node = heap->nodes[i];
        heap->nodes[i] = heap->nodes[all - 1 - i];
        heap->nodes[all - 1 - i] = node;
    }
    heap->count = all;
    for (uint32_t i = 0; i < all; i++)
        heap->nodes[i]->place = i + 1;
}
