/* SPDX-License-Identifier: MIT */
/*
 * delay_queue.h - the buckets that hold timers, by number, earliest first.
 *
 * The key of a bucket is the earliest deadline that it was offered since it was queued; so it is
 * not later than any deadline in the bucket. Cancels do not touch the queue: an emptied bucket
 * stays until it is found at the top. So a timer that is armed and cancelled again and again costs
 * nothing here. A key is never raised: a bucket could then hold two ranges of its level at once.
 *
 * The near buckets, those of level 0, are one tick wide. Within the window their slots are in the
 * order of their keys, and a bitmap finds the next one in a few instructions. Nearly all advances
 * of the clock go to a near bucket. The far buckets, of the other levels, are in a binary heap.
 */
#ifndef HTW_SRC_WHEEL_DELAY_QUEUE_H
#define HTW_SRC_WHEEL_DELAY_QUEUE_H

#include "../base/bitmap.h"
#include "../base/compiler.h"
#include "../base/heap.h"

/* The key of a bucket that is not queued. */
#define HTW__DELAY_QUEUE_ABSENT UINT64_MAX

struct htw__delay_queue {
    uint64_t *keys;          /* by id */
    uint32_t capacity;       /* ids are less than this */
    uint32_t near_count;     /* ids less than this are near; a power of two */
    uint64_t first_near;     /* the earliest key of a near bucket */
    struct htw__bitmap near; /* the near buckets that are queued */
    struct htw__heap far;    /* the others */
};

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t near_count);
void htw__delay_queue_fini(struct htw__delay_queue *queue, const struct htw_allocator *allocator);

/* Makes room for ids 0 .. capacity - 1. 0, or -ENOMEM: nothing has changed. */
int htw__delay_queue_reserve(struct htw__delay_queue *queue, const struct htw_allocator *allocator,
                             uint32_t capacity);

/* How many buckets are queued, and the bytes that the queue holds. */
uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue);
size_t htw__delay_queue_memory(const struct htw__delay_queue *queue);

/* Queues bucket `id` under `deadline`, or lowers its key to that. */
void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id, uint64_t deadline);

/* Removes the top. The queue must not be empty. */
void htw__delay_queue_pop(struct htw__delay_queue *queue);

/* Whether heap, bitmap and keys agree. O(capacity). */
bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue);

/* Of equal keys the far bucket is the top: its timers were armed earlier. */
static inline bool htw__delay_queue_top_is_far(const struct htw__delay_queue *queue) {
    return queue->far.count > 0 && queue->far.entries[0].key <= queue->first_near;
}

/* HTW__DELAY_QUEUE_ABSENT: the queue is empty. */
static inline uint64_t htw__delay_queue_top_key(const struct htw__delay_queue *queue) {
    return htw__delay_queue_top_is_far(queue) ? queue->far.entries[0].key : queue->first_near;
}

static inline bool htw__delay_queue_is_empty(const struct htw__delay_queue *queue) {
    return htw__delay_queue_top_key(queue) == HTW__DELAY_QUEUE_ABSENT;
}

/* The queue must not be empty. */
static inline uint32_t htw__delay_queue_top_id(const struct htw__delay_queue *queue) {
    return htw__delay_queue_top_is_far(queue)
               ? queue->far.entries[0].id
               : (uint32_t)queue->first_near & (queue->near_count - 1);
}

/* The key of a bucket; HTW__DELAY_QUEUE_ABSENT: it is not queued. */
static inline uint64_t htw__delay_queue_key(const struct htw__delay_queue *queue, uint32_t id) {
    return queue->keys[id];
}

/* Whether bucket `id` must be queued, or come earlier, because of a timer for `deadline`. */
static inline bool htw__delay_queue_wants(const struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline) {
    return HTW__UNLIKELY(deadline < queue->keys[id]);
}

/* Bucket `id` has a new timer for `deadline`. Rarely more than a load. */
static inline void htw__delay_queue_offer(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline) {
    if (htw__delay_queue_wants(queue, id, deadline))
        htw__delay_queue_lower(queue, id, deadline);
}

#endif /* HTW_SRC_WHEEL_DELAY_QUEUE_H */
