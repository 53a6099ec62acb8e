/* SPDX-License-Identifier: MIT */
/*
 * heap.h - a binary min-heap of timers, as in most event loops.
 *
 * Its array holds the deadlines, so that a comparison touches no timer. A timer knows its index, so that it can be
 * cancelled and moved in place. The array doubles when it is full; it takes 16 bytes for each timer.
 */
#ifndef BENCH_COMMON_HEAP_H
#define BENCH_COMMON_HEAP_H

#include <stdint.h>
#include <stdlib.h>

#define HEAP_GONE SIZE_MAX /* the index of one that was removed */

struct heap_timer {
    size_t index;
};

struct heap_entry {
    uint64_t deadline;
    struct heap_timer *timer;
};

struct heap {
    struct heap_entry *entries; /* entries[0] is due first */
    size_t count, room;         /* entries that there are, and that there is memory for */
};

static inline void heap_place(struct heap *heap, size_t index, struct heap_entry entry) {
    heap->entries[index] = entry;
    entry.timer->index = index;
}

/* Fills the hole at `index` with `entry`, after moving ancestors that are due later down. */
static inline void heap_sift_up(struct heap *heap, size_t index, struct heap_entry entry) {
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (heap->entries[parent].deadline <= entry.deadline)
            break;
        heap_place(heap, index, heap->entries[parent]);
        index = parent;
    }
    heap_place(heap, index, entry);
}

/*
 * Fills the hole at `index`: the hole sinks to the bottom, and `entry` rises from there. Such
 * entries mostly belong near the bottom, so this takes one comparison a level; stopping on the way
 * would take two. Also correct for an entry that belongs above `index`.
 */
static inline void heap_sift_down(struct heap *heap, size_t index, struct heap_entry entry) {
    size_t child;
    while ((child = 2 * index + 1) + 1 < heap->count) {
        child += heap->entries[child + 1].deadline < heap->entries[child].deadline;
        heap_place(heap, index, heap->entries[child]);
        index = child;
    }
    if (child < heap->count) {
        heap_place(heap, index, heap->entries[child]);
        index = child;
    }
    heap_sift_up(heap, index, entry);
}

static inline void heap_remove(struct heap *heap, struct heap_timer *timer) {
    struct heap_entry last = heap->entries[--heap->count];
    size_t index = timer->index;
    timer->index = HEAP_GONE;
    if (index != heap->count)
        heap_sift_down(heap, index, last);
}

static inline void heap_add(struct heap *heap, struct heap_timer *timer, uint64_t deadline) {
    if (heap->count == heap->room) {
        heap->room = heap->room == 0 ? 64 : 2 * heap->room;
        heap->entries = realloc(heap->entries, heap->room * sizeof(*heap->entries));
        if (heap->entries == NULL)
            abort(); /* a run without all of its timers has no result */
    }
    heap_sift_up(heap, heap->count++, (struct heap_entry) { deadline, timer });
}

#endif
