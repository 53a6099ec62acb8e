/* SPDX-License-Identifier: MIT */
/* lists.h - reads the lists of a wheel, chains and rings, for what checks and draws it. */
#ifndef HTW_SRC_WHEEL_LISTS_H
#define HTW_SRC_WHEEL_LISTS_H

#include "state.h"

/* A list of timers: from *head to `end`. */
struct htw__timer_list {
    struct htw__link **head;
    struct htw__link *end;
};

static inline struct htw__timer_list htw__list_of_ring(const struct htw__link *ring) {
    struct htw__link *end = (struct htw__link *)(uintptr_t)ring;
    return (struct htw__timer_list) { &end->_next, end };
}

/* How many lists make up a bucket of `level`. */
static inline uint32_t htw__wheel_list_count(const struct htw_wheel *wheel, unsigned level) {
    return wheel->levels[level].buckets.chains + wheel->levels[level].buckets.rings;
}

static inline struct htw__timer_list htw__wheel_list(const struct htw_wheel *wheel, unsigned level,
                                                     uint32_t slot, uint32_t index) {
    const struct htw__buckets *buckets = &wheel->levels[level].buckets;
    if (buckets->chains == 0)
        return htw__list_of_ring(htw__bucket_ring(buckets, slot, index));
    /* The cast removes const: the end is only compared. */
    return (struct htw__timer_list) { htw__bucket_chain(buckets, slot, index),
                                      (struct htw__link *)(uintptr_t)&wheel->nil };
}

/* Counts at most `most`. */
static inline size_t htw__list_length(struct htw__timer_list list, size_t most) {
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

#endif /* HTW_SRC_WHEEL_LISTS_H */
