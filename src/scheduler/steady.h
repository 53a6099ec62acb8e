/* SPDX-License-Identifier: MIT */
/*
 * steady.h - what the purgatory needs of a scheduler and the public header does not offer: a clock
 * for durations, whether the scheduler has threads, and whether it was stopped.
 *
 * The steady clock of a scheduler is its own clock. If that is the wall clock, which may be set, the
 * steady clock is CLOCK_MONOTONIC. A manual clock is set by the program, and timeouts follow it.
 */
#ifndef HTW_SRC_SCHEDULER_STEADY_H
#define HTW_SRC_SCHEDULER_STEADY_H

#include <htw/scheduler.h>

/* For the spec of a timer. */
enum htw_clock htw__steady_clock(const struct htw_scheduler *scheduler);

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler);

/* Whether the program can set it back: HTW_CLOCK_MANUAL. */
bool htw__steady_is_manual(const struct htw_scheduler *scheduler);

/* Whether callbacks run in threads of the library: neither in embedded mode nor in manual time. */
bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler);

/* Whether htw_scheduler_stop() has begun. */
bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_STEADY_H */
