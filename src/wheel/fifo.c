/* SPDX-License-Identifier: MIT */
/*
 * fifo.c - strict FIFO: the timers of a tick expire in the order of arming. They are in one ring of a bucket then, and
 * must keep their order on the way down.
 */
#include "poll.h"

#include "../base/probe.h"

/* How many ticks, and timers of each, are fetched at once. Found by measurement. */
#define FETCHED_TICKS 8u
#define FETCHED_A_TICK 1024u

/*
 * Demotes a timer from level `from`, to the front of its bucket, because all others of its tick were
 * armed later. The timer stops above a bucket on the way that holds timers of its
 * tick: these will be demoted after it, and would get in front of it.
 */
static void demote_to_front(struct htw_wheel *wheel, struct htw_timer *timer, unsigned from) {
    uint64_t deadline = timer->_deadline;
    HTW__PROBE3(demote, wheel, timer, deadline);
    unsigned lowest = (unsigned)(htw__wheel_level_for(wheel, deadline) - wheel->levels);
    unsigned level = from;
    uint32_t slot;
    struct htw__link *ring;
    do {
        slot = htw__wheel_slot(wheel, --level, deadline);
        ring = htw__bucket_ring_for(&wheel->levels[level].buckets, slot, deadline);
    } while (level > lowest && htw__ring_is_empty(ring));
    uint32_t id = htw__wheel_bucket_id(wheel, level, slot);
    htw__wheel_set_location(wheel, timer, id);
    htw__timers_push_front(ring, &timer->_link);
    htw__delay_queue_offer(&wheel->queue, id, deadline, wheel->inserted++);
}

/*
 * Empties the bucket from the ends of its rings. Each timer goes to the front of its next bucket, so
 * that the order of arming stays. Due timers gather in `due` and expire when the bucket is empty.
 * Meanwhile every timer is in a ring, so it can be cancelled. While the last timer of one ring comes
 * from memory, those of the others are used.
 */
void htw__fifo_empty_bucket(struct htw_wheel *wheel, const struct htw__top *top,
                            struct htw__poll *batch) {
    struct htw__link *rings[HTW__BUCKET_RINGS_ABOVE];
    uint32_t live = 0; /* rings that are not empty; they are first in the array */
    for (uint32_t i = 0; i < HTW__BUCKET_RINGS_ABOVE; i++) {
        rings[live] = htw__bucket_ring(top->bucket.buckets, top->bucket.slot, i);
        live += !htw__ring_is_empty(rings[live]);
    }
    wheel->emptying = true;
    for (uint32_t i = 0; live > 0 && !htw__poll_is_over(batch); i = i < live ? i : 0) {
        struct htw__link *link = htw__timers_pop_back(rings[i]);
        HTW__PREFETCH(htw__ring_last(rings[i]));
        if (htw__ring_is_empty(rings[i]))
            rings[i] = rings[--live];
        else
            i++;
        batch->budget--;
        struct htw_timer *timer = htw__timer_of(link);
        HTW_ASSERT_OWNED(wheel, timer);
        if (timer->_deadline <= wheel->clock) {
            htw__wheel_set_location(wheel, timer, HTW__ID_DUE);
            htw__timers_push_front(&wheel->due, link);
        } else {
            demote_to_front(wheel, timer, top->level);
        }
    }
    if (live == 0)
        htw__wheel_discard_top(wheel);
}

/*
 * All timers of a bucket of level 0 are of one tick, so they are in one ring, which is one chain of
 * cache misses. So the rings of this tick and the next ones are walked side by side first: the misses
 * of as many timers overlap. Changes no list. Not further than what stays in the cache.
 */
void htw__fifo_fetch(struct htw_wheel *wheel, uint64_t tick, size_t budget) {
    const struct htw__buckets *buckets = &wheel->levels[0].buckets;
    const struct htw__link *last[FETCHED_TICKS]; /* the last timer that was fetched, of each ring */
    for (uint32_t i = 0; i < FETCHED_TICKS; i++)
        last[i] = htw__bucket_ring(buckets, (uint32_t)(tick + i) & wheel->mask, 0);
    bool more = true;
    for (size_t round = 0; more && round < FETCHED_A_TICK && round < budget / FETCHED_TICKS;
         round++) {
        more = false;
        for (uint32_t i = 0; i < FETCHED_TICKS; i++) {
            const struct htw__link *next = last[i]->_next;
            if (next != htw__bucket_ring(buckets, (uint32_t)(tick + i) & wheel->mask, 0)) {
                HTW_ASSERT_LISTED(next, &last[i]->_next);
                HTW__PREFETCH(next);
                last[i] = next;
                more = true;
            }
        }
    }
    wheel->fetched = tick + FETCHED_TICKS;
}
