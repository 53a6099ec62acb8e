/* SPDX-License-Identifier: MIT */
/*
 * htw/wheel_inspect.h - looks into a wheel: its counters, how full its levels are, and whether its memory is
 * intact. For tests, tools and debugging.
 *
 * Threads are as in htw/wheel.h: a wheel belongs to one thread at a time.
 */
#ifndef HTW_WHEEL_INSPECT_H
#define HTW_WHEEL_INSPECT_H

#include <htw/wheel.h>

#ifndef HTW_FREESTANDING
#include <stdio.h>
#endif

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns how many buckets a level has: `size`, except that the last level that a wheel can have ends with
 * the ticks of 64 bits, where that is fewer (16 buckets with a `size` of 64, for example).
 *
 * @param level from 0, the lowest; htw_wheel_stats.levels says how many there are.
 * @return the number, a power of two; 0: the level does not exist, or `wheel` is NULL.
 *
 * Cost: O(1).
 */
HTW_API uint32_t htw_wheel_level_buckets(const struct htw_wheel *wheel, unsigned level);

/**
 * Counts the timers in some buckets of a level, up to a limit, and returns the number: to show how
 * full a wheel is, with bounded work.
 *
 * @param level as in htw_wheel_level_buckets().
 * @param first the first bucket. A deadline of level i belongs to bucket
 *              `deadline / size^i % size` while it is in the window of that level.
 * @param count how many buckets; they end with the last of the level.
 * @param most  the counting stops there.
 * @return the number of timers, at most `most`; 0 also if the level or the bucket does not exist,
 *         or `wheel` is NULL. Timers with HTW_NEVER_TICK, and those that are due, are in no bucket.
 *
 * Cost: O(count + most).
 */
HTW_API size_t htw_wheel_count_in(const struct htw_wheel *wheel, unsigned level, uint32_t first,
                                  uint32_t count, size_t most);

/** A bucket of the delay queue. */
struct htw_wheel_bucket {
    uint64_t tick; /**< when the clock comes to it: at most the earliest deadline in it */
    uint64_t
        timers;     /**< how many are in it; 0 if all were cancelled and it was not discarded yet */
    uint32_t level; /**< from 0, the lowest */
    uint32_t number; /**< its place in the level, from 0 */
};

/**
 * Finds the first buckets of the delay queue, in the order in which the clock comes to them, and returns
 * their number: to show what a wheel does next.
 *
 * @param buckets has room for `max` buckets.
 * @param max     how many to find at most.
 * @return how many were found: `max`, or all; 0 also if a pointer is NULL.
 *
 * Cost: O(max * buckets of the wheel + their timers).
 */
HTW_API size_t htw_wheel_first_buckets(const struct htw_wheel *wheel,
                                       struct htw_wheel_bucket buckets[], size_t max);

/**
 * Checks all invariants of a wheel, and reports which one is broken. For tests and debugging.
 *
 * @return 0: all hold;
 *         1 or more: the number of a broken invariant in the list of src/wheel/wheel.c. Memory was
 *         overwritten, a pending timer was freed or initialised, two threads used the wheel at the
 *         same time, or htw has a bug;
 *         -EINVAL: `wheel` is NULL.
 *
 * Cost: O(pending + buckets).
 */
HTW_API HTW_WARN_UNUSED int htw_wheel_check(const struct htw_wheel *wheel);

#ifndef HTW_FREESTANDING
/**
 * Writes the state of a wheel as text: the clock, for each level a line that shows how full its
 * buckets are, the first eight buckets of the delay queue with keys and counts, and the counters.
 *
 * @return 0: success;
 *         -EINVAL: a pointer is NULL;
 *         -EIO: writing to the stream failed.
 *
 * Cost: O(pending + buckets).
 */
HTW_API int htw_wheel_dump(const struct htw_wheel *wheel, FILE *stream);
#endif

/**
 * Exact counters. At any time scheduled = cancelled + expired + drained + pending.
 */
struct htw_wheel_stats {
    /** sizeof(struct htw_wheel_stats); HTW_WHEEL_STATS_INIT sets it. */
    size_t struct_size;
    uint64_t scheduled;      /**< timers armed that were not pending */
    uint64_t moved;          /**< timers armed that were pending */
    uint64_t cancelled;      /**< calls of htw_wheel_cancel() that returned true */
    uint64_t expired;        /**< timers handed out by polls */
    uint64_t drained;        /**< timers returned by htw_wheel_drain() */
    uint64_t demoted;        /**< number of demotions */
    uint64_t advances;       /**< times the clock advanced to a bucket in use */
    uint64_t pending;        /**< timers pending now */
    uint32_t levels;         /**< levels that exist */
    uint32_t size;           /**< buckets in a level: htw_wheel_level_buckets() */
    uint32_t queued_buckets; /**< buckets in the delay queue, empty ones included */
    uint64_t memory_bytes;   /**< memory of the wheel, without timers */
};

#define HTW_WHEEL_STATS_INIT HTW__INIT(htw_wheel_stats)

/**
 * Copies the counters of a wheel to `stats`.
 *
 * @param stats its `struct_size` must be set, as HTW_WHEEL_STATS_INIT does.
 * @return 0: success;
 *         -EINVAL: a pointer is NULL, or `struct_size` is unknown.
 *
 * Cost: O(levels). The counters do not say how many timers each level has, because that would cost
 * each cancel a cache miss; htw_wheel_count_in() and htw_wheel_dump() count them.
 */
HTW_API int htw_wheel_get_stats(const struct htw_wheel *wheel, struct htw_wheel_stats *stats);

#ifdef __cplusplus
}
#endif

#endif /* HTW_WHEEL_INSPECT_H */
