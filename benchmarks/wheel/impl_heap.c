/* SPDX-License-Identifier: MIT */
/* impl_heap.c - timers in a binary heap. */
#include "bench.h"

#include "../common/heap.h"

struct timer {
    struct heap_timer in_heap;
    void (*callback)(struct timer *timer, void *argument);
    void *argument;
};

struct timers {
    struct heap heap;
    struct bench_tally *tally;
};

static void fire(struct timer *timer, void *tally) {
    bench_fired(tally, timer);
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity; /* the array grows, as in programs that do not know their capacity */
    struct timers *timers = calloc(1, sizeof(*timers));
    if (timers != NULL)
        timers->tally = tally;
    return timers;
}

static void init(void *self, void *timer) {
    struct timers *timers = self;
    *(struct timer *)timer = (struct timer) { .callback = fire, .argument = timers->tally };
}

static void schedule(void *self, void *timer, uint64_t deadline) {
    heap_add(self, timer, deadline);
}

static void cancel(void *self, void *timer) {
    heap_remove(self, timer);
}

static void move(void *self, void *timer, uint64_t deadline) {
    struct heap *heap = self;
    size_t index = ((struct heap_timer *)timer)->index;
    struct heap_entry entry = { deadline, timer };
    if (deadline < heap->entries[index].deadline)
        heap_sift_up(heap, index, entry);
    else
        heap_sift_down(heap, index, entry);
}

static void advance(void *self, uint64_t now) {
    struct heap *heap = self;
    while (heap->count > 0 && heap->entries[0].deadline <= now) {
        struct timer *timer = (struct timer *)heap->entries[0].timer;
        heap_remove(heap, &timer->in_heap);
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
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = move,
    .advance = advance,
    .next = next,
    .count = count,
};
