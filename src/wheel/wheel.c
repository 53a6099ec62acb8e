/* SPDX-License-Identifier: MIT */
/*
 * wheel.c - the hierarchical timing wheel: creating it, arming, moving and cancelling timers.
 *
 * Start here. poll.c is how timers expire, fifo.c the same in strict order; state.h has the structs.
 *
 * THE PROBLEM. A broker holds millions of timeouts, and cancels nearly all of them before they
 * expire. A heap or a tree pays O(log n), in cache misses, for each. But only the few timers that
 * come near their deadline ever need to be in order.
 *
 * THE WHEEL (Varghese & Lauck, "Hashed and Hierarchical Timing Wheels", 1987). Level 0 is a ring of
 * `size` buckets, one for each of the next ticks. Level 1 is a ring of `size` buckets that are each
 * as wide as all of level 0, and so on. The window of a level is the `size` buckets from the one in
 * which the clock is. A timer goes into the lowest level whose window holds its deadline: a
 * comparison or two, a shift and a mask. Inside a bucket nothing is sorted. When the time of a
 * bucket comes, its timers expire or are demoted: inserted again at a lower level.
 *
 * With the default size of 256, and a tick of 1 ms for example:
 *
 *     level   width of a bucket           window            memory of its buckets
 *       0     1 tick       1 ms           256 ms             16 KiB
 *       1     2^8          256 ms         65.5 s             32 KiB
 *       2     2^16         65.5 s         4.66 hours         32 KiB
 *       3     2^24         4.66 hours     49.7 days          32 KiB
 *       4     2^32         49.7 days      34.8 years         32 KiB
 *       5     2^40         34.8 years     8 920 years        32 KiB
 *       6     2^48         ...            2.3 million years  32 KiB
 *       7     2^56         ...            all of 64 bits     32 KiB
 *
 * A level is created when a deadline first needs it. A timer that is not cancelled is demoted once
 * for a delay of up to a minute, and twice for a delay of hours.
 *
 * THE DELAY QUEUE (as in Apache Kafka's TimingWheel). A plain wheel visits every tick. Here a queue
 * holds the buckets that are not empty, earliest first, and the clock jumps from one to the next:
 * an idle wheel needs no wake-up. The queue has one entry a bucket, not one a timer. An arm touches
 * it only if its bucket has no earlier timer. See delay_queue.h.
 *
 * WHAT DIFFERS FROM KAFKA
 *  - The key of a bucket is the earliest deadline in it, not the start of its range. So the clock
 *    goes there when a timer is due, not only to demote. One timer far ahead costs one advance.
 *  - A cancel unlinks the timer at once, in O(1), and does not touch the queue. A bucket that
 *    cancels have emptied is discarded when it gets to the top of the queue.
 *  - A move to a later deadline only rewrites the deadline. The timer is inserted again when its
 *    bucket comes up.
 *  - Timers are embedded in the user's objects. A bucket is several lists, so that the cache misses
 *    of emptying it overlap (bucket.h). The caller says what time it is.
 *
 * A WORKED EXAMPLE, with four buckets a level (size 4), which are 1, 4 and 16 ticks wide. The clock
 * is at 0. "L1[3]" is bucket 3 of level 1. tests/unit/wheel/test_example.c runs it.
 *
 *     arm A at  2   L0[2]  2 - 0 < 4
 *     arm B at  7   L1[1]  level 0 ends at 3;  7/4 - 0/4 = 1 < 4
 *     arm C at 21   L2[1]  21/4 - 0/4 = 5 is too far for level 1;  21/16 - 0/16 = 1 < 4
 *     arm D at 23   L2[1]  beside C; the key of the bucket stays 21
 *     arm E at 61   L2[3]
 *
 *     the queue:  2 L0[2] {A}   7 L1[1] {B}   21 L2[1] {C D}   61 L2[3] {E}
 *
 *     poll to 7     The clock goes to 2: A expires. It goes to 7, not to 4 where the range of
 *                   L1[1] begins: B expires out of level 1.
 *     arm F at 10   L0[2]  10 - 7 < 4: the slot that A had, `size` ticks later
 *     arm G at 12   L1[3]  12/4 - 7/4 = 2 < 4
 *     cancel G      L1[3] is empty, and stays queued under 12
 *     poll to 21    The clock goes to 10: F expires. L1[3] gets to the top, is empty, and is
 *                   discarded. The clock goes to 21: C expires. D is not due, and 23 - 21 < 4:
 *                   it is demoted from level 2 to L0[3].
 *     move E to 90  Later than 61: only the deadline is rewritten. 90/16 - 21/16 = 4 is too far
 *                   for level 2, so level 3 is created now: a poll could not report -ENOMEM.
 *     poll to 99    The clock goes to 23: D expires. It goes to 61, the key of L2[3]. E is not due
 *                   then; 90/16 - 61/16 = 2 < 4, so it goes to L2[1]. The clock goes to 90: E
 *                   expires.
 *
 * ONE SLOT, MANY RANGES. A slot serves all ranges that are `size` buckets of its level apart: L1[3]
 * of the example is 12..15, 28..31 and so on. A bucket must be empty before the next range needs
 * it. It is: the next range enters the window only when the clock has left the present one, and to
 * leave it the clock must pass the key, where the bucket is emptied. So a key that has become too
 * early, because its timer was cancelled or moved, is never raised; the bucket comes up, nothing is
 * due, and its timers are inserted again.
 *
 * ORDER. Between ticks: timers expire in the order of their deadlines. Within a tick: in no
 * particular order, for speed; or, with strict_fifo, in the order of arming. The timers of one tick
 * were inserted at lower and lower levels as the clock came nearer, so those at a higher level were
 * armed earlier. So of equal keys the queue gives the higher level first, and a demoted timer goes
 * to the front of its ring, or stops above a bucket that holds its tick (fifo.c). A move in place would
 * break this, so with strict_fifo each move is a new arming.
 *
 * THE PAST. A timer with a deadline at or before the clock goes to the list `due`; inside a round
 * to the list `next_round`, which becomes `due` at the end of the round. So a handler that arms a
 * timer for the present tick cannot keep the round from ending.
 *
 * INVARIANTS, by the numbers that htw_wheel_check() returns. They hold between any two calls.
 *  1. Lists are sound: `_back` of each link is the address of the pointer that leads to it, and
 *     each list leads to its own end.
 *  2. Each timer in a list has the mark of the wheel, and the number of its bucket or list.
 *  3. The delay queue is sound: it has the first bucket of each level and of all, and its bitmaps hold exactly
 *     the others that have a key.
 *  4. A bucket that is not queued is empty, and so are the chains that it has not used since.
 *  5. No timer is due before the key of its bucket, and with strict_fifo none after its range.
 *  6. A queued key lies in the range of its bucket, in the window of its level, and not before the
 *     clock; outside a round, after it.
 *  7. `due` and `next_round` hold deadlines up to the clock, `never` only HTW_NEVER_TICK. Outside a
 *     round `next_round` is empty.
 *  8. Level 0 exists, and each level that a pending timer would need if it were inserted now.
 *  9. scheduled - cancelled - expired - drained is the number of timers in the lists.
 *
 * COSTS. Arm, cancel and move: O(1). A timer that is not moved is demoted at most once a level. A
 * poll: O(1) a timer, and O(levels) a bucket above level 0. With millions of timers the cache misses
 * of the timer and its two neighbours decide: docs/decisions.md.
 */
#include "../base/refusal.h"
#include "state.h"

#include <errno.h>

HTW__STATIC_ASSERT(sizeof(struct htw_timer) == 16 + 2 * sizeof(void *),
                   a_timer_is_32_bytes_on_64_bit_machines);
HTW__STATIC_ASSERT(HTW_WHEEL_SIZE_MAX *HTW_WHEEL_LEVELS_MAX < HTW__ID_DUE,
                   the_number_of_a_bucket_is_none_of_the_special_ones);

static struct htw__buckets buckets_at(const struct htw_wheel *wheel, unsigned level,
                                      uint32_t count) {
    if (wheel->strict_fifo)
        return htw__buckets_of(count, 0, level == 0 ? 1 : HTW__BUCKET_RINGS_ABOVE);
    return htw__buckets_of(count,
                           level == 0 ? HTW__BUCKET_CHAINS_LEVEL_0 : HTW__BUCKET_CHAINS_ABOVE, 0);
}

static int create_level(struct htw_wheel *wheel) {
    unsigned level = wheel->level_count;
    uint32_t first_id = level << wheel->bits; /* of its buckets, in the delay queue */
    uint64_t widths =
        UINT64_MAX >> wheel->levels[level].shift; /* the last level has fewer than `size` buckets */
    struct htw__level created = wheel->levels[level];
    created.buckets =
        buckets_at(wheel, level, (widths < wheel->mask ? (uint32_t)widths : wheel->mask) + 1);
    created.first_location = wheel->mark | (uint64_t)level << wheel->bits;
    size_t bytes = htw__buckets_bytes(&created.buckets);
    created.buckets.lists = htw__allocate(&wheel->allocator, bytes);
    if (created.buckets.lists == NULL)
        return -ENOMEM;
    int error = htw__delay_queue_reserve(&wheel->queue, &wheel->allocator,
                                         first_id + created.buckets.count);
    if (error != 0) {
        htw__release(&wheel->allocator, created.buckets.lists, bytes);
        return error;
    }
    htw__buckets_init(&created.buckets, &wheel->nil);
    wheel->levels[level] = created;
    wheel->level_count++;
    wheel->reach = created.reach;
    return 0;
}

/* Creates the levels that a deadline needs. 0 or -ENOMEM. */
static int create_levels(struct htw_wheel *wheel, uint64_t deadline) {
    int error = 0;
    while (error == 0 && htw__wheel_lacks_level(wheel, deadline))
        error = create_level(wheel);
    return error;
}

static const struct htw_allocator *allocator_for(const struct htw_wheel_options *options) {
    return options->allocator == NULL ? &htw__default_allocator : options->allocator;
}

static const char *invalid_member(const struct htw_wheel_options *options) {
    if (options->struct_size != sizeof(*options))
        return "struct_size";
    uint32_t size = options->size;
    if (size != 0 &&
        (size < HTW_WHEEL_SIZE_MIN || size > HTW_WHEEL_SIZE_MAX || (size & (size - 1)) != 0))
        return "size";
    if (options->start == HTW_NEVER_TICK)
        return "start";
    return htw__allocator_is_valid(allocator_for(options)) ? NULL : "allocator";
}

static void init(struct htw_wheel *wheel, const struct htw_wheel_options *options) {
    uint32_t size = options->size == 0 ? HTW_WHEEL_SIZE_DEFAULT : options->size;
    unsigned bits = htw__lowest_bit(size);
    *wheel = (struct htw_wheel) {
        .clock = options->start,
        /* Wheels that exist at the same time have different addresses. */
        .mark = (uint64_t)((uint32_t)((uintptr_t)wheel / HTW__CACHE_LINE) | 1u) << 32,
        .mask = size - 1,
        .bits = (uint8_t)bits,
        .level_max = (uint8_t)(63 / bits + 1),
        .strict_fifo = options->strict_fifo,
    };
    for (unsigned level = 0; level < wheel->level_max; level++) {
        uint64_t width = (uint64_t)1 << level * bits;
        uint64_t reach = level + 1 < wheel->level_max ? width * wheel->mask : UINT64_MAX;
        wheel->levels[level] =
            (struct htw__level) { .width = width, .reach = reach, .shift = level * bits };
    }
    htw__ring_init(&wheel->due);
    htw__ring_init(&wheel->next_round);
    htw__ring_init(&wheel->never);
    htw__delay_queue_init(&wheel->queue, bits);
}

int htw_wheel_create(struct htw_wheel **ret_wheel, const struct htw_wheel_options *options) {
    static const struct htw_wheel_options defaults = HTW_WHEEL_OPTIONS_INIT;
    if (options == NULL)
        options = &defaults;
    const char *member = invalid_member(options);
    if (ret_wheel == NULL || member != NULL)
        return htw__refuse(member);
    const struct htw_allocator *allocator = allocator_for(options);
    struct htw_wheel *wheel = htw__allocate(allocator, sizeof(*wheel));
    if (wheel == NULL)
        return -ENOMEM;
    init(wheel, options);
    wheel->allocator = *allocator;
    int error = create_level(wheel);
    if (error != 0) {
        htw__release(allocator, wheel, sizeof(*wheel));
        return error;
    }
    *ret_wheel = wheel;
    return 0;
}

static bool mark_not_pending(struct htw_timer *timer, void *arg) {
    (void)arg;
    timer->_location = 0;
    return true;
}

void htw_wheel_destroy(struct htw_wheel *wheel) {
    if (htw__wheel_is_null(wheel))
        return;
    htw_wheel_for_each(wheel, mark_not_pending, NULL);
    struct htw_allocator allocator = wheel->allocator;
    htw__allocator_forget(&wheel->allocator);
    for (unsigned level = 0; level < wheel->level_count; level++)
        htw__release(&allocator, wheel->levels[level].buckets.lists,
                     htw__buckets_bytes(&wheel->levels[level].buckets));
    htw__delay_queue_fini(&wheel->queue, &allocator);
    htw__release(&allocator, wheel, sizeof(*wheel));
}

int htw_wheel_reserve(struct htw_wheel *wheel, uint64_t horizon) {
    if (htw__wheel_is_null(wheel))
        return -EINVAL;
    int error = 0;
    while (error == 0 && wheel->reach < horizon)
        error = create_level(wheel);
    return error;
}

/* Puts a timer that is in no list where it belongs now. Its level exists. */
static void insert(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    bool never = deadline == HTW_NEVER_TICK;
    if (deadline > wheel->clock && !never) {
        htw__wheel_insert_at(wheel, timer, deadline, htw__wheel_level_for(wheel, deadline));
        return;
    }
    wheel->inserted++;
    timer->_deadline = deadline;
    htw__wheel_set_location(wheel, timer, never ? HTW__ID_NEVER : HTW__ID_DUE);
    struct htw__link *present = wheel->in_round ? &wheel->next_round : &wheel->due;
    htw__timers_push_back(never ? &wheel->never : present, &timer->_link);
}

/* Before a timer is unlinked: its neighbours lead to it, and so it does to them. */
/*@ assigns \nothing; */
static inline void check_neighbours(const struct htw__link *link, const struct htw__link *nil) {
    HTW_ASSERT_USE(*link->_back == link &&
                       (link->_next == nil || link->_next->_back == &link->_next),
                   "timer", link, "or a neighbour of it " HTW__NOT_LEFT_ALONE);
}

/*
 * Fetches what a cancel will likely write to next.
 *
 * Unlinking writes to the neighbours, and in a wheel of many timers these are cache misses. If the
 * oldest timers are cancelled first, a timer is at the end of its chain, and its other neighbour is
 * likely the next of the chain to be cancelled. The neighbour behind that one is fetched now, so that
 * it is here by then. If the timer is not at the end, a line is fetched that is written anyway; if it
 * is alone in its chain, `back` is a head, and what the pointer behind that leads to.
 *
 * In a wheel of few timers a branch on whether this is the end could not be predicted. Compilers
 * make one out of a conditional expression, so the address is computed.
 */
/*@ assigns \nothing; */
static inline void fetch_next_cancelled(const struct htw__link *link, const struct htw__link *nil) {
    uintptr_t at_end = (uintptr_t)0 - (uintptr_t)(link->_next == nil); /* all bits, or none */
    uintptr_t difference = (uintptr_t)link ^ (uintptr_t)link->_back;
    const struct htw__link *newer = (const void *)((uintptr_t)link ^ (difference & at_end));
    //@ admit newer == (link->_next == nil ? (struct htw__link *)link->_back : link);
    HTW__PREFETCH(newer->_back);
}

/* Arms a timer, pending or not. */
static int arm(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    int error = create_levels(wheel, deadline);
    if (error != 0)
        return error;
    if (timer->_location != 0) {
        check_neighbours(&timer->_link, &wheel->nil);
        htw__link_unlink(&timer->_link);
        wheel->moved_by_insertion++;
    }
    insert(wheel, timer, deadline);
    HTW_ASSERT_WHEEL(wheel);
    return 0;
}

/*
 * Moves a pending timer by rewriting its deadline, if that is enough:
 *  - To a later deadline: the timer stays in its bucket. When the clock reaches that, a poll inserts
 *    the timer again. The level that this needs is created now, because a poll cannot fail.
 *  - To an earlier deadline with the same slot: the new deadline is in the range of the bucket,
 *    whose key may have to be lowered; or in a later range of the slot, if the timer was moved
 *    there before.
 * Not to HTW_NEVER_TICK: the clock would stop at the bucket for nothing. Not with strict_fifo: the timer must
 * go to the end of its tick.
 */
static bool move_in_place(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    uint32_t id = htw__timer_id(timer);
    if (wheel->strict_fifo || !htw__id_is_bucket(id) || deadline <= wheel->clock ||
        deadline == HTW_NEVER_TICK)
        return false;
    if (deadline >= timer->_deadline) {
        if (create_levels(wheel, deadline) != 0)
            return false;
    } else {
        unsigned level = htw__wheel_id_level(wheel, id);
        if (htw__wheel_slot(wheel, level, deadline) != (id & wheel->mask))
            return false;
        htw__delay_queue_offer(&wheel->queue, id, deadline, wheel->inserted); /* it is queued */
    }
    timer->_deadline = deadline;
    wheel->moved_in_place++;
    HTW_ASSERT_WHEEL(wheel);
    return true;
}

static bool may_arm(const struct htw_wheel *wheel, const struct htw_timer *timer) {
    return wheel != NULL && timer != NULL &&
           (timer->_location == 0 || htw__wheel_owns(wheel, timer));
}

static HTW__NOINLINE int schedule_slow(struct htw_wheel *wheel, struct htw_timer *timer,
                                       uint64_t deadline) {
    if (!may_arm(wheel, timer))
        return -EINVAL;
    if (timer->_location != 0 && move_in_place(wheel, timer, deadline))
        return 0;
    return arm(wheel, timer, deadline);
}

static HTW__NOINLINE int enqueue(struct htw_wheel *wheel, uint32_t id, uint64_t deadline) {
    htw__delay_queue_offer(&wheel->queue, id, deadline, wheel->inserted - 1);
    HTW_ASSERT_WHEEL(wheel);
    return 0;
}

/* The common move: to a later deadline, whose level exists. See move_in_place(). */
static HTW__NOINLINE int postpone(struct htw_wheel *wheel, struct htw_timer *timer,
                                  uint64_t deadline) {
    if (wheel->strict_fifo || deadline < timer->_deadline || !htw__wheel_owns(wheel, timer) ||
        !htw__id_is_bucket(htw__timer_id(timer)))
        return schedule_slow(wheel, timer, deadline);
    timer->_deadline = deadline;
    wheel->moved_in_place++;
    HTW_ASSERT_WHEEL(wheel);
    return 0;
}

/* The common cases come first. They call other functions only as their last act, so that no
   register has to be saved: with many timers, stores limit the speed of an arm (bucket.h). */
static inline int schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    if (htw__wheel_is_null(wheel) || timer == NULL || deadline <= wheel->clock ||
        deadline - wheel->clock > wheel->reach || deadline == HTW_NEVER_TICK)
        return schedule_slow(wheel, timer, deadline);
    if (timer->_location != 0)
        return postpone(wheel, timer, deadline);
    uint32_t id = htw__wheel_link(wheel, timer, deadline, htw__wheel_level_for(wheel, deadline));
    if (htw__delay_queue_wants(&wheel->queue, id, deadline) || HTW_CHECK_LEVEL > 1)
        return enqueue(wheel, id, deadline);
    return 0;
}

int htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    return schedule(wheel, timer, deadline);
}

/* If the range is wide enough, the tick is where a bucket begins. The timer expires out of that
   bucket and is not demoted. */
int htw_wheel_schedule_within(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t earliest,
                              uint64_t latest) {
    if (earliest > latest)
        return -EINVAL;
    if (earliest == HTW_NEVER_TICK)
        return schedule(wheel, timer, HTW_NEVER_TICK);
    if (latest == HTW_NEVER_TICK)
        latest = HTW_NEVER_TICK - 1;
    return schedule(wheel, timer, htw__roundest(earliest, latest));
}

bool htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer) {
    if (htw__wheel_is_null(wheel) || timer == NULL || !htw__wheel_owns(wheel, timer))
        return false;
    check_neighbours(&timer->_link, &wheel->nil);
    fetch_next_cancelled(&timer->_link, &wheel->nil);
    htw__link_unlink(&timer->_link);
    timer->_location = 0;
    wheel->cancelled++;
    HTW_ASSERT_WHEEL(wheel);
    return true;
}

uint64_t htw_wheel_now(const struct htw_wheel *wheel) {
    return htw__wheel_is_null(wheel) ? HTW_NEVER_TICK : wheel->clock;
}
