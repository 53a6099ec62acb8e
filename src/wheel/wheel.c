/* SPDX-License-Identifier: MIT */
/*
 * wheel.c - the hierarchical timing wheel: how timers get in. poll.c is how they get
 * out; state.h is what the wheel is made of. This page explains the algorithm.
 *
 * THE PROBLEM. A broker holds millions of timeouts at once, and nearly all are cancelled
 * before they expire. A heap or a tree pays O(log n), in cache misses, for each; yet only
 * the few that come near their deadline ever need to be in order.
 *
 * THE WHEEL (Varghese & Lauck, "Hashed and Hierarchical Timing Wheels", 1987). Level 0 is a
 * ring of `size` buckets, one for each of the next ticks. Level 1 is a ring of `size` buckets
 * that are each as wide as all of level 0, level 2 of buckets as wide as all of level 1, and
 * so on. A timer goes into the lowest level whose window still reaches its deadline, into
 * the bucket of the range that holds it. That is a comparison or two with the ends of the
 * windows, a shift and a mask; inside a bucket nothing is sorted. When the time of a bucket
 * comes, its timers are demoted: filed again, at a level below, since they are nearer now. The
 * order that a heap would have kept all the time is made in passing, a level at a time, and
 * only for those that were not cancelled.
 *
 * With the default size of 256, and a tick of 1 ms for example:
 *
 *     level   width of a bucket           window            memory of its buckets
 *       0     1 tick       1 ms           256 ms              8 KiB
 *       1     2^8          256 ms         65.5 s             32 KiB
 *       2     2^16         65.5 s         4.66 hours         32 KiB
 *       3     2^24         4.66 hours     49.7 days          32 KiB
 *       4     2^32         49.7 days      34.8 years         32 KiB
 *       5     2^40         34.8 years     8 920 years        32 KiB
 *       6     2^48         ...            2.3 million years  32 KiB
 *       7     2^56         ...            all of 64 bits     32 KiB
 *
 * Levels are created when a deadline first needs them. With 256, a timer that is
 * not cancelled before is demoted once for delays of up to a minute in ms, and twice for delays
 * of hours; smaller wheels demote more often, larger ones hardly less for their memory.
 *
 * THE DELAY QUEUE (Apache Kafka's TimingWheel and SystemTimer). A plain wheel visits every
 * tick, also the empty ones. Here a queue holds the buckets that are not empty, earliest
 * first, and the clock jumps from one to the next: a gap of 10^12 ticks costs what a gap of
 * one costs, and an idle wheel needs no wake-up. The buckets above the lowest level are in a
 * binary min-heap, which has as many entries as there are buckets at the most, never as many as
 * there are timers; an arm touches it only when its bucket has no earlier timer. Those of the
 * lowest level, a tick wide each, are in order by themselves: for them a bitmap does.
 *
 * WHAT DIFFERS FROM KAFKA
 *  - A bucket is queued under the earliest deadline in it, not under the start of its range:
 *    it comes up when something is due, not merely to be demoted. A lone far timer costs one
 *    advance of the clock instead of one a level.
 *  - What a bucket holds that is not due goes to the lowest level that fits, not one down.
 *  - A cancel unlinks at once, in O(1), and leaves nothing behind. It does not touch the
 *    queue: a bucket that was emptied is discarded when it gets to the top, before the clock
 *    goes there or anybody is told of it. Arming and cancelling in turn costs the queue
 *    nothing at all.
 *  - A move to a later deadline only rewrites it. The timer is filed again when its bucket
 *    comes up: a timeout that every packet pushes back is touched once a bucket's time.
 *  - Timers are embedded in the user's objects; buckets are several lists whose cache misses
 *    overlap when they are emptied (bucket.h); time is whatever the caller says it is.
 *
 * A WORKED EXAMPLE, with buckets of 1, 4 and 16 ticks, four a level (size 4). The clock is
 * at 0. "L1[3]" is bucket 3 of level 1. tests/unit/wheel/test_example.c does just this.
 *
 *     arm A at  2   L0[2]  2 - 0 < 4
 *     arm B at  7   L1[1]  level 0 reaches no farther than 3;  7/4 - 0/4 = 1 < 4
 *     arm C at 21   L2[1]  21/4 - 0/4 = 5 is too far for level 1;  21/16 - 0/16 = 1 < 4
 *     arm D at 23   L2[1]  beside C; the bucket keeps its key, 21
 *     arm E at 61   L2[3]
 *
 *     the queue:  2 L0[2] {A}   7 L1[1] {B}   21 L2[1] {C D}   61 L2[3] {E}
 *
 *     poll to 7     The clock goes to 2: A. It goes to 7, not to 4 where the range of L1[1]
 *                   begins: B comes out of level 1 directly.
 *     arm F at 10   L0[2]  10 - 7 < 4: the slot that A had, one turn later
 *     arm G at 12   L1[3]  12/4 - 7/4 = 2 < 4
 *     cancel G      L1[3] is empty, and stays queued under 12
 *     poll to 21    The clock goes to 10: F. L1[3] gets to the top, is found empty, and is
 *                   discarded; the clock goes from 10 to 21. C is due. D is not, and 23 - 21 < 4:
 *                   it is demoted from level 2 to L0[3] at once.
 *     move E to 90  later than 61: only the deadline is rewritten. 90/16 - 21/16 = 4 is too
 *                   far for level 2, so level 3 is created, that the re-filing cannot fail.
 *     poll to 99    The clock goes to 23: D. It goes to 61, the key of L2[3]; E is not due
 *                   then and is filed again: 90/16 - 61/16 = 2 < 4: L2[1]. It goes to 90: E.
 *                   Nothing is left: the clock is set to 99.
 *
 * WHY A SLOT NEVER SERVES TWO TURNS. Slots are deadlines modulo the size, so L1[3] is at the
 * same time 12..15, 28..31 and so on. The window holds `size` widths counted from the one
 * that the clock is in; the slot of that one itself is not used for arming, since what is
 * left of it fits a level lower. A bucket may still hold timers when the clock is already
 * inside its range, if they are due later in it. It cannot be wanted for the next turn before
 * it is empty: the next turn enters the window only when the clock has left the range, and
 * to leave it the clock must pass the key, at which the bucket is emptied. This is also why a
 * key that has become too early, because its timer was cancelled or moved, is not raised but
 * left to come up (nothing is due then, and all is filed again); and why an emptied bucket
 * may wait in the queue: its key lies ahead of the clock, in the same turn.
 *
 * ORDER. Between ticks: keys are never later than deadlines, and the earliest key comes
 * first. Within a tick: unspecified, for speed; or with strict_fifo that of arming. A tick's
 * timers are filed at lower and lower levels as the clock comes nearer, so what is at a
 * higher level was armed earlier: of equal keys the queue gives the higher level first, and a
 * demoted timer goes to the front (poll.c). A timer that was moved in place would break
 * that, so in strict wheels every move is a new arming.
 *
 * THE PAST. A deadline at or before the clock has no bucket: it goes to the list `due`, or
 * inside a round to `late`, which becomes `due` when the round has ended. A handler that
 * re-arms for the present tick cannot keep the round from ending.
 *
 * INVARIANTS, by the numbers that htw_wheel_check() returns. They hold between any two calls.
 *  1. Lists are sound: each link's _back is the address of the pointer that leads to it, and
 *     each list leads to its own end.
 *  2. Each timer in a list has the wheel's mark, and the place and slot of that list.
 *  3. The delay queue is sound: heap and bitmap hold the buckets that have a key, under it.
 *  4. A bucket that is not queued is empty.
 *  5. No timer is due before the key of its bucket; in strict wheels, nor after its range.
 *  6. A queued key lies in the range of its bucket, within the window of its level, not before
 *     the clock; outside a round, after it.
 *  7. `due` and `late` hold deadlines up to the clock, `never` only HTW_NEVER_TICK; outside a round
 *     `late` is empty.
 *  8. At least one level exists, and each that a pending timer would need if filed now. The
 *     ends of the windows are those of the clock, and `reach` is not beyond the last.
 *  9. scheduled - cancelled - expired - drained is the number of timers in the lists.
 *
 * COSTS. Arm, cancel and move: O(1); an arm for a bucket above the lowest level that was empty
 * or is now needed earlier, O(log buckets). A timer that is not moved is demoted at most once a
 * level. A poll: O(1) a timer, and O(log buckets) a bucket above the lowest level. What limits
 * an arm and a cancel is the cache misses of the timer and of its two neighbours, when millions
 * are pending: docs/choices.md.
 */
#include "state.h"

#include <errno.h>

_Static_assert(sizeof(struct htw_timer) == 16 + 2 * sizeof(void *),
               "timers are 32 bytes on 64-bit machines; millions of them are held");
_Static_assert(HTW_WHEEL_SIZE_MAX *HTW_WHEEL_LEVELS_MAX < HTW__ID_DUE,
               "numbers of buckets do not reach those that mean something else");

static uint32_t chains_at(const struct htw_wheel *wheel, unsigned level) {
    if (wheel->strict_fifo)
        return 0;
    return level == 0 ? HTW__BUCKET_CHAINS_LEVEL_0 : HTW__BUCKET_CHAINS_ABOVE;
}

/* The farthest that a deadline may be, from a clock anywhere, to find its level created. */
static uint64_t distance_covered(const struct htw_wheel *wheel) {
    if (wheel->level_count == wheel->level_max)
        return UINT64_MAX;
    return (uint64_t)wheel->mask << wheel->levels[wheel->level_count - 1u].shift;
}

static int create_level(struct htw_wheel *wheel) {
    unsigned level = wheel->level_count;
    uint32_t shift = level * wheel->bits;
    uint32_t first_id = level << wheel->bits; /* of its buckets, in the delay queue */
    uint64_t widths = UINT64_MAX >> shift;    /* at the end of the range fewer than `size` fit */
    struct htw__level created = {
        .last = htw__wheel_window_end(wheel, shift, wheel->clock),
        .buckets = htw__buckets_of((widths < wheel->mask ? (uint32_t)widths : wheel->mask) + 1,
                                   chains_at(wheel, level)),
        .first_where = wheel->mark | (uint64_t)level << wheel->bits,
        .shift = shift,
    };
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
    wheel->levels[level + 1].last = UINT64_MAX;
    wheel->level_count++;
    wheel->reach = htw__wheel_measure_reach(wheel);
    return 0;
}

/* Finds where a deadline belongs, and creates the levels up to there. */
static int create_place(struct htw_wheel *wheel, uint64_t deadline, unsigned *ret_place) {
    unsigned place;
    while ((place = htw__wheel_place(wheel, deadline)) == wheel->level_count) {
        int error = create_level(wheel);
        if (error != 0)
            return error;
    }
    *ret_place = place;
    return 0;
}

static bool options_are_valid(const struct htw_wheel_options *options) {
    uint32_t size = options->size;
    return options->struct_size == sizeof(*options) &&
           (size == 0 || (size >= HTW_WHEEL_SIZE_MIN && size <= HTW_WHEEL_SIZE_MAX &&
                          (size & (size - 1)) == 0)) &&
           options->start != HTW_NEVER_TICK &&
           (options->allocator == NULL || htw__allocator_is_valid(options->allocator));
}

static void init(struct htw_wheel *wheel, const struct htw_wheel_options *options) {
    uint32_t size = options->size == 0 ? HTW_WHEEL_SIZE_DEFAULT : options->size;
    *wheel = (struct htw_wheel) {
        .clock = options->start,
        /* The address tells wheels apart that live at the same time. */
        .mark = (uint64_t)((uint32_t)((uintptr_t)wheel / HTW__CACHE_LINE) | 1u) << 32,
        .mask = size - 1,
        .bits = (uint8_t)__builtin_ctz(size),
        .level_max = (uint8_t)(63 / __builtin_ctz(size) + 1),
        .strict_fifo = options->strict_fifo,
    };
    htw__ring_init(&wheel->due);
    htw__ring_init(&wheel->late);
    htw__ring_init(&wheel->never);
    htw__delay_queue_init(&wheel->queue, size);
}

int htw_wheel_create(struct htw_wheel **ret_wheel, const struct htw_wheel_options *options) {
    static const struct htw_wheel_options defaults = HTW_WHEEL_OPTIONS_INIT;
    if (options == NULL)
        options = &defaults;
    if (ret_wheel == NULL || !options_are_valid(options))
        return -EINVAL;
    const struct htw_allocator *allocator =
        options->allocator == NULL ? &htw__default_allocator : options->allocator;
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
    timer->_where = 0;
    return true;
}

void htw_wheel_destroy(struct htw_wheel *wheel) {
    if (wheel == NULL)
        return;
    htw_wheel_for_each(wheel, mark_not_pending, NULL);
    struct htw_allocator allocator = wheel->allocator;
    for (unsigned level = 0; level < wheel->level_count; level++)
        htw__release(&allocator, wheel->levels[level].buckets.lists,
                     htw__buckets_bytes(&wheel->levels[level].buckets));
    htw__delay_queue_fini(&wheel->queue, &allocator);
    htw__release(&allocator, wheel, sizeof(*wheel));
}

int htw_wheel_reserve(struct htw_wheel *wheel, uint64_t horizon) {
    if (wheel == NULL)
        return -EINVAL;
    int error = 0;
    while (error == 0 && distance_covered(wheel) < horizon)
        error = create_level(wheel);
    return error;
}

void htw_timer_init(struct htw_timer *timer) {
    if (timer != NULL)
        *timer = (struct htw_timer) { 0 };
}

bool htw_timer_is_pending(const struct htw_timer *timer) {
    return timer != NULL && timer->_where != 0;
}

uint64_t htw_timer_deadline(const struct htw_timer *timer) {
    return timer == NULL ? HTW_NEVER_TICK : timer->_deadline;
}

/* Files a timer, pending or not, where it belongs now. */
static int arm(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    unsigned place;
    int error = create_place(wheel, deadline, &place);
    if (error != 0)
        return error;
    if (timer->_where != 0) {
        htw__link_unlink(&timer->_link);
        htw__wheel_insert(wheel, timer, deadline, place, wheel->moved++);
    } else {
        htw__wheel_insert(wheel, timer, deadline, place, wheel->scheduled++);
    }
    HTW_ASSERT_WHEEL(wheel);
    return 0;
}

/*
 * Moves a pending timer by rewriting its deadline, if that will do:
 *  - to a later one: its bucket comes up no later than the old deadline, and then re-files
 *    it; only the level that it will need then must be created now, since a poll cannot fail;
 *  - to an earlier one with the same slot, which is in the range of its bucket (the key may
 *    have to follow) or, if it was moved to a later turn before, comes after that: a slot
 *    serves one turn at a time.
 * A move to HTW_NEVER_TICK is none of these: the bucket would come up for nothing.
 * Strict FIFO takes a move for a new arming: the timer must go to the end of its tick.
 */
static bool move_in_place(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    uint32_t id = htw__timer_id(timer);
    if (wheel->strict_fifo || !htw__id_is_bucket(id) || deadline <= wheel->clock ||
        deadline == HTW_NEVER_TICK)
        return false;
    if (deadline >= timer->_deadline) {
        unsigned place;
        if (create_place(wheel, deadline, &place) != 0)
            return false;
    } else {
        unsigned level = htw__wheel_id_level(wheel, id);
        if (htw__wheel_slot(wheel, level, deadline) != (id & wheel->mask))
            return false;
        htw__delay_queue_offer(&wheel->queue, id, deadline);
    }
    timer->_deadline = deadline;
    wheel->moved++;
    HTW_ASSERT_WHEEL(wheel);
    return true;
}

static bool may_arm(const struct htw_wheel *wheel, const struct htw_timer *timer) {
    return wheel != NULL && timer != NULL && (timer->_where == 0 || htw__wheel_owns(wheel, timer));
}

static __attribute__((noinline)) int schedule_slow(struct htw_wheel *wheel, struct htw_timer *timer,
                                                   uint64_t deadline) {
    if (!may_arm(wheel, timer))
        return -EINVAL;
    wheel->reach = htw__wheel_measure_reach(wheel);
    if (timer->_where != 0 && move_in_place(wheel, timer, deadline))
        return 0;
    return arm(wheel, timer, deadline);
}

static __attribute__((noinline)) int enqueue(struct htw_wheel *wheel, uint32_t id,
                                             uint64_t deadline) {
    htw__delay_queue_offer(&wheel->queue, id, deadline);
    HTW_ASSERT_WHEEL(wheel);
    return 0;
}

/* The common move: to a later deadline within reach. move_in_place() tells why it may do this. */
static __attribute__((noinline)) int postpone(struct htw_wheel *wheel, struct htw_timer *timer,
                                              uint64_t deadline) {
    if (wheel->strict_fifo || deadline < timer->_deadline || !htw__wheel_owns(wheel, timer) ||
        !htw__id_is_bucket(htw__timer_id(timer)))
        return schedule_slow(wheel, timer, deadline);
    timer->_deadline = deadline;
    wheel->moved++;
    HTW_ASSERT_WHEEL(wheel);
    return 0;
}

/*
 * What is common comes first, and calls nothing except as its last act, so that no
 * register must be saved: stores are what limits an arm when timers are many (bucket.h).
 */
static inline int schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    if (wheel == NULL || timer == NULL || deadline <= wheel->clock || deadline > wheel->reach)
        return schedule_slow(wheel, timer, deadline);
    if (timer->_where != 0)
        return postpone(wheel, timer, deadline);
    uint32_t id = htw__wheel_link(wheel, timer, deadline, htw__wheel_level_for(wheel, deadline),
                                  wheel->scheduled++);
    if (htw__delay_queue_wants(&wheel->queue, id, deadline) || HTW_CHECK_LEVEL > 1)
        return enqueue(wheel, id, deadline);
    return 0;
}

int htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t deadline) {
    return schedule(wheel, timer, deadline);
}

/*
 * The tick in [earliest, latest] that is divisible by the highest power of two: above the
 * highest bit in which earliest - 1 and latest differ, no multiple lies between; at that
 * bit exactly one does.
 */
static uint64_t slack_tick(uint64_t earliest, uint64_t latest) {
    if (earliest == 0)
        return 0;
    unsigned bit = 63u - (unsigned)__builtin_clzll((earliest - 1) ^ latest);
    return latest >> bit << bit;
}

/*
 * A tick that is round enough starts a bucket at the level where the normal rule files it, so
 * that it is not demoted. Filing it in a coarser bucket that starts there would gain nothing.
 */
int htw_wheel_schedule_within(struct htw_wheel *wheel, struct htw_timer *timer, uint64_t earliest,
                              uint64_t latest) {
    if (earliest > latest)
        return -EINVAL;
    if (earliest == HTW_NEVER_TICK)
        return schedule(wheel, timer, HTW_NEVER_TICK);
    if (latest == HTW_NEVER_TICK)
        latest = HTW_NEVER_TICK - 1;
    return schedule(wheel, timer, slack_tick(earliest, latest));
}

bool htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer) {
    if (wheel == NULL || timer == NULL || !htw__wheel_owns(wheel, timer))
        return false;
    htw__link_unlink(&timer->_link);
    timer->_where = 0;
    wheel->cancelled++;
    HTW_ASSERT_WHEEL(wheel);
    return true;
}

uint64_t htw_wheel_now(const struct htw_wheel *wheel) {
    return wheel == NULL ? HTW_NEVER_TICK : wheel->clock;
}

size_t htw_wheel_count(const struct htw_wheel *wheel) {
    return wheel == NULL
               ? 0
               : (size_t)(wheel->scheduled - wheel->cancelled - wheel->expired - wheel->drained);
}
