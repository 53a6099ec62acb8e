/* SPDX-License-Identifier: MIT */
/*
 * htw/wheel.h - a hierarchical timing wheel: an engine for very many timers, most of which are
 * cancelled or moved before they expire.
 *
 * The wheel works with integers. Time is a 64-bit number of ticks that the caller passes in; the
 * caller decides how long a tick is. The wheel has no clock, no thread, no lock and no callback. It
 * allocates memory only when it is created, and when a deadline needs a level that does not exist
 * yet (htw_wheel_reserve() creates the levels in advance).
 *
 *     struct job { int id; struct htw_timer timer; };
 *
 *     if (htw_wheel_schedule(wheel, &job->timer, now + 30000) != 0) ...
 *     ...
 *     struct htw_timer *timer;
 *     while ((timer = htw_wheel_poll(wheel, now)) != NULL)
 *         handle(HTW_CONTAINER_OF(timer, struct job, timer));
 *     sleep_until(htw_wheel_next(wheel));
 *
 * Words. To arm a timer is to give it a deadline. An armed timer is pending until a poll hands it
 * out (it expires), it is cancelled, or it is drained. To move a timer is to arm it again while it
 * is pending.
 *
 * Threads. A wheel and its timers belong to one thread at a time; two wheels are independent. No
 * function blocks. No function calls user code, except the allocator, the visitor of
 * htw_wheel_for_each(), and the stream of htw_wheel_dump(). htw/wheel_inspect.h has
 * counters and what tools need.
 *
 * Rounds. A round is a sequence of polls. It begins with the first poll and ends with the poll that
 * reports that no timer is due any more. That poll sets the clock of the wheel to the `now` that it
 * was given, unless the clock is already later.
 *
 * Guarantees:
 *  1. A timer is handed out once, not before the clock has reached its deadline, and never after it
 *     was cancelled.
 *  2. Timers are handed out in order of deadline. Within one tick the order is deterministic (the
 *     same calls give the same order) but unspecified. With `strict_fifo` it is the order in which
 *     the timers were armed; a move counts as arming.
 *  3. Advancing by 10 ticks gives the same result as advancing ten times by 1, except for timers
 *     that are armed inside a round and, without `strict_fifo`, for the order within a tick.
 *  4. A loop of polls with the same `now` always ends. A timer that is armed inside a round for the
 *     tick of the clock or an earlier one is handed out in the next round; armed outside a round,
 *     by the next poll. In both cases it is handed out after the timers that were already due, even
 *     if its deadline is earlier, and in the order of arming.
 *  5. Arming hands out no timer.
 *  6. A `now` that is earlier than the clock counts as the time of the clock.
 *  7. A timer that is due but not yet handed out can still be cancelled.
 */
#ifndef HTW_WHEEL_H
#define HTW_WHEEL_H

#include <htw/base.h>

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A deadline that the clock never reaches, in ticks. */
#define HTW_NEVER_TICK UINT64_MAX

/** The number of buckets in a level: least, default and most. */
#define HTW_WHEEL_SIZE_MIN 2u
#define HTW_WHEEL_SIZE_DEFAULT 256u
#define HTW_WHEEL_SIZE_MAX 4096u

/** The most levels that a wheel can have (if a level has 2 buckets). */
#define HTW_WHEEL_LEVELS_MAX 64u

/**
 * A timer. Embed it in the struct that the timer is for; the members are private. 32 bytes;
 * 24 where a pointer has 32 bits.
 *
 * htw_timer_init() or zeroing initialises it, before any other call. The memory is always the caller's; while
 * the timer is pending, do not move, free or overwrite it.
 */
struct htw_timer {
    struct htw__link _link;
    uint64_t _deadline;
    uint64_t _location; /* 0: not pending; otherwise the mark of its wheel, and its place there */
};

/** A timing wheel; opaque. */
struct htw_wheel;

/** The options of a wheel. Start from HTW_WHEEL_OPTIONS_INIT. */
struct htw_wheel_options {
    /** sizeof(struct htw_wheel_options); HTW_WHEEL_OPTIONS_INIT sets it. */
    size_t struct_size;
    /**
     * The number of buckets in each level: a power of two from HTW_WHEEL_SIZE_MIN to
     * HTW_WHEEL_SIZE_MAX; 0 means HTW_WHEEL_SIZE_DEFAULT. With 256, a timer that is not cancelled
     * is demoted once for delays up to 65 536 ticks, and twice for delays up to 16 million.
     */
    uint32_t size;
    /** Whether timers of one tick are handed out in the order in which they were armed. */
    bool strict_fifo;
    /** The first value of the clock, in ticks; less than HTW_NEVER_TICK. */
    uint64_t start;
    /** The allocator; NULL means the default one. The struct is copied. */
    const struct htw_allocator *allocator;
};

/** The defaults: 256 buckets in a level, any order within a tick, start 0, default allocator. */
#define HTW_WHEEL_OPTIONS_INIT HTW__INIT(htw_wheel_options)

/**
 * Creates a wheel with its lowest level.
 *
 * @param ret_wheel receives the wheel. The caller owns it, and destroys it with
 *                  htw_wheel_destroy().
 * @param options   NULL: the defaults. The library keeps no pointer to them.
 * @return 0: success;
 *         -EINVAL: `ret_wheel` is NULL, `struct_size` is unknown, `size` is out of range or not a
 *         power of two, `start` is HTW_NEVER_TICK, or a function of the allocator is NULL;
 *         -ENOMEM.
 *
 * Memory: about 24 KiB with 256 buckets.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_create(struct htw_wheel **ret_wheel,
                                             const struct htw_wheel_options *options);

/**
 * Destroys a wheel. NULL is ignored.
 *
 * Writes to every pending timer, so their memory must still exist. Afterwards no timer of the wheel
 * is pending: each may be freed, or armed in another wheel. Cost: O(pending + buckets).
 */
HTW_API void htw_wheel_destroy(struct htw_wheel *wheel);

/**
 * Initialises a timer, which is not pending then; the same as zeroing it. Do not call this for a
 * pending timer: a build with assertions aborts when it gets to it. NULL is ignored. Cost: O(1).
 */
static inline void htw_timer_init(struct htw_timer *timer) {
    if (timer == NULL)
        return;
    timer->_link._next = NULL;
    timer->_link._back = NULL;
    timer->_deadline = 0;
    timer->_location = 0;
}

/** Returns whether a timer is pending in any wheel: it was armed, and neither handed out nor cancelled since. */
static inline bool htw_timer_is_pending(const struct htw_timer *timer) {
    return timer != NULL && timer->_location != 0;
}

/** Returns the deadline with which a timer was last armed, in ticks, whether it is pending or not; after
    htw_wheel_schedule_within() the tick that was chosen. HTW_NEVER_TICK for NULL. */
static inline uint64_t htw_timer_deadline(const struct htw_timer *timer) {
    return timer == NULL ? HTW_NEVER_TICK : timer->_deadline;
}

/**
 * Arms a timer, or moves it if it is pending.
 *
 * @param timer    initialised; pending in this wheel or in no wheel.
 * @param deadline absolute, in ticks; any 64-bit value. At or before the clock: the timer is due at
 *                 once (guarantee 4). HTW_NEVER_TICK: it is pending and can be cancelled, but is
 *                 never handed out by a poll; this never fails for lack of memory.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or the timer is pending in another wheel (recognised by a
 *         32-bit mark, which two wheels may share by chance);
 *         -ENOMEM: a level is needed and could not be created.
 *
 * After a failure no timer has changed: a pending one is still pending with its old deadline. If
 * several levels were needed, those that could be created remain.
 *
 * Cost: O(1); O(buckets) if a level is created. A move to a later deadline only writes the new deadline (not with
 * `strict_fifo`): the timer changes its bucket when its old deadline is reached, and until then
 * htw_wheel_next() may return the old deadline.
 * The model is Kafka's TimingWheel.add; src/wheel/wheel.c says what differs.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer,
                                               uint64_t deadline);

/**
 * Arms or moves a timer that may expire at any tick of a range (a deadline with slack).
 *
 * The wheel chooses the tick of [earliest, latest] that is divisible by the highest power of two,
 * so that timers whose ranges overlap tend to get the same tick. With a slack of 1 % of the delay,
 * nearly all separate wake-ups disappear. If the range is at least one bucket wide at the timer's
 * level, the timer is never demoted. The choice does not depend on the clock: if the range begins
 * in the past, the tick may be in the past, and the timer due at once.
 *
 * @param timer    as in htw_wheel_schedule().
 * @param earliest the first allowed tick.
 * @param latest   the last allowed tick; at least `earliest`. If it is HTW_NEVER_TICK and
 *                 `earliest` is not, the chosen tick is still finite.
 * @return as htw_wheel_schedule();
 *         -EINVAL also if `earliest` is greater than `latest`.
 *
 * htw_timer_deadline() returns the chosen tick. Cost: as htw_wheel_schedule().
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_schedule_within(struct htw_wheel *wheel,
                                                      struct htw_timer *timer, uint64_t earliest,
                                                      uint64_t latest);

/**
 * Cancels a timer, and reports whether it was pending.
 *
 * @return true: it was pending in this wheel, and is not handed out any more;
 *         false: it was not pending here (never armed, handed out, cancelled before, or pending in
 *         another wheel), or an argument is NULL. Nothing has changed.
 *
 * Afterwards the wheel has no reference to the timer: its memory may be freed. Cost: O(1), always.
 */
HTW_API bool htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer);

/**
 * Hands out the next timer that is due at `now`.
 *
 * @param now the present tick. Earlier than the clock: taken as the clock. HTW_NEVER_TICK: taken as
 *            HTW_NEVER_TICK - 1.
 * @return a timer, in the order of guarantee 2: it is not pending any more, and may be armed again
 *         or freed;
 *         NULL: no timer is due any more, and the round has ended; or `wheel` is NULL.
 *
 * Between two polls any timer may be armed, moved or cancelled.
 * Cost: O(1) for each timer, and O(levels) for each bucket. One call may have to demote all
 * timers of a bucket before it finds one that is due; if that can take too long, use
 * htw_wheel_poll_batch().
 */
HTW_API HTW_WARN_UNUSED struct htw_timer *htw_wheel_poll(struct htw_wheel *wheel, uint64_t now);

/**
 * Hands out several timers with bounded work, and reports whether more work is left.
 *
 * @param now       as in htw_wheel_poll().
 * @param timers    receives the timers, in the order of guarantee 2.
 * @param max       the room in `timers`; at least 1.
 * @param budget    the most steps; 0 means no limit. A step hands out one timer, demotes one timer,
 *                  or discards one empty bucket. (With `strict_fifo`, a timer that is due above the
 *                  lowest level may take two.)
 * @param ret_count receives the number of timers, 0 to `max`. It may be 0 with HTW_MORE, if the
 *                  budget was used up for other steps.
 * @return HTW_DONE: nothing is due any more, and the round has ended. With a budget, the empty
 *         buckets before the next deadline have been discarded, too: htw_wheel_next() takes O(1)
 *         until the next cancel or move;
 *         HTW_MORE: the batch is full, or the budget is used up;
 *         -EINVAL: a pointer is NULL or `max` is 0.
 *
 * All timers of the batch are not pending any more: the handler of one cannot cancel another one of
 * the same batch. If that matters, use `max` 1 or htw_wheel_poll().
 */
HTW_API int htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                                 size_t max, size_t budget, size_t *ret_count);

/**
 * Returns the tick at which to poll next, never later than the earliest deadline after the clock.
 *
 * @return the current clock: timers are due, or the round has timers left to demote at this tick;
 *         HTW_NEVER_TICK: no pending timer has a deadline, or `wheel` is NULL;
 *         otherwise a tick after the clock: the earliest deadline, or an earlier tick if the timer
 *         with that deadline was cancelled or moved and its bucket has another timer. A poll at
 *         such a tick hands out nothing, and corrects the value.
 *
 * Discards buckets that cancels have emptied, so it changes the wheel. Cost: O(1), and
 * O(levels) for each discarded bucket; arming a timer adds one bucket at most. To bound that, first
 * call htw_wheel_poll_batch() with a budget until it returns HTW_DONE.
 */
HTW_API uint64_t htw_wheel_next(struct htw_wheel *wheel);

/**
 * Returns the clock of the wheel.
 *
 * @return the tick up to which all timers were handed out, or inside a round the tick that the
 *         round has reached; HTW_NEVER_TICK for NULL.
 *
 * Cost: O(1).
 */
HTW_API uint64_t htw_wheel_now(const struct htw_wheel *wheel);

/** Returns how many timers are pending, those with HTW_NEVER_TICK included; 0 for NULL. O(1). */
HTW_API size_t htw_wheel_count(const struct htw_wheel *wheel);

/**
 * Creates all levels for deadlines up to `horizon` ticks after the clock. From then on, arming a
 * timer with a deadline of at most the present clock + horizon cannot fail.
 *
 * @param horizon in ticks; HTW_NEVER_TICK: all levels that the wheel can have.
 * @return 0: success, also if the levels existed before;
 *         -EINVAL: `wheel` is NULL;
 *         -ENOMEM: the levels that could be created remain; nothing else has changed.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_reserve(struct htw_wheel *wheel, uint64_t horizon);

/**
 * Removes and returns any pending timer, also one that is not due: to shut down, or to move all timers
 * to another wheel.
 *
 * @return a timer, which is not pending any more. The order is unspecified; htw_wheel_poll() with
 *         HTW_NEVER_TICK returns all timers that have a deadline in order, but moves the clock;
 *         NULL: no timer is pending, or `wheel` is NULL.
 *
 * Does not change the clock. Cost: O(1) amortised.
 */
HTW_API HTW_WARN_UNUSED struct htw_timer *htw_wheel_drain(struct htw_wheel *wheel);

/** Called for one timer. Returns true to continue, false to stop. */
typedef bool htw_wheel_visitor(struct htw_timer *timer, void *arg);

/**
 * Calls `visitor` for each pending timer, and returns the number of calls.
 *
 * @param visitor must not free the timer, nor call a function that changes the wheel
 *                (htw_wheel_next() is one).
 * @param arg     is passed to `visitor`.
 * @return the number of timers visited, in no particular order, those with HTW_NEVER_TICK included;
 *         0 if `wheel` or `visitor` is NULL.
 *
 * Cost: O(pending + buckets).
 */
HTW_API size_t htw_wheel_for_each(struct htw_wheel *wheel, htw_wheel_visitor *visitor, void *arg);

#ifdef __cplusplus
}
#endif

#endif /* HTW_WHEEL_H */
