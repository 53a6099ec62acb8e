/* SPDX-License-Identifier: MIT */
/*
 * state.h - what a wheel is made of, and where in it a deadline belongs.
 * For the files of src/wheel/ only. wheel.c explains the algorithm and numbers the invariants.
 */
#ifndef HTW_SRC_WHEEL_STATE_H
#define HTW_SRC_WHEEL_STATE_H

#include "bucket.h"
#include "../base/assert.h"
#include "../base/compiler.h"
#include "delay_queue.h"

#include <htw/wheel.h>
#include <htw/wheel_inspect.h>

/*
 * Where a timer is: the number of its bucket, or one of these. htw_timer._location holds the mark
 * of the wheel (bits 32 to 63) and this number, so that one store writes both. 0: not pending.
 */
#define HTW__ID_DUE (UINT32_MAX - 1)
#define HTW__ID_NEVER UINT32_MAX

struct htw__level {
    struct htw__buckets buckets; /* their lists are NULL if the level does not exist */
    uint64_t first_location;     /* `_location` of timers in its first bucket */
    uint64_t width;              /* of a bucket, in ticks: 2^shift */
    uint64_t reach;              /* the longest delay that is in the window wherever the clock is */
    uint32_t shift;
};

struct htw_wheel {
    uint64_t clock; /* less than HTW_NEVER_TICK */
    uint64_t reach; /* of the highest level that exists */
    uint64_t mark;  /* what `_location` of pending timers holds above bit 31; not 0 */
    uint32_t mask;  /* size - 1 */
    uint8_t bits;   /* log2(size): level i has buckets of 2^(bits * i) ticks */
    uint8_t level_count;
    uint8_t level_max;
    bool strict_fifo;
    bool in_round;
    bool emptying;    /* strict FIFO: the bucket at the top is due and is being emptied */
    uint64_t fetched; /* strict FIFO: up to this tick, timers at level 0 were fetched */

    struct htw__link nil; /* where the chains of all buckets end */
    struct htw__delay_queue queue;

    struct htw__link due; /* timers armed for the tick of the clock or earlier, in that order */
    struct htw__link next_round; /* the same, but armed inside the round: due in the next one */
    struct htw__link never;      /* timers whose deadline is HTW_NEVER_TICK */

    /* Timers put into a list, by whatever call: those scheduled, those demoted, and those moved other
       than in place. It chooses the chains of buckets. */
    uint64_t inserted;
    uint64_t moved_by_insertion, moved_in_place, cancelled, expired, drained, demoted, advances;

    struct htw__level levels[HTW_WHEEL_LEVELS_MAX];
    struct htw_allocator allocator;
};

/*@ predicate has_shape(struct htw_wheel *wheel) =
        \valid_read(wheel) && 1 <= wheel->mask < HTW_WHEEL_SIZE_MAX && 1 <= wheel->level_max <= HTW_WHEEL_LEVELS_MAX &&
        wheel->levels[0].shift == 0 && wheel->levels[wheel->level_max - 1].reach == UINT64_MAX &&
        (UINT64_MAX >> wheel->levels[wheel->level_max - 1].shift) <= wheel->mask &&
        (\forall integer i; 0 <= i < wheel->level_max ==>
            0 <= wheel->levels[i].shift < 64 && wheel->levels[i].width == 1 << wheel->levels[i].shift) &&
        (\forall integer i; 0 < i < wheel->level_max ==>
            wheel->levels[i - 1].reach == wheel->mask << wheel->levels[i - 1].shift &&
            wheel->levels[i].width == (wheel->mask + 1) << wheel->levels[i - 1].shift) &&
        (\forall integer i; 0 <= i < wheel->level_max - 1 ==>
            wheel->levels[i].reach == wheel->mask << wheel->levels[i].shift);
    predicate in_window(integer clock, integer deadline, integer shift, integer mask) =
        (deadline >> shift) - (clock >> shift) <= mask; */

/* Public calls answer NULL. With check_level 1 they end the process for a wheel that was destroyed. A macro, so that
   without that the code is that of the comparison. */
#if HTW_CHECK_LEVEL >= 1
static inline bool htw__wheel_is_null(const struct htw_wheel *wheel) {
    if (wheel != NULL)
        HTW_ASSERT_EXISTS(wheel, "wheel");
    return wheel == NULL;
}
#else
#define htw__wheel_is_null(wheel) ((wheel) == NULL)
#endif

static inline struct htw_timer *htw__timer_of(struct htw__link *link) {
    return HTW_CONTAINER_OF(link, struct htw_timer, _link);
}

/*@ requires has_shape(wheel) && level < wheel->level_max;
    assigns \nothing;
    ensures \result <= wheel->mask; */
static inline uint32_t htw__wheel_slot(const struct htw_wheel *wheel, unsigned level,
                                       uint64_t deadline) {
    return (uint32_t)(deadline >> wheel->levels[level].shift) & wheel->mask;
}

/* The number of a bucket in the delay queue. Buckets of higher levels have higher numbers. */
static inline uint32_t htw__wheel_bucket_id(const struct htw_wheel *wheel, unsigned level,
                                            uint32_t slot) {
    return (uint32_t)wheel->levels[level].first_location + slot;
}

static inline unsigned htw__wheel_id_level(const struct htw_wheel *wheel, uint32_t id) {
    return id >> wheel->bits;
}

/* The bucket with a number; it is queued. */
static inline struct htw__bucket htw__wheel_bucket(const struct htw_wheel *wheel, uint32_t id) {
    return (struct htw__bucket) { &wheel->levels[htw__wheel_id_level(wheel, id)].buckets,
                                  id & wheel->mask, htw__delay_queue_since(&wheel->queue, id),
                                  wheel->inserted };
}

static inline uint64_t htw__wheel_scheduled(const struct htw_wheel *wheel) {
    return wheel->inserted - wheel->moved_by_insertion - wheel->demoted;
}

/* Whether a deadline is in the window of a level: `size` buckets, from the one in which the clock is.
   The deadline is not before the clock. */
/*@ requires has_shape(wheel) && shift < 64 && deadline >= wheel->clock;
    assigns \nothing;
    ensures \result <==> in_window(wheel->clock, deadline, shift, wheel->mask); */
static inline bool htw__wheel_window_holds(const struct htw_wheel *wheel, unsigned shift,
                                           uint64_t deadline) {
    return (deadline >> shift) - (wheel->clock >> shift) <= wheel->mask;
}

/* The lowest level whose window holds a deadline; it may not exist. The deadline is after the clock and is
   not HTW_NEVER_TICK. A delay of less than a bucket may still be in the window of the level below. */
/*@ requires has_shape(wheel) && deadline > wheel->clock;
    assigns \nothing;
    ensures level: \exists integer i; 0 <= i < wheel->level_max && \result == &wheel->levels[i];
    ensures holds: in_window(wheel->clock, deadline, \result->shift, wheel->mask);
    ensures lowest: \result != &wheel->levels[0] ==> !in_window(wheel->clock, deadline, (\result - 1)->shift, wheel->mask); */
static inline const struct htw__level *htw__wheel_level_for(const struct htw_wheel *wheel,
                                                            uint64_t deadline) {
    uint64_t delay = deadline - wheel->clock;
    const struct htw__level *level = wheel->levels;
    /*@ loop invariant \exists integer i; 0 <= i < wheel->level_max && level == &wheel->levels[i] &&
            (i > 0 ==> delay > wheel->levels[i - 1].reach);
        loop assigns level;
        loop variant &wheel->levels[wheel->level_max] - level; */
    while (delay > level->reach)
        level++;
    return HTW__UNLIKELY(delay < level->width) &&
                   htw__wheel_window_holds(wheel, level[-1].shift, deadline)
               ? level - 1
               : level;
}

/* Whether a timer for a deadline needs a level that does not exist yet. */
static inline bool htw__wheel_lacks_level(const struct htw_wheel *wheel, uint64_t deadline) {
    return deadline > wheel->clock && deadline != HTW_NEVER_TICK &&
           htw__wheel_level_for(wheel, deadline)->buckets.lists == NULL;
}

static inline void htw__wheel_set_location(const struct htw_wheel *wheel, struct htw_timer *timer,
                                           uint32_t id) {
    timer->_location = wheel->mark | id;
}

/*@ requires \valid_read(wheel) && \valid_read(timer);
    assigns \nothing;
    ensures \result <==> (uint64_t)(timer->_location ^ wheel->mark) >> 32 == 0; */
static inline bool htw__wheel_owns(const struct htw_wheel *wheel, const struct htw_timer *timer) {
    return (timer->_location ^ wheel->mark) >> 32 == 0;
}

/* For a timer to which a list of the wheel leads. */
#define HTW_ASSERT_OWNED(wheel, timer) \
    HTW_ASSERT_USE(htw__wheel_owns(wheel, timer), "timer", timer, HTW__NOT_LEFT_ALONE)

/*@ requires \valid_read(timer); assigns \nothing; ensures \result == (uint32_t)timer->_location; */
static inline uint32_t htw__timer_id(const struct htw_timer *timer) {
    return (uint32_t)timer->_location;
}

/*@ assigns \nothing; ensures \result <==> id < HTW__ID_DUE; */
static inline bool htw__id_is_bucket(uint32_t id) {
    return id < HTW__ID_DUE;
}

/* Puts a timer that is in no list into its bucket at a level that exists. Returns the number of the
   bucket: the caller offers it to the delay queue, with the `inserted` of before. */
static inline uint32_t htw__wheel_link(struct htw_wheel *wheel, struct htw_timer *timer,
                                       uint64_t deadline, const struct htw__level *level) {
    uint32_t slot = (uint32_t)(deadline >> level->shift) & wheel->mask;
    uint64_t location = level->first_location + slot;
    timer->_deadline = deadline;
    timer->_location = location;
    htw__bucket_add(&level->buckets, slot, deadline, wheel->inserted++, &timer->_link, &wheel->nil);
    return (uint32_t)location;
}

/* The same, and offers the bucket to the delay queue. */
static inline void htw__wheel_insert_at(struct htw_wheel *wheel, struct htw_timer *timer,
                                        uint64_t deadline, const struct htw__level *level) {
    uint32_t id = htw__wheel_link(wheel, timer, deadline, level);
    htw__delay_queue_offer(&wheel->queue, id, deadline, wheel->inserted - 1);
}

/* Discards the bucket at the top of the delay queue, which is empty. */
static inline void htw__wheel_discard_top(struct htw_wheel *wheel) {
    wheel->emptying = false;
    htw__delay_queue_pop(&wheel->queue);
}

#define HTW_ASSERT_WHEEL(wheel) HTW_ASSERT_SLOW(htw_wheel_check(wheel) == 0)

#endif /* HTW_SRC_WHEEL_STATE_H */
