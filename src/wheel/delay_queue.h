/* SPDX-License-Identifier: MIT */
/*
 * delay_queue.h - the buckets that hold timers, by number, earliest first.
 *
 * The key of a bucket is the earliest deadline that it was offered since it was queued; so it is
 * not later than any deadline in the bucket. Cancels do not touch the queue: an emptied bucket
 * stays until it is found at the top. So a timer that is armed and cancelled again and again costs
 * nothing here. A key is never raised: a bucket could then hold two ranges of its level at once.
 *
 * Nothing is sorted. The first bucket of all is the least of the first buckets of the levels, of which few
 * have any. Within a level the ranges of the buckets are in the cyclic order of their slots, within the
 * window, so a bitmap of those behind the first finds the next one in a few instructions.
 */
#ifndef HTW_SRC_WHEEL_DELAY_QUEUE_H
#define HTW_SRC_WHEEL_DELAY_QUEUE_H

#include "../base/alloc.h"
#include "../base/bitmap.h"
#include "../base/compiler.h"

/* The key of a bucket that is not queued. */
#define HTW__DELAY_QUEUE_ABSENT UINT64_MAX

/* A bucket with its key. */
struct htw__delay_queue_entry {
    uint64_t key; /* HTW__DELAY_QUEUE_ABSENT: there is none */
    uint32_t id;
};

/*@ predicate precedes(struct htw__delay_queue_entry a, struct htw__delay_queue_entry b) =
        a.key < b.key || (a.key == b.key && a.id > b.id); */

/* Of equal keys the highest level comes first: its timers were armed earliest. */
/*@ assigns \nothing;
    ensures \result <==> precedes(a, b); */
static inline bool htw__delay_queue_precedes(struct htw__delay_queue_entry a,
                                             struct htw__delay_queue_entry b) {
    return a.key < b.key || (a.key == b.key && a.id > b.id);
}

/* The buckets of a level. */
struct htw__delay_queue_level {
    uint64_t key;             /* of the first one; HTW__DELAY_QUEUE_ABSENT: there is none */
    uint32_t slot;            /* of the first one */
    struct htw__bitmap later; /* the slots of the others */
};

struct htw__delay_queue {
    struct htw__delay_queue_entry top; /* the first bucket of all */
    uint64_t levels;                   /* bit i: level i has a bucket */
    /* One block, which begins with the keys. */
    uint64_t *keys;  /* by id */
    uint64_t *since; /* by id, of a queued bucket: when it was queued, as the caller counts */
    struct htw__delay_queue_level *level; /* by number */
    uint32_t capacity;                    /* ids are less than this */
    uint32_t bits; /* id = level << bits | slot; a bucket is 2^(bits * level) ticks wide */
};

void htw__delay_queue_init(struct htw__delay_queue *queue, uint32_t bits);
void htw__delay_queue_fini(struct htw__delay_queue *queue, const struct htw_allocator *allocator);

/* Makes room for ids 0 .. capacity - 1, more than there is room for. 0, or -ENOMEM: nothing has changed. */
int htw__delay_queue_reserve(struct htw__delay_queue *queue, const struct htw_allocator *allocator,
                             uint32_t capacity);

/* How many buckets are queued, and the bytes that the queue holds. */
uint32_t htw__delay_queue_count(const struct htw__delay_queue *queue);
size_t htw__delay_queue_memory(const struct htw__delay_queue *queue);

/* Queues bucket `id` under `deadline` at `moment`, or lowers its key to that. The deadline is in the
   range of the bucket. O(1). */
void htw__delay_queue_lower(struct htw__delay_queue *queue, uint32_t id, uint64_t deadline,
                            uint64_t moment);

/* Removes the top, which must be there. O(levels). */
void htw__delay_queue_pop(struct htw__delay_queue *queue);

/* Whether bitmaps, keys and first buckets agree. O(capacity). */
bool htw__delay_queue_is_valid(const struct htw__delay_queue *queue);

static inline bool htw__delay_queue_is_empty(const struct htw__delay_queue *queue) {
    return queue->levels == 0;
}

/* The first bucket of all; its key is HTW__DELAY_QUEUE_ABSENT if the queue is empty. */
static inline struct htw__delay_queue_entry
htw__delay_queue_top(const struct htw__delay_queue *queue) {
    return queue->top;
}

/* The key of a bucket; HTW__DELAY_QUEUE_ABSENT: it is not queued. */
static inline uint64_t htw__delay_queue_key(const struct htw__delay_queue *queue, uint32_t id) {
    return queue->keys[id];
}

/* The moment at which bucket `id`, which is queued, was queued. */
static inline uint64_t htw__delay_queue_since(const struct htw__delay_queue *queue, uint32_t id) {
    return queue->since[id];
}

/* Whether bucket `id` must be queued, or come earlier, because of a timer for `deadline`. */
/*@ requires \valid_read(queue) && \valid_read(queue->keys + id);
    assigns \nothing;
    ensures \result <==> deadline < queue->keys[id]; */
static inline bool htw__delay_queue_wants(const struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline) {
    return HTW__UNLIKELY(deadline < queue->keys[id]);
}

/* Bucket `id` has a new timer for `deadline`. Rarely more than a load. */
static inline void htw__delay_queue_offer(struct htw__delay_queue *queue, uint32_t id,
                                          uint64_t deadline, uint64_t moment) {
    if (htw__delay_queue_wants(queue, id, deadline))
        htw__delay_queue_lower(queue, id, deadline, moment);
}

#endif /* HTW_SRC_WHEEL_DELAY_QUEUE_H */
