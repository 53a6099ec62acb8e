/* SPDX-License-Identifier: MIT */
/* lists.h - reads the lists of a wheel, chains and rings, for what checks and draws it. */
#ifndef HTW_SRC_WHEEL_LISTS_H
#define HTW_SRC_WHEEL_LISTS_H

#include "state.h"

/* A list of timers: from *head to `end`. */
struct htw__list {
    struct htw__link **head;
    struct htw__link *end;
};

static inline struct htw__list htw__list_of_ring(const struct htw__link *ring) {
    struct htw__link *end = (struct htw__link *)(uintptr_t)ring;
    return (struct htw__list) { &end->_next, end };
}

/* How many lists make up a bucket of `level`. */
static inline uint32_t htw__wheel_list_count(const struct htw_wheel *wheel, unsigned level) {
    uint32_t chains = wheel->levels[level].buckets.chains;
    return chains == 0 ? 1 : chains;
}

static inline struct htw__list htw__wheel_list(const struct htw_wheel *wheel, unsigned level,
                                               uint32_t slot, uint32_t index) {
    const struct htw__buckets *buckets = &wheel->levels[level].buckets;
    if (buckets->chains == 0)
        return htw__list_of_ring(htw__bucket_ring(buckets, slot));
    /* The cast removes const: the end is only compared. */
    return (struct htw__list) { htw__bucket_chain(buckets, slot, index),
                                (struct htw__link *)(uintptr_t)&wheel->nil };
}

/* Counts at most `most`. */
static inline size_t htw__list_length(struct htw__list list, size_t most) {
    size_t length = 0;
    for (const struct htw__link *link = *list.head; link != list.end && length < most;
         link = link->_next)
        length++;
    return length;
}

/* The timers in a bucket; counts at most `most`. */
static inline size_t htw__wheel_timers_in(const struct htw_wheel *wheel, unsigned level,
                                          uint32_t slot, size_t most) {
    size_t count = 0;
    for (uint32_t i = 0; i < htw__wheel_list_count(wheel, level) && count < most; i++)
        count += htw__list_length(htw__wheel_list(wheel, level, slot, i), most - count);
    return count;
}

#ifndef HTW_FREESTANDING /* what draws a wheel */

/* Replaces *last by the bucket that comes up next after it; false if there is none. */
static inline bool htw__wheel_find_next_queued(const struct htw_wheel *wheel,
                                               struct htw__delay_queue_entry *last) {
    struct htw__delay_queue_entry next = { HTW__DELAY_QUEUE_ABSENT, 0 };
    for (uint32_t id = 0; id < wheel->queue.capacity; id++) {
        struct htw__delay_queue_entry bucket = { htw__delay_queue_key(&wheel->queue, id), id };
        if (bucket.key != HTW__DELAY_QUEUE_ABSENT && htw__delay_queue_precedes(*last, bucket) &&
            htw__delay_queue_precedes(bucket, next))
            next = bucket;
    }
    *last = next;
    return next.key != HTW__DELAY_QUEUE_ABSENT;
}

#endif /* HTW_FREESTANDING */

#endif /* HTW_SRC_WHEEL_LISTS_H */
