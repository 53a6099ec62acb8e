/* SPDX-License-Identifier: MIT */
/*
 * steady.h - what the purgatory needs of a scheduler and the public header does not offer: a clock
 * for durations, whether the scheduler has threads, and whether it was stopped.
 *
 * The steady clock of a scheduler is the scheduler's clock. If that is the wall clock, the steady
 * clock is CLOCK_MONOTONIC, which is never set. (A manual clock is set by the program, and timeouts
 * follow it.) The timers of the scheduler still use the wall clock. So a timer for an instant of
 * the steady clock is set to what the wall clock will show then, and must be set again when the
 * wall clock was set. A listener is called then.
 */
#ifndef HTW_SRC_SCHEDULER_STEADY_H
#define HTW_SRC_SCHEDULER_STEADY_H

#include "clock_listeners.h"

#include <htw/scheduler.h>

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler);

/* Whether the program can set it back: HTW_CLOCK_MANUAL. */
bool htw__steady_is_manual(const struct htw_scheduler *scheduler);

/* What the scheduler's clock will show at an instant of the steady clock, or a little less: a timer
   that is set to it is not late. */
int64_t htw__steady_to_clock_ns(const struct htw_scheduler *scheduler, int64_t steady_ns);

/* The listener is called when the scheduler's clock was set. See clock_listeners.h. */
void htw__clock_listener_add(struct htw_scheduler *scheduler, struct htw__clock_listener *listener);
void htw__clock_listener_remove(struct htw_scheduler *scheduler,
                                struct htw__clock_listener *listener);

/* Whether callbacks run in threads of the library: neither in embedded mode nor in manual time. */
bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler);

/* Whether htw_scheduler_stop() has begun. */
bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_STEADY_H */
