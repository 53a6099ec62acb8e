/* SPDX-License-Identifier: MIT */
/*
 * impl_heap.c - timers in a plain binary min-heap, as most event loops keep them.
 *
 * The heap's array holds the deadlines, so that comparing touches no timer; a timer knows
 * its index, so that it can be cancelled and moved where it lies. The array doubles when
 * it is full. A timer takes 16 bytes of it in addition to its own.
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

/* Fills the hole at `index` with `entry`, or with ancestors that are due later. */
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
 * Fills the hole at `index` with `entry` and its descendants: the hole sinks to the bottom
 * and `entry` rises from there. Entries that are sifted down mostly belong near the bottom,
 * so this takes one comparison a level where stopping on the way would take two. Right for
 * any `entry`, even for one that belongs above `index`.
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

static void take_out(struct heap *heap, size_t index) {
    struct entry last = heap->entries[--heap->count];
    if (index != heap->count)
        sift_down(heap, index, last);
}

static void grow(struct heap *heap) {
    size_t room = 2 * heap->room;
    struct entry *entries = realloc(heap->entries, room * sizeof(*entries));
    if (entries == NULL)
        abort(); /* a measurement without its timers is worth nothing */
    heap->entries = entries;
    heap->room = room;
}

static void fire(struct timer *timer, void *tally) {
    bench_fired(tally, timer);
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity; /* grown into, as programs do that do not know theirs */
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
    take_out(self, ((struct timer *)timer)->index);
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
        take_out(heap, 0);
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
