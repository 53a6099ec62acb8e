/* SPDX-License-Identifier: MIT */
/*
 * impl_heap.c - timers in a binary min-heap, as in most event loops.
 *
 * The array of the heap holds the deadlines, so that a comparison touches no timer. A timer knows
 * its index, so that it can be cancelled and moved in place. The array doubles when it is full; it
 * takes 16 bytes for each timer.
 */
#include "bench.h"

#include <stdlib.h>

struct timer {
    size_t index; /* in entries, while armed */
    void (*callback)(struct timer *timer, void *argument);
    void *argument;
};

struct entry {
    uint64_t deadline;
    struct timer *timer;
};

struct heap {
    struct entry *entries; /* entries[0] is due first */
    size_t count;
    size_t room; /* entries there is memory for */
    struct bench_tally *tally;
};

static void place(struct heap *heap, size_t index, struct entry entry) {
    heap->entries[index] = entry;
    entry.timer->index = index;
}

/* Fills the hole at `index` with `entry`, after moving ancestors that are due later down. */
static void sift_up(struct heap *heap, size_t index, struct entry entry) {
    while (index > 0) {
        size_t parent = (index - 1) / 2;
        if (heap->entries[parent].deadline <= entry.deadline)
            break;
        place(heap, index, heap->entries[parent]);
        index = parent;
    }
    place(heap, index, entry);
}

/*
 * Fills the hole at `index`: the hole sinks to the bottom, and `entry` rises from there. Such
 * entries mostly belong near the bottom, so this takes one comparison a level; stopping on the way
 * would take two. Also correct for an entry that belongs above `index`.
 */
static void sift_down(struct heap *heap, size_t index, struct entry entry) {
    size_t child;
    while ((child = 2 * index + 1) + 1 < heap->count) {
        child += heap->entries[child + 1].deadline < heap->entries[child].deadline;
        place(heap, index, heap->entries[child]);
        index = child;
    }
    if (child < heap->count) {
        place(heap, index, heap->entries[child]);
        index = child;
    }
    sift_up(heap, index, entry);
}

static void remove_at(struct heap *heap, size_t index) {
    struct entry last = heap->entries[--heap->count];
    if (index != heap->count)
        sift_down(heap, index, last);
}

static void grow(struct heap *heap) {
    size_t room = 2 * heap->room;
    struct entry *entries = realloc(heap->entries, room * sizeof(*entries));
    if (entries == NULL)
        abort(); /* a run without all of its timers has no result */
    heap->entries = entries;
    heap->room = room;
}

static void fire(struct timer *timer, void *tally) {
    bench_fired(tally, timer);
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity; /* the array grows, as in programs that do not know their capacity */
    struct heap *heap = malloc(sizeof(*heap));
    if (heap == NULL)
        return NULL;
    *heap = (struct heap) { .room = 64, .tally = tally };
    heap->entries = malloc(heap->room * sizeof(*heap->entries));
    if (heap->entries == NULL) {
        free(heap);
        return NULL;
    }
    return heap;
}

static void destroy(void *self) {
    struct heap *heap = self;
    free(heap->entries);
    free(heap);
}

static void init(void *self, void *timer) {
    struct heap *heap = self;
    *(struct timer *)timer = (struct timer) { .callback = fire, .argument = heap->tally };
}

static void schedule(void *self, void *timer, uint64_t deadline) {
    struct heap *heap = self;
    if (heap->count == heap->room)
        grow(heap);
    sift_up(heap, heap->count++, (struct entry) { deadline, timer });
}

static void cancel(void *self, void *timer) {
    remove_at(self, ((struct timer *)timer)->index);
}

static void move(void *self, void *timer, uint64_t deadline) {
    struct heap *heap = self;
    size_t index = ((struct timer *)timer)->index;
    struct entry entry = { deadline, timer };
    if (deadline < heap->entries[index].deadline)
        sift_up(heap, index, entry);
    else
        sift_down(heap, index, entry);
}

static void advance(void *self, uint64_t now) {
    struct heap *heap = self;
    while (heap->count > 0 && heap->entries[0].deadline <= now) {
        struct timer *timer = heap->entries[0].timer;
        remove_at(heap, 0);
        timer->callback(timer, timer->argument);
    }
}

static uint64_t next(void *self) {
    struct heap *heap = self;
    return heap->count > 0 ? heap->entries[0].deadline : UINT64_MAX;
}

static size_t count(void *self) {
    return ((struct heap *)self)->count;
}

const struct bench_implementation bench_heap = {
    .name = "heap",
    .about = "binary heap, indexed; deadlines in its array",
    .timer_size = sizeof(struct timer),
    .create = create,
    .destroy = destroy,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = move,
    .advance = advance,
    .next = next,
    .count = count,
};
