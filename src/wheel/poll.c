/* SPDX-License-Identifier: MIT */
/*
 * poll.c - how timers expire: rounds, emptying buckets, demotion.
 *
 * wheel.c explains the algorithm. A call of poll takes the bucket at the top of the delay queue,
 * sets the clock to its key, and empties it: what is due expires, the rest is demoted. The call
 * ends when its batch is full or its budget is used up, and the next call continues there. A round
 * is the sequence of calls up to the one that finds nothing more due.
 */
#include "lists.h"
#include "poll.h"

#include "../base/probe.h"

#include <errno.h>

/* wheel->expired is counted at the end of the call. */
static void expire(struct htw_timer *timer, struct htw__poll *batch) {
    timer->_location = 0;
    batch->timers[batch->count++] = timer;
}

/* Expires the timers at the front of a list, up to one that is due after `now`. Whether none is left. */
static inline bool expire_front(const struct htw_wheel *wheel, struct htw__timer_list list,
                                uint64_t now, struct htw__poll *batch) {
    struct htw__link **back = list.head;
    struct htw__link *link = *back;
    while (link != list.end && !htw__poll_is_over(batch) && htw__timer_of(link)->_deadline <= now) {
        HTW_ASSERT_LISTED(link, back);
        HTW_ASSERT_OWNED(wheel, htw__timer_of(link));
        batch->budget--;
        expire(htw__timer_of(link), batch);
        back = &link->_next;
        link = *back;
    }
    if (link != &wheel->nil)
        HTW_ASSERT_LISTED(link, back);
    *list.head = link;
    link->_back = list.head;
    return link == list.end;
}

/* The queue must not be empty. */
static struct htw__top top_of(const struct htw_wheel *wheel) {
    uint32_t id = htw__delay_queue_top(&wheel->queue).id;
    return (struct htw__top) { htw__delay_queue_top(&wheel->queue).key,
                               htw__wheel_id_level(wheel, id), htw__wheel_bucket(wheel, id) };
}

static void advance_clock(struct htw_wheel *wheel, uint64_t clock) {
    HTW_ASSERT(clock > wheel->clock);
    wheel->clock = clock;
    wheel->advances++;
}

/* Inserts a timer that is in no list, and is not due, where it belongs now. wheel->demoted is counted
   at the end of the call. */
static void demote(struct htw_wheel *wheel, struct htw_timer *timer) {
    uint64_t deadline = timer->_deadline;
    HTW__PROBE3(demote, wheel, timer, deadline);
    htw__wheel_insert_at(wheel, timer, deadline, htw__wheel_level_for(wheel, deadline));
}

/* Few enough that the first is still in the cache when the last one was looked at. */
#define SLICE 64u

/*
 * Empties the bucket at the top: what is due expires, the rest is demoted. This may take several
 * calls. The bucket stays at the top meanwhile, with a key equal to the clock: every timer that is
 * armed in between is later, and none goes into this bucket, because its range holds the clock and
 * so belongs to lower levels.
 *
 * Starting a walk costs more than a step of it. So when a small batch is full, the walk goes on to the
 * end of a slice, and puts what is due into `due`.
 *
 * Not inlined, like the functions below: together they need more registers than there are.
 */
static HTW__NOINLINE HTW__NO_CANARY void
empty_bucket(struct htw_wheel *wheel, const struct htw__top *top, struct htw__poll *batch) {
    struct htw__bucket_walk walk;
    htw__bucket_walk_start(&walk, &top->bucket, &wheel->nil);
    size_t budget_after_slice = batch->budget > SLICE ? batch->budget - SLICE : 0;
    while (walk.live > 0 && batch->budget > (batch->count < batch->max ? 0 : budget_after_slice)) {
        struct htw__link *link = htw__bucket_walk_step(&walk, &wheel->nil);
        struct htw_timer *timer = htw__timer_of(link);
        HTW_ASSERT_OWNED(wheel, timer);
        batch->budget--;
        if (timer->_deadline > wheel->clock) {
            demote(wheel, timer);
        } else if (batch->count < batch->max) {
            expire(timer, batch);
        } else {
            htw__wheel_set_location(wheel, timer, HTW__ID_DUE);
            htw__timers_push_back(&wheel->due, link);
        }
    }
    htw__bucket_walk_finish(&walk);
    if (walk.live == 0)
        htw__wheel_discard_top(wheel);
}

/* Empties the bucket at the top, which is not empty, or continues to. */
static void empty_top(struct htw_wheel *wheel, const struct htw__top *top,
                      struct htw__poll *batch) {
    if (!wheel->strict_fifo) {
        empty_bucket(wheel, top, batch);
    } else if (top->level > 0) {
        htw__fifo_empty_bucket(wheel, top, batch);
    } else {
        struct htw__link *ring = htw__bucket_ring(top->bucket.buckets, top->bucket.slot, 0);
        if (top->key >= wheel->fetched)
            htw__fifo_fetch(wheel, top->key, batch->budget);
        if (expire_front(wheel, htw__list_of_ring(ring), top->key, batch))
            htw__wheel_discard_top(wheel);
    }
}

static inline bool top_is_empty(const struct htw_wheel *wheel) {
    struct htw__top top = top_of(wheel);
    return htw__bucket_is_empty(&top.bucket, &wheel->nil);
}

/* Discards buckets at the top that cancels have emptied. False if the budget ends before. */
static HTW__NOINLINE bool discard_empty_tops(struct htw_wheel *wheel, struct htw__poll *batch) {
    while (!htw__delay_queue_is_empty(&wheel->queue) && top_is_empty(wheel)) {
        if (batch->budget == 0)
            return false;
        batch->budget--;
        htw__wheel_discard_top(wheel);
    }
    return true;
}

static bool nothing_is_due(const struct htw_wheel *wheel, uint64_t now) {
    return htw__delay_queue_top(&wheel->queue).key > now && htw__ring_is_empty(&wheel->due);
}

static void end_round(struct htw_wheel *wheel, uint64_t now) {
    wheel->in_round = false;
    wheel->clock = now;
    HTW_ASSERT_LISTED(wheel->next_round._next, &wheel->next_round._next);
    htw__ring_splice_back(&wheel->due, &wheel->next_round);
}

/* HTW_DONE: the caller ends the round. */
static HTW__NOINLINE HTW__NO_CANARY enum htw_wheel_progress
run_round(struct htw_wheel *wheel, uint64_t now, struct htw__poll *batch) {
    wheel->in_round = true;
    for (;;) {
        if (!wheel->emptying)
            expire_front(wheel, htw__list_of_ring(&wheel->due), wheel->clock, batch);
        /* A full batch never reports that the round has ended, even if it has. */
        if (batch->count == batch->max)
            return HTW_MORE;
        if (nothing_is_due(wheel, now))
            return HTW_DONE;
        if (batch->budget == 0)
            return HTW_MORE;
        struct htw__top top = top_of(wheel);
        if (htw__bucket_is_empty(&top.bucket, &wheel->nil)) { /* by cancels */
            batch->budget--;
            htw__wheel_discard_top(wheel);
            continue;
        }
        if (top.key != wheel->clock)
            advance_clock(wheel, top.key);
        empty_top(wheel, &top, batch);
    }
}

/* A call with a budget discards the emptied buckets at the top, within that budget: otherwise
   htw_wheel_next() would have to, and it has no budget. */
static HTW__NO_CANARY enum htw_wheel_progress advance(struct htw_wheel *wheel, uint64_t now,
                                                      bool limited, struct htw__poll *batch) {
    if (now == HTW_NEVER_TICK)
        now = HTW_NEVER_TICK - 1;
    if (now < wheel->clock)
        now = wheel->clock;
    uint64_t inserted = wheel->inserted;
    enum htw_wheel_progress progress = run_round(wheel, now, batch);
    wheel->demoted += wheel->inserted - inserted;
    if (progress == HTW_DONE && limited && !discard_empty_tops(wheel, batch))
        progress = HTW_MORE;
    if (progress == HTW_DONE)
        end_round(wheel, now);
    wheel->expired += batch->count;
    return progress;
}

/* If nothing is due and no round is open, sets the clock and returns true. This is the common case
   for callers that poll tick by tick. */
static inline bool advance_idle(struct htw_wheel *wheel, uint64_t now) {
    if (wheel->in_round || now < wheel->clock ||
        !nothing_is_due(wheel, now)) /* so not HTW_NEVER_TICK */
        return false;
    wheel->clock = now;
    HTW_ASSERT_WHEEL(wheel);
    return true;
}

/* All cases. poll_batch() has taken `count` timers. */
static HTW__NOINLINE HTW__NO_CANARY int run_batch(struct htw_wheel *wheel, uint64_t now,
                                                  struct htw_timer *timers[], size_t max,
                                                  size_t budget, size_t count, size_t *ret_count) {
    struct htw__poll batch = { timers, count, max, (budget == 0 ? SIZE_MAX : budget) - count };
    enum htw_wheel_progress progress = advance(wheel, now, budget != 0, &batch);
    HTW_ASSERT_WHEEL(wheel);
    *ret_count = batch.count;
    return (int)progress;
}

/* So few timers are in a bucket of so few chains that they need not be walked side by side. */
#define FEW_CHAINS 4u

/* Expires timers of the bucket at the top, if it has few chains: chain by chain, up to one that is not due. With
   strict FIFO, what is due is in one ring. Whether the bucket is empty then. */
static inline bool expire_few(struct htw_wheel *wheel, const struct htw__top *top,
                              struct htw__poll *batch) {
    const struct htw__buckets *buckets = top->bucket.buckets;
    uint32_t slot = top->bucket.slot;
    if (wheel->strict_fifo) {
        struct htw__link *ring = htw__bucket_ring_for(buckets, slot, top->key);
        return (top->level > 0 || top->key < wheel->fetched) &&
               expire_front(wheel, htw__list_of_ring(ring), top->key, batch) &&
               htw__bucket_is_empty(&top->bucket, &wheel->nil);
    }
    uint64_t last = (top->bucket.now - 1) | (buckets->count - 1); /* the end of the present chain */
    bool all = last - top->bucket.since < FEW_CHAINS * (uint64_t)buckets->count;
    for (uint64_t i = top->bucket.since; all && i <= last; i += buckets->count) {
        struct htw__link **head = htw__bucket_chain_for(buckets, slot, i);
        all = expire_front(wheel, (struct htw__timer_list) { head, &wheel->nil }, top->key, batch);
    }
    return all;
}

/* Whether a poll begins a round with the bucket at the top. */
static inline bool begins_round(const struct htw_wheel *wheel, uint64_t now) {
    uint64_t key = htw__delay_queue_top(&wheel->queue).key;
    return !wheel->in_round && key <= now && key != HTW__DELAY_QUEUE_ABSENT &&
           htw__ring_is_empty(&wheel->due);
}

/* The common case of a wheel with few timers comes first: the bucket at the top holds all that is due, and nothing
   else. That is the whole round: the clock goes to `now` in one step. */
static HTW__NOINLINE HTW__NO_CANARY int poll_batch(struct htw_wheel *wheel, uint64_t now,
                                                   struct htw_timer *timers[], size_t max,
                                                   size_t budget, size_t *ret_count) {
    if (!begins_round(wheel, now))
        return run_batch(wheel, now, timers, max, budget, 0, ret_count);
    struct htw__poll batch = { timers, 0, max, budget == 0 ? SIZE_MAX : budget };
    struct htw__top top = top_of(wheel);
    bool all = expire_few(wheel, &top, &batch);
    if (batch.count == 0)
        return run_batch(wheel, now, timers, max, budget, 0, ret_count);
    if (all)
        htw__delay_queue_pop(&wheel->queue);
    if (budget != 0 || batch.count == max || htw__delay_queue_top(&wheel->queue).key <= now) {
        advance_clock(wheel, top.key);
        wheel->in_round = true;
        return run_batch(wheel, now, timers, max, budget, batch.count, ret_count);
    }
    advance_clock(wheel, now);
    wheel->expired += batch.count;
    *ret_count = batch.count;
    HTW_ASSERT_WHEEL(wheel);
    return HTW_DONE;
}

int htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                         size_t max, size_t budget, size_t *ret_count) {
    if (htw__wheel_is_null(wheel) || timers == NULL || max == 0 || ret_count == NULL)
        return -EINVAL;
    /* With a budget, empty buckets are discarded, too. */
    if (budget == 0 && advance_idle(wheel, now)) {
        *ret_count = 0;
        return HTW_DONE;
    }
    return poll_batch(wheel, now, timers, max, budget, ret_count);
}

struct htw_timer *htw_wheel_poll(struct htw_wheel *wheel, uint64_t now) {
    struct htw_timer *timer = NULL;
    size_t count;
    htw_wheel_poll_batch(wheel, now, &timer, 1, 0, &count);
    return timer;
}

static HTW__NOINLINE void discard_all_empty_tops(struct htw_wheel *wheel) {
    struct htw__poll unlimited = { .budget = SIZE_MAX };
    discard_empty_tops(wheel, &unlimited);
}

uint64_t htw_wheel_next(struct htw_wheel *wheel) {
    if (htw__wheel_is_null(wheel))
        return HTW_NEVER_TICK;
    if (!htw__ring_is_empty(&wheel->due) || !htw__ring_is_empty(&wheel->next_round))
        return wheel->clock;
    if (!htw__delay_queue_is_empty(&wheel->queue) && top_is_empty(wheel))
        discard_all_empty_tops(wheel);
    return htw__delay_queue_top(&wheel->queue).key; /* HTW_NEVER_TICK: there is none */
}

static struct htw__link *remove_any(struct htw_wheel *wheel) {
    while (!htw__delay_queue_is_empty(&wheel->queue)) {
        struct htw__top top = top_of(wheel);
        struct htw__link *link = htw__bucket_pop(&top.bucket, wheel->drained, &wheel->nil);
        if (link != NULL)
            return link;
        htw__wheel_discard_top(wheel);
    }
    struct htw__link *rings[] = { &wheel->due, &wheel->next_round, &wheel->never };
    for (size_t i = 0; i < sizeof(rings) / sizeof(rings[0]); i++) {
        struct htw__link *link = htw__timers_pop_front(rings[i]);
        if (link != NULL)
            return link;
    }
    return NULL;
}

struct htw_timer *htw_wheel_drain(struct htw_wheel *wheel) {
    struct htw__link *link = htw__wheel_is_null(wheel) ? NULL : remove_any(wheel);
    if (link == NULL)
        return NULL;
    struct htw_timer *timer = htw__timer_of(link);
    HTW_ASSERT_OWNED(wheel, timer);
    timer->_location = 0;
    wheel->drained++;
    HTW_ASSERT_WHEEL(wheel);
    return timer;
}
