/* SPDX-License-Identifier: MIT */
/*
 * steady.h - what the purgatory needs of a scheduler and cannot ask through the public header: a
 * clock for durations, whether the scheduler has threads, and whether it was stopped.
 *
 * The steady clock of a scheduler is the scheduler's own clock. Only where that is the wall clock,
 * it is CLOCK_MONOTONIC, which is never set. (A manual clock is set by its user, who wants timeouts
 * to follow.) The timers of the scheduler go by the wall clock all the same. So a timer that stands
 * for a steady instant is set to what the wall clock is going to show then, and must be set again
 * when the wall clock was set. A watch is told of that.
 */
#ifndef HTW_SRC_SCHEDULER_STEADY_H
#define HTW_SRC_SCHEDULER_STEADY_H

#include "../base/list.h"

#include <htw/scheduler.h>

/* The steady clock. */
int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler);

/* Whether it goes back when the user says so: HTW_CLOCK_MANUAL. */
bool htw__steady_is_manual(const struct htw_scheduler *scheduler);

/* What the scheduler's clock is going to show at an instant of the steady clock, or a little less:
   a timer that is set to it does not fire late. */
int64_t htw__steady_to_clock_ns(const struct htw_scheduler *scheduler, int64_t steady_ns);

struct htw__clock_watch {
    struct htw__link link;
    /* The wall clock was set. May take locks under which the scheduler is called; must not add or
       remove a watch. In a thread that runs the scheduler. */
    void (*clock_was_set)(struct htw__clock_watch *watch);
};

void htw__clock_watch_add(struct htw_scheduler *scheduler, struct htw__clock_watch *watch);

/* Waits until `clock_was_set` has returned, if it runs. */
void htw__clock_watch_remove(struct htw_scheduler *scheduler, struct htw__clock_watch *watch);

/* Tells the watches if the wall clock was set. For the threads that run the scheduler, each time
   that they wake up: the kernel wakes them up when the wall clock is set (alarm.h). */
void htw__clock_watch_look(struct htw_scheduler *scheduler);

/* Once each, for who creates and destroys the scheduler. */
void htw__clock_watch_init(struct htw_scheduler *scheduler);
void htw__clock_watch_fini(struct htw_scheduler *scheduler);

/* Whether callbacks run without any help of the user: neither in embedded mode nor in manual time.
   Not in a child. */
bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler);

/* Whether htw_scheduler_stop() has begun. */
bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_STEADY_H */
