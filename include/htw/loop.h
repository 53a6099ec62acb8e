/* SPDX-License-Identifier: MIT */
/*
 * htw/loop.h - for loops that sleep until a time in place of waiting for htw_scheduler_fd(), and for
 * tests that set clocks. Threads and errors are as in htw/scheduler.h.
 */
#ifndef HTW_LOOP_H
#define HTW_LOOP_H

#include <htw/scheduler.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Returns when htw_scheduler_process() has something to do.
 *
 * @return a time of the scheduler's clock: at most the earliest deadline, rounded up to a tick. It
 *         may be earlier after a timer was cancelled or moved, or while htw_scheduler_process() asks
 *         for another call (HTW_MORE). A deadline of another clock is converted by what both clocks
 *         show now, so ask again after a clock was set: unlike the file descriptor, a loop that
 *         sleeps until this time does not notice that;
 *         HTW_NEVER_NS: no timer has a deadline.
 */
HTW_API int64_t htw_scheduler_next(struct htw_scheduler *scheduler);

/** Returns the clock of a scheduler; HTW_CLOCK_MONOTONIC for NULL. */
HTW_API enum htw_clock htw_scheduler_clock(const struct htw_scheduler *scheduler);

/**
 * Returns the time of a clock that timers of the scheduler may have, in nanoseconds; 0 if they may
 * not have it, and for NULL. In a scheduler with HTW_CLOCK_MANUAL that is a manual time, too.
 */
HTW_API int64_t htw_scheduler_now_by(const struct htw_scheduler *scheduler, enum htw_clock clock);

/**
 * Sets one clock of a scheduler with HTW_CLOCK_MANUAL in one step, as a user sets the wall clock. No
 * other clock changes.
 *
 * Forward: all that has become due runs, within each shard in order of ticks. Back: nothing runs
 * that is not due at the new time.
 *
 * @param clock   one that timers of the scheduler may have; HTW_CLOCK_DEFAULT is HTW_CLOCK_MANUAL.
 * @param time_ns the new time, in nanoseconds; at least 0.
 * @return as htw_scheduler_advance(), and blocks as that;
 *         -EINVAL also if timers may not have the clock.
 */
HTW_API int htw_scheduler_set_clock(struct htw_scheduler *scheduler, enum htw_clock clock,
                                    int64_t time_ns);

#ifdef __cplusplus
}
#endif

#endif /* HTW_LOOP_H */
