/* SPDX-License-Identifier: MIT */
/*
 * bucket.h - the timers of one range of ticks.
 *
 * Walking one long list of cold nodes is a chain of dependent cache misses. A bucket is
 * therefore made of several chains, filled in turn and emptied in turn, so that the
 * misses of as many nodes overlap. It is nothing but their heads: the fewer stores an arm
 * and a cancel make, the more of their cache misses overlap as well (measured at 1e6
 * timers: 4 ns for each store), so whose turn it is comes from a counter of the caller's
 * that is kept anyway.
 *
 * A bucket that must keep the order of arming (strict FIFO) is one ring instead; its
 * number of chains is 0.
 */
#ifndef HTW_SRC_BUCKET_H
#define HTW_SRC_BUCKET_H

#include "list.h"

/* Chains of a bucket at the lowest level, where buckets are emptied soon after they were
   filled, and above, where timers have gone cold: powers of two, found by measurement. */
#define HTW__BUCKET_CHAINS_NEAR 4u
#define HTW__BUCKET_CHAINS_FAR 16u

/* Memory of htw__bucket_bytes() bytes, seen as an array of heads or as a ring. */
struct htw__bucket;

/* A power of two. */
static inline uint32_t htw__bucket_bytes(uint32_t chains) {
    return (uint32_t)(chains == 0 ? sizeof(struct htw__link) : chains * sizeof(struct htw__link *));
}

static inline struct htw__link **htw__bucket_chains(const struct htw__bucket *bucket) {
    return (struct htw__link **)(uintptr_t)bucket;
}

static inline struct htw__link *htw__bucket_ring(const struct htw__bucket *bucket) {
    return (struct htw__link *)(uintptr_t)bucket;
}

/* `nil` is where chains end; see list.h. */
static inline void htw__bucket_init(struct htw__bucket *bucket, uint32_t chains,
                                    struct htw__link *nil) {
    if (chains == 0)
        htw__ring_init(htw__bucket_ring(bucket));
    for (uint32_t i = 0; i < chains; i++)
        htw__bucket_chains(bucket)[i] = nil;
}

static inline bool htw__bucket_is_empty(const struct htw__bucket *bucket, uint32_t chains,
                                        const struct htw__link *nil) {
    if (chains == 0)
        return htw__ring_is_empty(htw__bucket_ring(bucket));
    for (uint32_t i = 0; i < chains; i++)
        if (htw__bucket_chains(bucket)[i] != nil)
            return false;
    return true;
}

/* Adds a timer: behind the last of a ring; otherwise to the chain whose turn it is. */
static inline void htw__bucket_add(struct htw__bucket *bucket, uint32_t chains, uint64_t turn,
                                   struct htw__link *link) {
    struct htw__link **place = chains == 0 ? htw__bucket_ring(bucket)->_back
                                           : &htw__bucket_chains(bucket)[turn & (chains - 1)];
    htw__link_insert(place, link);
}

/* Takes the first timer of a ring, or one from the chain after *turn; NULL when empty. */
static inline struct htw__link *htw__bucket_take(struct htw__bucket *bucket, uint32_t chains,
                                                 uint32_t *turn, const struct htw__link *nil) {
    if (chains == 0)
        return htw__ring_take_first(htw__bucket_ring(bucket));
    for (uint32_t i = 0; i < chains; i++) {
        struct htw__link *link = htw__bucket_chains(bucket)[++*turn & (chains - 1)];
        if (link != nil) {
            /* The successor is wanted when the other chains have had their turn. */
            __builtin_prefetch(link->_next, 1);
            htw__link_unlink(link);
            return link;
        }
    }
    return NULL;
}

/* Asks for the first timer of every chain, so that their cache misses overlap. */
static inline void htw__bucket_prefetch(const struct htw__bucket *bucket, uint32_t chains) {
    for (uint32_t i = 0; i < chains; i++)
        __builtin_prefetch(htw__bucket_chains(bucket)[i], 1);
}

#endif /* HTW_SRC_BUCKET_H */
