/* SPDX-License-Identifier: MIT */
/*
 * wheel_state.h - what a wheel is made of, and where in it a deadline belongs.
 * For the files wheel*.c only; wheel.c explains the algorithm and numbers the invariants.
 */
#ifndef HTW_SRC_WHEEL_STATE_H
#define HTW_SRC_WHEEL_STATE_H

#include "bucket.h"
#include "check.h"
#include "delay_queue.h"

#include <htw/wheel.h>

/* Where a deadline belongs: a level, or one of these. */
#define HTW__PLACE_DUE HTW_WHEEL_LEVELS_MAX          /* in `due` or `late` */
#define HTW__PLACE_NEVER (HTW_WHEEL_LEVELS_MAX + 1u) /* in `never` */

/*
 * Where a timer is: the number of its bucket, or one of these. htw_timer._where holds the
 * mark of the wheel (bits 32 to 63) and this number in one word: it is written by one store,
 * and 0 means not pending.
 */
#define HTW__ID_DUE (UINT32_MAX - 1)
#define HTW__ID_NEVER UINT32_MAX

struct htw__level {
    unsigned char *buckets; /* bucket_count of them, 2^bucket_shift bytes each */
    uint32_t bucket_count;  /* the wheel's size; less where the 64-bit range ends */
    uint16_t chains;        /* of each bucket; 0: one ring */
    uint16_t bucket_shift;
};

struct htw_wheel {
    uint64_t clock;   /* less than HTW_NEVER */
    uint64_t covered; /* a deadline at most so far from any clock finds its level created */
    uint64_t mark;    /* what `_where` of pending timers holds above bit 31; not 0 */
    uint32_t mask;    /* size - 1 */
    uint8_t bits;     /* log2(size): level i has buckets of 2^(bits * i) ticks */
    uint8_t level_count;
    uint8_t level_max;
    bool strict_fifo;
    bool in_round;
    bool opening;  /* strict FIFO: the bucket at the top was found due, and is being emptied */
    uint32_t turn; /* the chain that a timer was last taken from */

    struct htw__link nil; /* where the chains of all buckets end */
    struct htw__delay_queue queue;

    struct htw__link due;   /* timers armed for the clock's tick or earlier, in that order */
    struct htw__link late;  /* the same, but armed inside the round: due in the next one */
    struct htw__link never; /* timers that have HTW_NEVER for a deadline */

    uint64_t scheduled, moved, cancelled, expired, drained, demoted, advances;

    uint8_t level_of[64]; /* by the highest set bit of the distance to the deadline */
    struct htw__level levels[HTW_WHEEL_LEVELS_MAX];
    struct htw_allocator allocator;
};

static inline size_t htw__level_bytes(const struct htw__level *level) {
    return (size_t)level->bucket_count << level->bucket_shift;
}

static inline struct htw_timer *htw__timer_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw_timer, _link);
}

static inline unsigned htw__wheel_shift(const struct htw_wheel *wheel, unsigned level) {
    return level * wheel->bits;
}

static inline uint32_t htw__wheel_slot(const struct htw_wheel *wheel, unsigned level,
                                       uint64_t deadline) {
    return (uint32_t)(deadline >> htw__wheel_shift(wheel, level)) & wheel->mask;
}

/* The number of a bucket in the delay queue: the higher the level, the higher. */
static inline uint32_t htw__wheel_bucket_id(const struct htw_wheel *wheel, unsigned level,
                                            uint32_t slot) {
    return (uint32_t)(level << wheel->bits) | slot;
}

static inline unsigned htw__wheel_id_level(const struct htw_wheel *wheel, uint32_t id) {
    return id >> wheel->bits;
}

static inline struct htw__bucket *htw__wheel_bucket(const struct htw_wheel *wheel, unsigned level,
                                                    uint32_t slot) {
    const struct htw__level *at = &wheel->levels[level];
    return (struct htw__bucket *)(void *)(at->buckets + ((size_t)slot << at->bucket_shift));
}

static inline bool htw__wheel_is_empty_at(const struct htw_wheel *wheel, unsigned level,
                                          uint32_t slot) {
    return htw__bucket_is_empty(htw__wheel_bucket(wheel, level, slot), wheel->levels[level].chains,
                                &wheel->nil);
}

/*
 * The lowest level whose window holds the deadline, which may not exist yet, or
 * HTW__PLACE_DUE or HTW__PLACE_NEVER.
 *
 * The window of level i reaches `size` buckets far, counted from the one in which the
 * clock is. The highest bit of the distance gives the level at which the distance spans
 * fewer than `size` widths; since the clock is somewhere inside its bucket, the deadline
 * may still be `size` buckets on, which is one level more, never two. Differences are
 * taken after shifting: nothing overflows, wherever in the 64-bit range the clock is.
 */
static inline unsigned htw__wheel_place(const struct htw_wheel *wheel, uint64_t deadline) {
    uint64_t clock = wheel->clock;
    if (deadline <= clock)
        return HTW__PLACE_DUE;
    if (deadline == HTW_NEVER)
        return HTW__PLACE_NEVER;
    unsigned level = wheel->level_of[63 - __builtin_clzll(deadline - clock)];
    unsigned shift = htw__wheel_shift(wheel, level);
    /* A branch that is rarely taken, not an addition: what follows need not wait for it. */
    if (__builtin_expect((deadline >> shift) - (clock >> shift) > wheel->mask, 0))
        level++;
    return level;
}

/* Whether `place` is a level, created or not. */
static inline bool htw__place_is_level(unsigned place) {
    return place < HTW_WHEEL_LEVELS_MAX;
}

static inline void htw__wheel_settle(const struct htw_wheel *wheel, struct htw_timer *timer,
                                     uint32_t id) {
    timer->_where = wheel->mark | id;
}

static inline bool htw__wheel_owns(const struct htw_wheel *wheel, const struct htw_timer *timer) {
    return (timer->_where ^ wheel->mark) >> 32 == 0;
}

static inline uint32_t htw__timer_id(const struct htw_timer *timer) {
    return (uint32_t)timer->_where;
}

static inline bool htw__id_is_bucket(uint32_t id) {
    return id < HTW__ID_DUE;
}

/* Puts a timer, which is in no list, into a bucket of `level`, which exists. Of the
   bucket's chains it gets the one whose turn it is by `turn`, a running count. Returns the
   number of the bucket: the delay queue has yet to be told. */
static inline uint32_t htw__wheel_link(struct htw_wheel *wheel, struct htw_timer *timer,
                                       uint64_t deadline, unsigned level, uint64_t turn) {
    uint32_t slot = htw__wheel_slot(wheel, level, deadline);
    uint32_t id = htw__wheel_bucket_id(wheel, level, slot);
    timer->_deadline = deadline;
    htw__wheel_settle(wheel, timer, id);
    htw__bucket_add(htw__wheel_bucket(wheel, level, slot), wheel->levels[level].chains, turn,
                    &timer->_link);
    return id;
}

/* Puts a timer, which is in no list, into `place`, which exists. */
static inline void htw__wheel_file(struct htw_wheel *wheel, struct htw_timer *timer,
                                   uint64_t deadline, unsigned place, uint64_t turn) {
    if (htw__place_is_level(place)) {
        uint32_t id = htw__wheel_link(wheel, timer, deadline, place, turn);
        htw__delay_queue_offer(&wheel->queue, id, deadline);
        return;
    }
    timer->_deadline = deadline;
    htw__wheel_settle(wheel, timer, place == HTW__PLACE_NEVER ? HTW__ID_NEVER : HTW__ID_DUE);
    struct htw__link *ring = place == HTW__PLACE_NEVER ? &wheel->never
                             : wheel->in_round         ? &wheel->late
                                                       : &wheel->due;
    htw__ring_push_back(ring, &timer->_link);
}

/* Discards the bucket at the top of the delay queue, which is empty. */
static inline void htw__wheel_discard_top(struct htw_wheel *wheel) {
    wheel->opening = false;
    htw__delay_queue_pop(&wheel->queue);
}

#define HTW__WHEEL_CHECK(wheel) HTW__CHECK_SLOW(htw_wheel_check(wheel) == 0)

#endif /* HTW_SRC_WHEEL_STATE_H */
