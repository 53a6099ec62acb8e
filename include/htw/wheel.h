/* SPDX-License-Identifier: MIT */
/*
 * htw/wheel.h - the hierarchical timing wheel: a pure engine for very many
 * timers, most of which are cancelled or moved before they expire.
 *
 * The wheel knows integers only. Time is a 64-bit count of ticks that the caller
 * passes in; a tick is whatever the caller says it is. There is no clock here, no
 * thread, no lock, no callback, and no allocation while timers are armed, except
 * when a deadline needs a level that does not exist yet (htw_wheel_reserve moves
 * that to the start).
 *
 *     struct job { int id; struct htw_timer timer; };
 *
 *     htw_wheel_schedule(wheel, &job->timer, now + 30000);
 *     ...
 *     struct htw_timer *timer;
 *     while ((timer = htw_wheel_poll(wheel, now)) != NULL)
 *         handle(HTW_CONTAINER_OF(timer, struct job, timer));
 *     sleep_until(htw_wheel_next(wheel));
 *
 * Thread-safety: a wheel and its timers belong to one thread at a time; two
 * wheels have nothing in common. No function of this header blocks. None calls
 * user code, except the allocator, the visitor of htw_wheel_for_each, and the
 * stream of htw_wheel_dump.
 *
 * Rounds. A round runs from the first poll to the one that reports that nothing
 * is left; that one sets the clock to max(clock, now).
 *
 * Guarantees:
 *  1. Never early, never lost, exactly once: a timer is handed out when the clock
 *     has reached its deadline, not before, and once; a cancelled one never is.
 *  2. Order: by deadline. Within one tick the order is deterministic (the same
 *     calls give the same order) but unspecified, unless the wheel was created
 *     with `strict_fifo`: then it is the order of arming, where a move counts as
 *     a new arming.
 *  3. Advancing by 10 ticks equals advancing ten times by 1 (except for what is
 *     armed inside a round and, without strict_fifo, the order within a tick).
 *  4. A poll loop with a fixed `now` always ends: what is armed inside a round for
 *     the clock's tick or earlier comes out in the next round. Armed outside a
 *     round, it comes out with the next poll. In both cases it comes after what
 *     was already due, in the order of arming, whatever its deadline in the past.
 *  5. Arming never hands out and never runs anything.
 *  6. A `now` that lies before the clock is taken as the clock.
 *  7. Cancelling a timer that is due but was not handed out yet prevents it.
 */
#ifndef HTW_WHEEL_H
#define HTW_WHEEL_H

#include <htw/base.h>

#include <stdbool.h>
#include <stdio.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A deadline that never comes; also htw_wheel_next() of a wheel without deadlines. */
#define HTW_NEVER_TICK UINT64_MAX

/** The fewest, the default, and the most buckets that a level may have. */
#define HTW_WHEEL_SIZE_MIN 2u
#define HTW_WHEEL_SIZE_DEFAULT 256u
#define HTW_WHEEL_SIZE_MAX 4096u

/** The most levels that a wheel can have (a wheel of size 2). */
#define HTW_WHEEL_LEVELS_MAX 64u

/** The object of type `type` whose member `member` is at `pointer`. */
#ifdef __cplusplus
#define HTW_CONTAINER_OF(pointer, type, member)                        \
    (static_cast<type *>(const_cast<void *>(static_cast<const void *>( \
        reinterpret_cast<const char *>(pointer) - offsetof(type, member)))))
#else
#define HTW_CONTAINER_OF(pointer, type, member) \
    ((type *)(void *)((char *)(pointer)-offsetof(type, member)))
#endif

/**
 * A timer, to be embedded in whatever waits. 32 bytes; the members are private.
 *
 * Initialised by htw_timer_init() or by zeroing. The memory is the caller's for
 * ever; while the timer is pending, it must neither move nor be freed.
 */
struct htw_timer {
    struct htw__link _link;
    uint64_t _deadline;
    uint64_t _where; /* 0: not pending; otherwise its wheel's mark and its place there */
};

/** A timing wheel; opaque. */
struct htw_wheel;

/** How to create a wheel. Start from HTW_WHEEL_OPTIONS_INIT. */
struct htw_wheel_options {
    /** sizeof(struct htw_wheel_options); set by the initialiser. */
    size_t struct_size;
    /**
     * Buckets a level: a power of two from HTW_WHEEL_SIZE_MIN to
     * HTW_WHEEL_SIZE_MAX; 0 means HTW_WHEEL_SIZE_DEFAULT. With 256, a timer that
     * is not cancelled is demoted once for delays up to 65 536 ticks, and twice up
     * to 16 million.
     */
    uint32_t size;
    /** Hand timers of one tick out in the order in which they were armed. */
    bool strict_fifo;
    /** The clock's first value, in ticks; less than HTW_NEVER_TICK. */
    uint64_t start;
    /** Where memory comes from; NULL means the default allocator (htw/base.h). */
    const struct htw_allocator *allocator;
};

/** The defaults: size 256, relaxed order within a tick, start 0, the default allocator. */
#define HTW_WHEEL_OPTIONS_INIT \
    { sizeof(struct htw_wheel_options), 0, false, 0, NULL }

/** Sets `options` to HTW_WHEEL_OPTIONS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_wheel_options_init(struct htw_wheel_options *options);

/** sizeof(struct htw_timer) in bytes, for languages that cannot include this header. */
HTW_API size_t htw_timer_size(void);

/**
 * Creates a wheel.
 *
 * @param ret_wheel where the wheel goes; the caller destroys it.
 * @param options   how; NULL means all defaults. Not kept.
 * @return 0; -EINVAL when `ret_wheel` is NULL, `struct_size` is not that of a known
 *         version, `size` is no power of two or out of range, `start` is HTW_NEVER_TICK, or
 *         an allocator lacks a function; -ENOMEM.
 *
 * Creates the lowest level only (some 14 KiB at the default size).
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_create(struct htw_wheel **ret_wheel,
                                             const struct htw_wheel_options *options);

/**
 * Destroys a wheel; NULL is allowed. Every timer that is pending is written to, so its
 * memory must still be there; afterwards none is pending, and each may be freed or armed
 * in another wheel.
 *
 * Cost: O(pending + buckets).
 */
HTW_API void htw_wheel_destroy(struct htw_wheel *wheel);

/**
 * Makes `timer` a timer that is not pending. Equal to zeroing it. Must not be
 * called while it is pending. NULL is ignored.
 */
HTW_API void htw_timer_init(struct htw_timer *timer);

/** Whether the timer is in some wheel: armed, and neither handed out nor cancelled. */
HTW_API bool htw_timer_is_pending(const struct htw_timer *timer);

/**
 * The tick for which the timer was last armed, pending or not; with
 * htw_wheel_schedule_within() the tick that was chosen. HTW_NEVER_TICK for NULL.
 */
HTW_API uint64_t htw_timer_deadline(const struct htw_timer *timer);

/**
 * Arms a timer, or moves it when it is pending.
 *
 * @param timer    initialised; pending in this wheel or in none.
 * @param deadline absolute, in ticks, anywhere in the 64-bit range. At or before the
 *                 clock it is due at once (guarantee 4). With HTW_NEVER_TICK the timer is
 *                 pending, counted and can be cancelled, but never comes out; that
 *                 needs no memory.
 * @return 0; -EINVAL when a pointer is NULL or the timer is pending in another wheel
 *         (found by a 32-bit mark, so a coincidence is possible); -ENOMEM when a level
 *         had to be created and could not be. On failure no timer has changed: one that was
 *         pending still is, with its old deadline. (Where several levels were needed, those
 *         that could be created stay.)
 *
 * Cost: O(1), and O(log buckets) when its bucket was empty or held only later
 * deadlines; O(buckets) when a level is created. A move to a later deadline merely
 * rewrites it (not with strict_fifo): the timer is filed again when its old time comes,
 * and until then htw_wheel_next() may tell of that time.
 * As Kafka's TimingWheel.add; differs: see src/wheel/wheel.c.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_schedule(struct htw_wheel *wheel, struct htw_timer *timer,
                                               uint64_t deadline);

/**
 * Arms or moves a timer that may expire at any tick of a range.
 *
 * Of the ticks in [earliest, latest] the one that is divisible by the highest power
 * of two is chosen, so that timers whose ranges overlap tend to fall due together.
 * With a slack of 1 % of the delay, nearly all wake-ups vanish. Where the range is as wide
 * as a bucket of the level that the timer goes to, it is not demoted either. The clock does
 * not matter for the choice: if the range begins in the past, the tick may lie there, and
 * the timer be due at once.
 *
 * @param earliest first tick that will do.
 * @param latest   last tick that will do, at least `earliest`. If it is HTW_NEVER_TICK and
 *                 `earliest` is not, a finite tick is chosen all the same.
 * @return as htw_wheel_schedule(), and -EINVAL when earliest > latest.
 *
 * htw_timer_deadline() tells the choice.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_schedule_within(struct htw_wheel *wheel,
                                                      struct htw_timer *timer, uint64_t earliest,
                                                      uint64_t latest);

/**
 * Cancels a timer.
 *
 * @return true when it was pending in this wheel: now it will not come out. False when
 *         there was nothing to cancel: never armed, handed out, cancelled before, of
 *         another wheel, or a NULL argument.
 *
 * Cost: O(1), always. The timer's memory is free at once: the wheel keeps no trace of it.
 */
HTW_API bool htw_wheel_cancel(struct htw_wheel *wheel, struct htw_timer *timer);

/**
 * Hands out the next timer that is due at or before `now`, in order.
 *
 * @param now the present tick (guarantee 6). HTW_NEVER_TICK is taken as HTW_NEVER_TICK - 1.
 * @return a timer, which is no longer pending and may be armed again, freed, or left;
 *         or NULL: nothing is left, the round has ended. NULL also for a NULL wheel.
 *
 * Between two calls any timer may be armed, moved or cancelled.
 * Cost: O(1) a timer, and O(log buckets) a bucket; but one call may have to demote a
 * whole bucket before it finds a timer. Where that is too long, see
 * htw_wheel_poll_batch().
 */
HTW_API HTW_WARN_UNUSED struct htw_timer *htw_wheel_poll(struct htw_wheel *wheel, uint64_t now);

/** What htw_wheel_poll_batch() returns when it does not fail. */
enum htw_wheel_progress {
    /** Nothing that is due is left; the round has ended. */
    HTW_DONE = 0,
    /** The batch is full or the budget is spent: call again. */
    HTW_MORE = 1
};

/**
 * As htw_wheel_poll(), for several timers at once and with bounded work.
 *
 * @param now       as for htw_wheel_poll().
 * @param timers    receives the timers, in order.
 * @param max       how many fit there; at least 1.
 * @param budget    the most steps to take: handing out or demoting one timer, or
 *                  discarding one bucket that is found empty, is a step (with
 *                  strict_fifo, a timer that is due above the lowest level takes two).
 *                  0 means no limit. With a budget, HTW_DONE also means that emptied
 *                  buckets before the next deadline have been discarded, so that
 *                  htw_wheel_next() takes O(1) if it comes before any cancel or move.
 * @param ret_count how many were handed out; may be 0 with HTW_MORE when the budget was
 *                  spent on other steps. Set unless -EINVAL is returned.
 * @return HTW_DONE or HTW_MORE (enum htw_wheel_progress); a full batch is always
 *         HTW_MORE; -EINVAL when a pointer is NULL or `max` is 0.
 *
 * Timers handed out are no longer pending: a handler that wants to cancel another
 * timer of the same batch finds that it cannot. Use `max` 1, or htw_wheel_poll(),
 * where that matters.
 */
HTW_API int htw_wheel_poll_batch(struct htw_wheel *wheel, uint64_t now, struct htw_timer *timers[],
                                 size_t max, size_t budget, size_t *ret_count);

/**
 * When to poll next: a tick that is never later than the earliest deadline.
 *
 * @return the clock itself while due timers wait, or while a round was left before its end
 *         and may have more to do at this tick; HTW_NEVER_TICK when no pending timer has a
 *         deadline (or for NULL); otherwise the earliest deadline, or an earlier tick,
 *         later than the clock, if the timer that had it was cancelled or moved since
 *         and its bucket holds another, armed before or after. Polling at that tick hands
 *         out nothing, and cures it.
 *
 * Discards buckets that cancels have emptied. Cost: O(1), and O(log buckets) for each bucket
 * discarded, of which an arm makes one at the most. Where that may be too many at a time, call
 * htw_wheel_poll_batch() with a budget first, until it returns HTW_DONE.
 */
HTW_API uint64_t htw_wheel_next(struct htw_wheel *wheel);

/** The clock: the tick up to which everything was handed out, or the tick that the
 *  present round has reached. HTW_NEVER_TICK for NULL. O(1). */
HTW_API uint64_t htw_wheel_now(const struct htw_wheel *wheel);

/** How many timers are pending; those with HTW_NEVER_TICK count. 0 for NULL. O(1). */
HTW_API size_t htw_wheel_count(const struct htw_wheel *wheel);

/**
 * Creates every level that deadlines up to `horizon` ticks after the clock can need:
 * from now on, no schedule for a deadline of at most clock + horizon fails, whatever
 * the clock is then.
 *
 * @param horizon in ticks; HTW_NEVER_TICK means every level there can be.
 * @return 0, also when they exist already; -EINVAL for NULL; -ENOMEM: the levels that
 *         could be created stay, all else is as before.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_reserve(struct htw_wheel *wheel, uint64_t horizon);

/**
 * Takes any pending timer out, whatever its deadline: to stop, or to move all timers
 * to another wheel.
 *
 * @return a timer that is no longer pending, or NULL when none is left. The order is
 *         unspecified; htw_wheel_poll() with HTW_NEVER_TICK gives all but those with
 *         HTW_NEVER_TICK in order of deadline, but moves the clock.
 *
 * Does not touch the clock. Cost: O(1) amortised.
 */
HTW_API HTW_WARN_UNUSED struct htw_timer *htw_wheel_drain(struct htw_wheel *wheel);

/** Visits one timer; returns false to stop. */
typedef bool htw_wheel_visitor(struct htw_timer *timer, void *arg);

/**
 * Calls `visitor` for each pending timer, in no particular order, those with HTW_NEVER_TICK
 * included. The visitor must not call anything that changes the wheel (htw_wheel_next() is
 * among that), nor free the timer.
 *
 * @return how many were visited; 0 when a pointer (other than `arg`) is NULL.
 *
 * Cost: O(pending + buckets).
 */
HTW_API size_t htw_wheel_for_each(struct htw_wheel *wheel, htw_wheel_visitor *visitor, void *arg);

/**
 * Checks every invariant of the wheel.
 *
 * @return 0 when all hold; otherwise the number of the broken one, as listed in
 *         src/wheel/wheel.c (memory was overwritten, a pending timer was freed or
 *         initialised, two threads were in the wheel, or htw has a bug); -EINVAL for NULL.
 *
 * Cost: O(pending + buckets). For tests and for the hunt.
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_check(const struct htw_wheel *wheel);

/**
 * Writes a picture of the wheel: the clock, a strip a level that shows how full its buckets
 * are, the first eight buckets of the delay queue with their keys and counts, and the counters.
 *
 * @return 0; -EINVAL when a pointer is NULL; -EIO when the stream failed.
 *
 * Cost: O(pending + buckets).
 */
HTW_API int htw_wheel_dump(const struct htw_wheel *wheel, FILE *stream);

/**
 * Counters, exact. In all moments
 * scheduled = cancelled + expired + drained + pending.
 */
struct htw_wheel_stats {
    /** sizeof(struct htw_wheel_stats); set by HTW_WHEEL_STATS_INIT. */
    size_t struct_size;
    uint64_t scheduled;      /**< timers armed that were not pending */
    uint64_t moved;          /**< timers armed that were pending */
    uint64_t cancelled;      /**< htw_wheel_cancel() that returned true */
    uint64_t expired;        /**< timers handed out by polls */
    uint64_t drained;        /**< timers taken out by htw_wheel_drain() */
    uint64_t demoted;        /**< times a timer was re-filed when its bucket came up */
    uint64_t advances;       /**< times the clock advanced to an occupied bucket */
    uint64_t pending;        /**< timers pending now */
    uint32_t levels;         /**< levels that exist */
    uint32_t size;           /**< buckets a level */
    uint32_t queued_buckets; /**< buckets in the delay queue, emptied ones included */
    uint64_t memory_bytes;   /**< memory that the wheel holds, timers not included */
};

#define HTW_WHEEL_STATS_INIT \
    { sizeof(struct htw_wheel_stats), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0 }

/** Sets `stats` to HTW_WHEEL_STATS_INIT, for languages without macros. NULL is ignored. */
HTW_API void htw_wheel_stats_init(struct htw_wheel_stats *stats);

/**
 * Fills in `stats`, whose `struct_size` must be set.
 *
 * @return 0; -EINVAL when a pointer is NULL or `struct_size` is not that of a known
 *         version; then `stats` is left alone.
 *
 * Cost: O(levels). How many timers wait at each level would cost every cancel a cache
 * miss to keep; htw_wheel_dump() counts them.
 */
HTW_API int htw_wheel_get_stats(const struct htw_wheel *wheel, struct htw_wheel_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* HTW_WHEEL_H */
