/* SPDX-License-Identifier: MIT */
/*
 * fifo.c - strict FIFO: the timers of a tick expire in the order of arming. A bucket is one ring then, and its
 * timers must keep their order on the way down.
 */
#include "poll.h"

#include "../base/probe.h"

/*
 * Demotes a timer from level `from`, to the front of its bucket, because all others of its tick were
 * armed later. The timer stops above a bucket on the way that holds timers of its
 * tick: these will be demoted after it, and would get in front of it.
 */
static void demote_to_front(struct htw_wheel *wheel, struct htw_timer *timer, unsigned from) {
    uint64_t deadline = timer->_deadline;
    HTW__PROBE3(demote, wheel, timer, deadline);
    unsigned lowest = (unsigned)(htw__wheel_level_for(wheel, deadline) - wheel->levels);
    unsigned level = from - 1;
    while (level > lowest &&
           htw__ring_is_empty(htw__bucket_ring(&wheel->levels[level].buckets,
                                               htw__wheel_slot(wheel, level, deadline))))
        level--;
    uint32_t slot = htw__wheel_slot(wheel, level, deadline);
    uint32_t id = htw__wheel_bucket_id(wheel, level, slot);
    htw__wheel_set_location(wheel, timer, id);
    htw__timers_push_front(htw__bucket_ring(&wheel->levels[level].buckets, slot), &timer->_link);
    htw__delay_queue_offer(&wheel->queue, id, deadline, wheel->inserted++);
}

/*
 * Empties the bucket from its end. Each timer goes to the front of its next bucket, so that the order of
 * arming stays. Due timers gather in `due` and expire when the
 * bucket is empty. Meanwhile every timer is in a ring, so it can be cancelled.
 *
 * Walking one ring is one chain of cache misses. `ahead` runs from the front at the same time and
 * prefetches, until the two meet in the middle: then the misses of both halves overlap.
 */
void htw__fifo_empty_bucket(struct htw_wheel *wheel, const struct htw__top *top,
                            struct htw__poll *batch) {
    struct htw__link *ring = htw__bucket_ring(top->bucket.buckets, top->bucket.slot);
    const struct htw__link *ahead = ring->_next;
    wheel->emptying = true;
    while (!htw__poll_is_over(batch)) {
        struct htw__link *link = htw__timers_pop_back(ring);
        if (link == NULL) {
            htw__wheel_discard_top(wheel);
            return;
        }
        batch->budget--;
        if (ahead == link)
            ahead = ring;
        if (ahead != ring)
            ahead = ahead->_next;
        HTW__PREFETCH(ahead);
        struct htw_timer *timer = htw__timer_of(link);
        HTW_ASSERT_OWNED(wheel, timer);
        if (timer->_deadline <= wheel->clock) {
            htw__wheel_set_location(wheel, timer, HTW__ID_DUE);
            htw__timers_push_front(&wheel->due, link);
        } else {
            demote_to_front(wheel, timer, top->level);
        }
    }
}
