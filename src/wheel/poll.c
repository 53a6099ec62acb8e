/* SPDX-License-Identifier: MIT */
/*
 * poll.c - how timers leave the wheel when their time has come: rounds, the
 * opening of buckets, demotion. wheel.c explains the algorithm.
 */
#include "state.h"

#include <errno.h>

/* What one call may still do. */
struct batch {
    struct htw_timer **timers;
    size_t count;
    size_t max;
    size_t budget; /* steps left */
};

static bool is_over(const struct batch *batch) {
    return batch->count == batch->max || batch->budget == 0;
}

/* The wheel counts what has expired at the end of the call. */
static void expire(struct htw_timer *timer, struct batch *batch) {
    timer->_where = 0;
    batch->timers[batch->count++] = timer;
}

static void expire_due(struct htw_wheel *wheel, struct batch *batch) {
    struct htw__link *link;
    while (!is_over(batch) && (link = htw__ring_pop_front(&wheel->due)) != NULL) {
        batch->budget--;
        expire(htw__timer_of(link), batch);
    }
}

/* The bucket at the top of the delay queue, which must not be empty. */
struct top {
    uint64_t key;
    unsigned level;
    uint32_t slot;
    const struct htw__buckets *buckets;
};

static struct top top_of(const struct htw_wheel *wheel) {
    uint32_t id = htw__delay_queue_top_id(&wheel->queue);
    unsigned level = htw__wheel_id_level(wheel, id);
    return (struct top) { htw__delay_queue_top_key(&wheel->queue), level, id & wheel->mask,
                          &wheel->levels[level].buckets };
}

static void advance_clock(struct htw_wheel *wheel, uint64_t key) {
    HTW_ASSERT(key > wheel->clock);
    htw__wheel_set_clock(wheel, key);
    wheel->advances++;
}

/* Files a timer, which is in no list and is not due, where it belongs now. */
static void demote(struct htw_wheel *wheel, struct htw_timer *timer) {
    uint64_t deadline = timer->_deadline;
    htw__wheel_insert_at(wheel, timer, deadline, htw__wheel_level_for(wheel, deadline),
                         wheel->demoted++);
}

static inline void expire_or_demote(struct htw_wheel *wheel, struct htw_timer *timer,
                                    struct batch *batch) {
    batch->budget--;
    if (timer->_deadline <= wheel->clock)
        expire(timer, batch);
    else
        demote(wheel, timer);
}

/*
 * Empties the bucket at the top: what is due is handed out, the rest goes down to where
 * it fits now. While that lasts, over as many calls as it takes, the bucket stays at the
 * top, with a key equal to the clock: whatever is filed meanwhile is later than the
 * clock, so nothing passes it, and nothing is filed into it, since its range holds the
 * clock and so belongs to lower levels until the clock has left it.
 *
 * This and the like are not inlined: together they want more registers than there are.
 */
static __attribute__((noinline)) void empty_bucket(struct htw_wheel *wheel, const struct top *top,
                                                   struct batch *batch) {
    struct htw__bucket_walk walk;
    htw__bucket_walk_start(&walk, top->buckets, top->slot, &wheel->nil);
    while (walk.live > 0 && !is_over(batch))
        expire_or_demote(wheel, htw__timer_of(htw__bucket_walk_step(&walk, &wheel->nil)), batch);
    htw__bucket_walk_finish(&walk);
    if (walk.live == 0)
        htw__wheel_discard_top(wheel);
}

/* The same without a walk, which does not pay where a call ends after one timer. */
static __attribute__((noinline)) void empty_one_by_one(struct htw_wheel *wheel,
                                                       const struct top *top, struct batch *batch) {
    while (!is_over(batch)) {
        struct htw__link *link =
            htw__bucket_pop(top->buckets, top->slot, &wheel->turn, &wheel->nil);
        if (link == NULL) {
            htw__wheel_discard_top(wheel);
            return;
        }
        expire_or_demote(wheel, htw__timer_of(link), batch);
    }
}

/*
 * Strict FIFO: puts a timer that comes down from `from` before all others of its tick.
 * They were armed later, since a tick's timers are filed at ever lower levels as the clock
 * comes nearer. It must not pass a bucket on the way that holds such timers: these will
 * come down after it and would get in front.
 */
static void demote_to_front(struct htw_wheel *wheel, struct htw_timer *timer, unsigned from) {
    uint64_t deadline = timer->_deadline;
    unsigned lowest = (unsigned)(htw__wheel_level_for(wheel, deadline) - wheel->levels);
    unsigned level = from - 1;
    while (level > lowest &&
           htw__wheel_is_empty_at(wheel, level, htw__wheel_slot(wheel, level, deadline)))
        level--;
    uint32_t slot = htw__wheel_slot(wheel, level, deadline);
    uint32_t id = htw__wheel_bucket_id(wheel, level, slot);
    htw__wheel_set_where(wheel, timer, id);
    htw__ring_push_front(htw__bucket_ring(&wheel->levels[level].buckets, slot), &timer->_link);
    htw__delay_queue_offer(&wheel->queue, id, deadline);
    wheel->demoted++;
}

/*
 * Strict FIFO: empties a bucket above the lowest level from its end, each timer going to
 * the front of where it belongs, so that the order of arming stays; what is due gathers in
 * `due`, to be handed out when the bucket is empty. Cancels in between find every timer in
 * a ring, as always.
 *
 * One ring is one chain of cache misses. A second chain of them overlaps with the first: an eye
 * that runs ahead from the front, until the two meet in the middle. What it has passed is near
 * when its turn comes.
 */
static __attribute__((noinline)) void empty_in_order(struct htw_wheel *wheel, const struct top *top,
                                                     struct batch *batch) {
    struct htw__link *ring = htw__bucket_ring(top->buckets, top->slot);
    const struct htw__link *ahead = ring->_next;
    wheel->emptying = true;
    while (!is_over(batch)) {
        struct htw__link *link = htw__ring_pop_back(ring);
        if (link == NULL) {
            htw__wheel_discard_top(wheel);
            return;
        }
        batch->budget--;
        if (ahead == link)
            ahead = ring;
        if (ahead != ring)
            ahead = ahead->_next;
        __builtin_prefetch(ahead, 1);
        struct htw_timer *timer = htw__timer_of(link);
        if (timer->_deadline <= wheel->clock) {
            htw__wheel_set_where(wheel, timer, HTW__ID_DUE);
            htw__ring_push_front(&wheel->due, link);
        } else {
            demote_to_front(wheel, timer, top->level);
        }
    }
}

/*
 * Opens a bucket that is not empty, or goes on with one (`resumed`).
 *
 * A caller who takes one timer at a time comes back for each: at the lowest level nearly all
 * are due, and above it the first of those that are left may be. Only if it was not, there is
 * something to demote, and a walk to begin.
 */
static void empty_top(struct htw_wheel *wheel, const struct top *top, bool resumed,
                      struct batch *batch) {
    if (wheel->strict_fifo && top->level > 0) {
        empty_in_order(wheel, top, batch);
    } else if (top->level == 0 && (wheel->strict_fifo || batch->max == 1)) {
        empty_one_by_one(wheel, top, batch);
    } else {
        if (resumed && batch->max == 1)
            expire_or_demote(
                wheel,
                htw__timer_of(htw__bucket_pop(top->buckets, top->slot, &wheel->turn, &wheel->nil)),
                batch);
        if (!is_over(batch))
            empty_bucket(wheel, top, batch);
    }
}

/* Discards buckets at the top that cancels have emptied. Whether the budget lasts for all. */
static __attribute__((noinline)) bool discard_empty_tops(struct htw_wheel *wheel,
                                                         struct batch *batch) {
    while (!htw__delay_queue_is_empty(&wheel->queue)) {
        struct top top = top_of(wheel);
        if (!htw__wheel_is_empty_at(wheel, top.level, top.slot))
            break;
        if (batch->budget == 0)
            return false;
        batch->budget--;
        htw__wheel_discard_top(wheel);
    }
    return true;
}

static bool nothing_is_due(const struct htw_wheel *wheel, uint64_t now) {
    return htw__delay_queue_top_key(&wheel->queue) > now && htw__ring_is_empty(&wheel->due);
}

static void end_round(struct htw_wheel *wheel, uint64_t now) {
    wheel->in_round = false;
    htw__wheel_set_clock(wheel, now);
    htw__ring_splice_back(&wheel->due, &wheel->late);
}

/* With HTW_DONE the round is to be ended. */
static enum htw_wheel_progress run_round(struct htw_wheel *wheel, uint64_t now,
                                         struct batch *batch) {
    wheel->in_round = true;
    for (;;) {
        if (!wheel->emptying)
            expire_due(wheel, batch);
        /* A full batch does not report that nothing is left, even if it is so. */
        if (batch->count == batch->max)
            return HTW_MORE;
        if (nothing_is_due(wheel, now))
            return HTW_DONE;
        if (batch->budget == 0)
            return HTW_MORE;
        struct top top = top_of(wheel);
        if (htw__wheel_is_empty_at(wheel, top.level, top.slot)) { /* cancels have done that */
            batch->budget--;
            htw__wheel_discard_top(wheel);
            continue;
        }
        bool resumed = top.key == wheel->clock;
        if (!resumed)
            advance_clock(wheel, top.key);
        empty_top(wheel, &top, resumed, batch);
    }
}

/* A call with a budget leaves no emptied buckets to htw_wheel_next(), which has none. */
static enum htw_wheel_progress advance(struct htw_wheel *wheel, uint64_t now, bool limited,
                                       struct batch *batch) {
    if (now == HTW_NEVER_TICK)
        now = HTW_NEVER_TICK - 1;
    if (now < wheel->clock)
        now = wheel->clock;
    enum htw_wheel_progress progress = run_round(wheel, now, batch);
    if (progress == HTW_DONE && limited && !discard_empty_tops(wheel, batch))
        progress = HTW_MORE;
    if (progress == HTW_DONE)
        end_round(wheel, now);
    wheel->expired += batch->count;
    return progress;
}

/* Whether there is nothing to do but to set the clock, which is common where ticks are polled
   one by one. Then it is done. */
static inline bool advance_idle(struct htw_wheel *wheel, uint64_t now) {
    if (wheel->in_round || now < wheel->clock ||
        !nothing_is_due(wheel, now)) /* so not HTW_NEVER_TICK */
        return false;
    htw__wheel_set_clock(wheel, now);
    HTW_ASSERT_WHEEL(wheel);
    return true;
}

struct htw_timer *htw_wheel_poll(struct htw_wheel *wheel, uint64_t now) {
    if (wheel == NULL || advance_idle(wheel, now))
        return NULL;
    struct htw_timer *timer = NULL;
    struct batch batch = { &timer, 0, 1, SIZE_MAX };
    advance(wheel, now, false, &batch);
    HTW_ASSERT_WHEEL(wheel);
    return timer;
}

/* As advance(), where nothing was to be done but to set the clock. If the budget does not last, the
   caller believes that the round goes on. */
static __attribute__((noinline)) int discard_empty_idle(struct htw_wheel *wheel, size_t budget) {
    struct batch batch = { NULL, 0, 0, budget };
    wheel->in_round = !discard_empty_tops(wheel, &batch);
    HTW_ASSERT_WHEEL(wheel);
    return wheel->in_round ? HTW_MORE : HTW_DONE;
}

int htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                         size_t max, size_t budget, size_t *ret_count) {
    if (wheel == NULL || timers == NULL || max == 0 || ret_count == NULL)
        return -EINVAL;
    if (advance_idle(wheel, now)) {
        *ret_count = 0;
        return budget == 0 ? HTW_DONE : discard_empty_idle(wheel, budget);
    }
    struct batch batch = { timers, 0, max, budget == 0 ? SIZE_MAX : budget };
    enum htw_wheel_progress progress = advance(wheel, now, budget != 0, &batch);
    HTW_ASSERT_WHEEL(wheel);
    *ret_count = batch.count;
    return (int)progress;
}

uint64_t htw_wheel_next(struct htw_wheel *wheel) {
    if (wheel == NULL)
        return HTW_NEVER_TICK;
    if (!htw__ring_is_empty(&wheel->due) || !htw__ring_is_empty(&wheel->late))
        return wheel->clock;
    while (!htw__delay_queue_is_empty(&wheel->queue)) {
        struct top top = top_of(wheel);
        if (!htw__wheel_is_empty_at(wheel, top.level, top.slot))
            return top.key;
        htw__wheel_discard_top(wheel);
    }
    return HTW_NEVER_TICK;
}

static struct htw__link *remove_any(struct htw_wheel *wheel) {
    while (!htw__delay_queue_is_empty(&wheel->queue)) {
        struct top top = top_of(wheel);
        struct htw__link *link = htw__bucket_pop(top.buckets, top.slot, &wheel->turn, &wheel->nil);
        if (link != NULL)
            return link;
        htw__wheel_discard_top(wheel);
    }
    struct htw__link *rings[] = { &wheel->due, &wheel->late, &wheel->never };
    for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        struct htw__link *link = htw__ring_pop_front(rings[i]);
        if (link != NULL)
            return link;
    }
    return NULL;
}

struct htw_timer *htw_wheel_drain(struct htw_wheel *wheel) {
    struct htw__link *link = wheel == NULL ? NULL : remove_any(wheel);
    if (link == NULL)
        return NULL;
    struct htw_timer *timer = htw__timer_of(link);
    timer->_where = 0;
    wheel->drained++;
    HTW_ASSERT_WHEEL(wheel);
    return timer;
}
