/* SPDX-License-Identifier: MIT */
/*
 * bucket.h - the timers of one range of ticks.
 *
 * Walking one long list of nodes that are not in the cache is a chain of cache misses, each waiting
 * for the one before. So a bucket consists of several lists, its chains, which are walked side by
 * side when it is emptied: the misses of as many nodes overlap.
 *
 * A bucket stores nothing but the heads of its chains, to keep arms and cancels short. A running
 * count of insertions, which the caller keeps anyway, chooses the chain of a new timer.
 *
 * All buckets of a level are one table: first the first chain of every bucket, then the second of
 * every bucket, and so on. The choice changes once in as many insertions as the level has buckets.
 * So for a while all use heads that are close together and stay in the cache, and a bucket with few
 * timers has them in one or two chains. Which these are follows from the count at which the bucket
 * got its first timer.
 *
 * With strict FIFO the timers of a tick must keep the order of arming. A bucket has rings then, which
 * can be walked from both ends, and no chains. The deadline chooses the ring, so that all timers of a
 * tick are in one.
 */
#ifndef HTW_SRC_WHEEL_BUCKET_H
#define HTW_SRC_WHEEL_BUCKET_H

#include "../base/assert.h"
#include "../base/compiler.h"
#include "../base/list.h"

/* A list leads to a timer from `back`. */
#define HTW_ASSERT_LISTED(link, back) \
    HTW_ASSERT_USE((link)->_back == (back), "timer", link, HTW__NOT_LEFT_ALONE)

/* Chains of a bucket: at level 0, where it is emptied soon after it was filled, and above, where
   its timers are no longer in the cache. Powers of two, found by measurement. */
#define HTW__BUCKET_CHAINS_LEVEL_0 8u
#define HTW__BUCKET_CHAINS_ABOVE 16u
#define HTW__BUCKET_CHAINS_MAX HTW__BUCKET_CHAINS_ABOVE

/* Rings of a bucket above level 0 with strict FIFO; at level 0 all timers are of one tick. */
#define HTW__BUCKET_RINGS_ABOVE 8u

/* The buckets of a level. */
struct htw__buckets {
    void *lists;         /* chains * count heads; or count * rings rings */
    uint32_t count;      /* a power of two */
    uint32_t chains;     /* of each bucket; a power of two, or 0: it has rings */
    uint32_t rings;      /* of each bucket; a power of two, or 0 */
    uint32_t chain_mask; /* the bits of a running count that choose the chain */
};

static inline struct htw__buckets htw__buckets_of(uint32_t count, uint32_t chains, uint32_t rings) {
    return (struct htw__buckets) { NULL, count, chains, rings, (chains - 1) * count };
}

/* Behind the last head is one more pointer, because a cancel reads it: fetch_next_cancelled(). */
static inline size_t htw__buckets_bytes(const struct htw__buckets *buckets) {
    if (buckets->chains == 0)
        return (size_t)buckets->count * buckets->rings * sizeof(struct htw__link);
    return (buckets->count * buckets->chains + 1) * sizeof(struct htw__link *);
}

/* The head of a chain of the bucket at `slot`. */
static inline struct htw__link **htw__bucket_chain(const struct htw__buckets *buckets,
                                                   uint32_t slot, uint32_t chain) {
    return (struct htw__link **)buckets->lists + (chain * buckets->count + slot);
}

/* The head of the chain that `running_count` chooses: running_count / count % chains. */
static inline struct htw__link **htw__bucket_chain_for(const struct htw__buckets *buckets,
                                                       uint32_t slot, uint64_t running_count) {
    return (struct htw__link **)buckets->lists + ((running_count & buckets->chain_mask) | slot);
}

static inline struct htw__link *htw__bucket_ring(const struct htw__buckets *buckets, uint32_t slot,
                                                 uint32_t ring) {
    return (struct htw__link *)buckets->lists + (slot * buckets->rings + ring);
}

/* The ring of a tick. */
static inline struct htw__link *htw__bucket_ring_for(const struct htw__buckets *buckets,
                                                     uint32_t slot, uint64_t deadline) {
    uint32_t hash = (uint32_t)(deadline * 0x9e3779b97f4a7c15u >> 32);
    return htw__bucket_ring(buckets, slot, hash & (buckets->rings - 1));
}

/* `nil` is the end of all chains: see list.h. */
static inline void htw__buckets_init(const struct htw__buckets *buckets, struct htw__link *nil) {
    for (uint32_t slot = 0; slot < buckets->count; slot++) {
        for (uint32_t ring = 0; ring < buckets->rings; ring++)
            htw__ring_init(htw__bucket_ring(buckets, slot, ring));
        for (uint32_t chain = 0; chain < buckets->chains; chain++)
            *htw__bucket_chain(buckets, slot, chain) = nil;
    }
    if (buckets->chains != 0)
        *htw__bucket_chain(buckets, 0, buckets->chains) = nil; /* behind the last */
}

/* A bucket. The running counts from `since` to `now` - 1 have chosen the chains of its timers. */
struct htw__bucket {
    const struct htw__buckets *buckets;
    uint32_t slot;
    uint64_t since; /* when it got its first timer */
    uint64_t now;
};

/* The end of the running counts that choose a chain which may have timers, from `since` on in steps of
   `count`. */
static inline uint64_t htw__bucket_chains_end(const struct htw__bucket *bucket) {
    const struct htw__buckets *buckets = bucket->buckets;
    uint64_t all = bucket->since + buckets->chain_mask + buckets->count;
    uint64_t used = (bucket->now - 1) | (buckets->count - 1); /* with all of the present chain */
    return used < all ? used + 1 : all;
}

static inline bool htw__bucket_is_empty(const struct htw__bucket *bucket,
                                        const struct htw__link *nil) {
    const struct htw__buckets *buckets = bucket->buckets;
    for (uint32_t i = 0; i < buckets->rings; i++)
        if (!htw__ring_is_empty(htw__bucket_ring(buckets, bucket->slot, i)))
            return false;
    if (buckets->chains == 0)
        return true;
    if (*htw__bucket_chain_for(buckets, bucket->slot, bucket->since) != nil)
        return false;
    uint64_t end = htw__bucket_chains_end(bucket);
    for (uint64_t i = bucket->since + buckets->count; i < end; i += buckets->count)
        if (*htw__bucket_chain_for(buckets, bucket->slot, i) != nil)
            return false;
    return true;
}

/* ---- rings of timers */

static inline void htw__timers_check_last(const struct htw__link *ring) {
    HTW_ASSERT_USE(*ring->_back == ring, "timer", htw__ring_last(ring), HTW__NOT_LEFT_ALONE);
}

/* The same as of any ring. What they write to the neighbours would hide that one was overwritten, so they are
   compared before. */
static inline struct htw__link *htw__timers_pop_front(struct htw__link *ring) {
    HTW_ASSERT_LISTED(ring->_next, &ring->_next);
    HTW_ASSERT_LISTED(ring->_next->_next, &ring->_next->_next);
    return htw__ring_pop_front(ring);
}

static inline struct htw__link *htw__timers_pop_back(struct htw__link *ring) {
    htw__timers_check_last(ring);
    HTW_ASSERT_USE(*htw__ring_last(ring)->_back == htw__ring_last(ring), "timer",
                   htw__ring_last(htw__ring_last(ring)), HTW__NOT_LEFT_ALONE);
    return htw__ring_pop_back(ring);
}

static inline void htw__timers_push_front(struct htw__link *ring, struct htw__link *link) {
    HTW_ASSERT_LISTED(ring->_next, &ring->_next);
    htw__ring_push_front(ring, link);
}

static inline void htw__timers_push_back(struct htw__link *ring, struct htw__link *link) {
    htw__timers_check_last(ring);
    htw__ring_push_back(ring, link);
}

/* ---- buckets */

/* Adds a timer: at the end of the ring that its deadline chooses, or to the chain that `running_count`
   chooses. `nil`: see list.h. */
static inline void htw__bucket_add(const struct htw__buckets *buckets, uint32_t slot,
                                   uint64_t deadline, uint64_t running_count,
                                   struct htw__link *link, const struct htw__link *nil) {
    if (buckets->chains == 0) {
        htw__timers_push_back(htw__bucket_ring_for(buckets, slot, deadline), link);
        return;
    }
    struct htw__link **place = htw__bucket_chain_for(buckets, slot, running_count);
    if (*place != nil)
        HTW_ASSERT_LISTED(*place, place);
    htw__link_insert(place, link);
}

/* Removes the first timer of a ring, or one of the first chain that has one, from the `turn`-th chain on.
   NULL: the bucket is empty. */
static inline struct htw__link *htw__bucket_pop(const struct htw__bucket *bucket, uint64_t turn,
                                                const struct htw__link *nil) {
    const struct htw__buckets *buckets = bucket->buckets;
    for (uint32_t i = 0; i < buckets->rings; i++) {
        struct htw__link *link = htw__timers_pop_front(htw__bucket_ring(buckets, bucket->slot, i));
        if (link != NULL)
            return link;
    }
    for (uint32_t i = 0; i < buckets->chains; i++) {
        struct htw__link **head =
            htw__bucket_chain(buckets, bucket->slot, (uint32_t)(turn + i) & (buckets->chains - 1));
        struct htw__link *link = *head;
        if (link != nil) {
            HTW_ASSERT_LISTED(link, head);
            if (link->_next != nil)
                HTW_ASSERT_LISTED(link->_next, &link->_next);
            /* It is needed after the other chains had their turn. */
            HTW__PREFETCH(link->_next);
            htw__link_unlink(link);
            return link;
        }
    }
    return NULL;
}

/*
 * The chains of a bucket, walked side by side: while the next link of one chain comes from memory,
 * those of the others are used. The links that were walked over keep their pointers: the caller
 * inserts them elsewhere. Until the walk is finished, nothing else may use the bucket.
 */
struct htw__bucket_walk {
    struct htw__link *links[HTW__BUCKET_CHAINS_MAX]; /* the next link of each chain */
    struct htw__link **heads[HTW__BUCKET_CHAINS_MAX];
    uint32_t live;        /* chains that are not at their end; they are first in the arrays */
    uint32_t chain_index; /* the next chain */
};

/* Not for a bucket that has rings. */
static inline void htw__bucket_walk_start(struct htw__bucket_walk *walk,
                                          const struct htw__bucket *bucket, struct htw__link *nil) {
    const struct htw__buckets *buckets = bucket->buckets;
    walk->live = 0;
    walk->chain_index = 0;
    uint64_t end = htw__bucket_chains_end(bucket);
    for (uint64_t i = bucket->since; i < end; i += buckets->count) {
        struct htw__link **head = htw__bucket_chain_for(buckets, bucket->slot, i);
        struct htw__link *link = *head;
        if (link == nil)
            continue;
        HTW_ASSERT_LISTED(link, head);
        HTW__PREFETCH(link);
        walk->links[walk->live] = link;
        walk->heads[walk->live++] = head;
        *head = nil;
    }
}

/* The next link. `live` must not be 0. */
static inline struct htw__link *htw__bucket_walk_step(struct htw__bucket_walk *walk,
                                                      const struct htw__link *nil) {
    uint32_t chain_index = walk->chain_index;
    struct htw__link *link = walk->links[chain_index];
    struct htw__link *next = link->_next;
    if (next != nil) {
        HTW_ASSERT_LISTED(next, &link->_next);
        HTW__PREFETCH(next);
        walk->links[chain_index++] = next;
    } else { /* the last chain takes the place of this one */
        walk->live--;
        walk->links[chain_index] = walk->links[walk->live];
        walk->heads[chain_index] = walk->heads[walk->live];
    }
    walk->chain_index = chain_index < walk->live ? chain_index : 0;
    return link;
}

/* Puts the links that were not walked over back into the bucket. */
static inline void htw__bucket_walk_finish(const struct htw__bucket_walk *walk) {
    for (uint32_t i = 0; i < walk->live; i++) {
        *walk->heads[i] = walk->links[i];
        walk->links[i]->_back = walk->heads[i];
    }
}

#endif /* HTW_SRC_WHEEL_BUCKET_H */
