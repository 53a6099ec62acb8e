/* SPDX-License-Identifier: MIT */
/*
 * bucket.h - the timers of one range of ticks.
 *
 * Walking one long list of cold nodes is a chain of dependent cache misses. A bucket is
 * therefore made of several chains, which are walked side by side when it is emptied, so that
 * the misses of as many nodes overlap. It is nothing but their heads: the fewer stores an arm
 * and a cancel make, the more of their own cache misses overlap (docs/choices.md), so whose
 * turn it is comes from a counter of the caller's that is kept anyway.
 *
 * All buckets of a level lie in one table, chain by chain: first the first chain of every
 * bucket, then the second of every bucket. The turn changes once in as many arms as a level has
 * buckets. So, for a while, all arms go to heads that lie close together, and stay in the nearest
 * cache; and a bucket that never gets many timers has them in one chain or two.
 *
 * A bucket that must keep the order of arming (strict FIFO) is one ring instead; its
 * number of chains is 0.
 */
#ifndef HTW_SRC_WHEEL_BUCKET_H
#define HTW_SRC_WHEEL_BUCKET_H

#include "../base/list.h"

/* Chains of a bucket at the lowest level, where buckets are emptied soon after they were
   filled, and above, where timers have gone cold: powers of two, found by measurement. */
#define HTW__BUCKET_CHAINS_LEVEL_0 4u
#define HTW__BUCKET_CHAINS_ABOVE 16u
#define HTW__BUCKET_CHAINS_MAX HTW__BUCKET_CHAINS_ABOVE

/* The buckets of a level. */
struct htw__buckets {
    void *lists;        /* chains * count heads; or, with no chains, `count` rings */
    uint32_t count;     /* a power of two */
    uint32_t chains;    /* of each bucket; a power of two, or 0: one ring */
    uint32_t turn_mask; /* of a running count, the bits that choose the chain */
};

static inline struct htw__buckets htw__buckets_of(uint32_t count, uint32_t chains) {
    return (struct htw__buckets) { NULL, count, chains, chains == 0 ? 0 : (chains - 1) * count };
}

static inline size_t htw__buckets_bytes(const struct htw__buckets *buckets) {
    return buckets->count * (buckets->chains == 0 ? sizeof(struct htw__link)
                                                  : buckets->chains * sizeof(struct htw__link *));
}

/* The head of a chain of the bucket at `slot`. */
static inline struct htw__link **htw__bucket_chain(const struct htw__buckets *buckets,
                                                   uint32_t slot, uint32_t chain) {
    return (struct htw__link **)buckets->lists + (chain * buckets->count + slot);
}

/* The head of the one whose turn it is by `turn`, a running count: chain turn / count % chains. */
static inline struct htw__link **htw__bucket_chain_in_turn(const struct htw__buckets *buckets,
                                                           uint32_t slot, uint64_t turn) {
    return (struct htw__link **)buckets->lists + ((turn & buckets->turn_mask) | slot);
}

static inline struct htw__link *htw__bucket_ring(const struct htw__buckets *buckets,
                                                 uint32_t slot) {
    return (struct htw__link *)buckets->lists + slot;
}

/* `nil` is where chains end; see list.h. */
static inline void htw__buckets_init(const struct htw__buckets *buckets, struct htw__link *nil) {
    for (uint32_t slot = 0; slot < buckets->count; slot++) {
        if (buckets->chains == 0)
            htw__ring_init(htw__bucket_ring(buckets, slot));
        for (uint32_t chain = 0; chain < buckets->chains; chain++)
            *htw__bucket_chain(buckets, slot, chain) = nil;
    }
}

/* The chain whose turn it is by `turn`, a running count, is looked at first: of a bucket that
   holds few timers it is the likeliest to have them. */
static inline bool htw__bucket_is_empty(const struct htw__buckets *buckets, uint32_t slot,
                                        uint64_t turn, const struct htw__link *nil) {
    if (buckets->chains == 0)
        return htw__ring_is_empty(htw__bucket_ring(buckets, slot));
    if (*htw__bucket_chain_in_turn(buckets, slot, turn) != nil)
        return false;
    for (uint32_t chain = 0; chain < buckets->chains; chain++)
        if (*htw__bucket_chain(buckets, slot, chain) != nil)
            return false;
    return true;
}

/* Adds a timer: behind the last of a ring; otherwise to the chain whose turn it is by `turn`, a
   running count. */
static inline void htw__bucket_add(const struct htw__buckets *buckets, uint32_t slot, uint64_t turn,
                                   struct htw__link *link) {
    struct htw__link **place = buckets->chains == 0
                                   ? htw__bucket_ring(buckets, slot)->_back
                                   : htw__bucket_chain_in_turn(buckets, slot, turn);
    htw__link_insert(place, link);
}

/* Takes the first timer of a ring, or one from the chain after *turn; NULL when empty. */
static inline struct htw__link *htw__bucket_pop(const struct htw__buckets *buckets, uint32_t slot,
                                                uint32_t *turn, const struct htw__link *nil) {
    if (buckets->chains == 0)
        return htw__ring_pop_front(htw__bucket_ring(buckets, slot));
    for (uint32_t i = 0; i < buckets->chains; i++) {
        struct htw__link *link = *htw__bucket_chain(buckets, slot, ++*turn & (buckets->chains - 1));
        if (link != nil) {
            /* The successor is wanted when the other chains have had their turn. */
            __builtin_prefetch(link->_next, 1);
            htw__link_unlink(link);
            return link;
        }
    }
    return NULL;
}

/*
 * The chains of a bucket, walked side by side: while the next link of each is on its way
 * from memory, those of the others are worked on. What was walked over is left as it is: the
 * caller files it elsewhere. Nothing else may use the bucket until the walk is finished.
 */
struct htw__bucket_walk {
    struct htw__link *links[HTW__BUCKET_CHAINS_MAX]; /* the next link of each chain */
    struct htw__link **heads[HTW__BUCKET_CHAINS_MAX];
    uint32_t live; /* chains that are not at their end: the first in the arrays */
    uint32_t turn; /* the chain to go on with */
};

/* The bucket must be one of chains. */
static inline void htw__bucket_walk_start(struct htw__bucket_walk *walk,
                                          const struct htw__buckets *buckets, uint32_t slot,
                                          struct htw__link *nil) {
    walk->live = 0;
    walk->turn = 0;
    for (uint32_t chain = 0; chain < buckets->chains; chain++) {
        struct htw__link **head = htw__bucket_chain(buckets, slot, chain);
        struct htw__link *link = *head;
        if (link == nil)
            continue;
        __builtin_prefetch(link, 1);
        walk->links[walk->live] = link;
        walk->heads[walk->live++] = head;
        *head = nil;
    }
}

/* The next link; not when `live` is 0. */
static inline struct htw__link *htw__bucket_walk_step(struct htw__bucket_walk *walk,
                                                      const struct htw__link *nil) {
    uint32_t turn = walk->turn;
    struct htw__link *link = walk->links[turn];
    struct htw__link *next = link->_next;
    if (next != nil) {
        __builtin_prefetch(next, 1);
        walk->links[turn++] = next;
    } else { /* the last chain takes the place of this one */
        walk->live--;
        walk->links[turn] = walk->links[walk->live];
        walk->heads[turn] = walk->heads[walk->live];
    }
    walk->turn = turn < walk->live ? turn : 0;
    return link;
}

/* Puts what was not walked over back into the bucket. */
static inline void htw__bucket_walk_finish(const struct htw__bucket_walk *walk) {
    for (uint32_t i = 0; i < walk->live; i++) {
        *walk->heads[i] = walk->links[i];
        walk->links[i]->_back = walk->heads[i];
    }
}

#endif /* HTW_SRC_WHEEL_BUCKET_H */
