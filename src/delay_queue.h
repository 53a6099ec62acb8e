/* SPDX-License-Identifier: MIT */
/*
 * delay_queue.h - the buckets that hold timers, by number, earliest first; never waits.
 *
 * A bucket is queued under a key that is not later than any deadline in it: the earliest
 * deadline that it has been offered since it was queued. Cancels do not touch the queue;
 * an emptied bucket stays until it is found at the top (a timer that is armed and
 * cancelled over and over then costs no heap operation). A key is never raised in place:
 * the slot of a bucket could then stand for two turns of its level at once.
 */
#ifndef HTW_SRC_DELAY_QUEUE_H
#define HTW_SRC_DELAY_QUEUE_H

#include "heap.h"

struct htw__delay_queue {
    struct htw__heap heap;
};

static inline bool htw__delay_queue_is_empty(const struct htw__delay_queue *queue) {
    return queue->heap.count == 0;
}

/* The queue must not be empty. */
static inline uint64_t htw__delay_queue_top_key(const struct htw__delay_queue *queue) {
    return queue->heap.entries[0].key;
}

/* The queue must not be empty. */
static inline uint32_t htw__delay_queue_top_id(const struct htw__delay_queue *queue) {
    return queue->heap.entries[0].id;
}

/* The key of a bucket; HTW__HEAP_ABSENT when it is not queued. */
static inline uint64_t htw__delay_queue_key(const struct htw__delay_queue *queue, uint32_t id) {
    return queue->heap.keys[id];
}

/* Whether bucket `id` must be queued, or come earlier, because of a timer for `deadline`. */
static inline bool htw__delay_queue_wants(const struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline) {
    return __builtin_expect(deadline < queue->heap.keys[id], 0);
}

/* Tells the queue that bucket `id` has got a timer for `deadline`. Rarely more than a load. */
static inline void htw__delay_queue_offer(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline) {
    if (htw__delay_queue_wants(queue, id, deadline))
        htw__heap_lower(&queue->heap, deadline, id);
}

/* Removes the top. */
static inline void htw__delay_queue_pop(struct htw__delay_queue *queue) {
    htw__heap_pop(&queue->heap);
}

#endif /* HTW_SRC_DELAY_QUEUE_H */
