/* SPDX-License-Identifier: MIT */
/*
 * steady.h - what the purgatory needs of a scheduler and the public header does not offer: a clock
 * for durations, a notice when the scheduler's clock was set, whether the scheduler has threads, and
 * whether it was stopped.
 *
 * The steady clock of a scheduler is the scheduler's clock. If that is the wall clock, the steady
 * clock is CLOCK_MONOTONIC, which is never set. (A manual clock is set by the program, and timeouts
 * follow it.) The timers of the scheduler still use the wall clock. So a timer for an instant of
 * the steady clock is set to what the wall clock will show then, and must be set again when the
 * wall clock was set. A listener is called then.
 */
#ifndef HTW_SRC_SCHEDULER_STEADY_H
#define HTW_SRC_SCHEDULER_STEADY_H

#include "../base/list.h"
#include "../base/lock.h"

#include <htw/scheduler.h>

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler);

/* Whether the program can set it back: HTW_CLOCK_MANUAL. */
bool htw__steady_is_manual(const struct htw_scheduler *scheduler);

/* What the scheduler's clock will show at an instant of the steady clock, or a little less: a timer
   that is set to it is not late. */
int64_t htw__steady_to_clock_ns(const struct htw_scheduler *scheduler, int64_t steady_ns);

/* Whether callbacks run in threads of the library: neither in embedded mode nor in manual time. */
bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler);

/* Whether htw_scheduler_stop() has begun. */
bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler);

/* ---- who is called when the clock of the scheduler was set by the user */

struct htw__clock_listener {
    struct htw__link link;
    /* The clock was set. Called in a thread that runs the scheduler. May take locks under which
       the scheduler is called; must not add or remove a listener. */
    void (*clock_was_set)(struct htw__clock_listener *listener);
};

struct htw__clock_listeners {
    struct htw__mutex mutex;
    struct htw__link ring;
    int64_t (*read_ns)(void); /* the clock; NULL: nothing sets it, or the scheduler itself does */
    int64_t offset_ns;        /* from the monotonic clock, when the listeners were last called */
};

void htw__clock_listeners_init(struct htw__clock_listeners *listeners, int64_t (*read_ns)(void));
void htw__clock_listeners_fini(struct htw__clock_listeners *listeners);

/* Those of a scheduler. */
struct htw__clock_listeners *htw__clock_listeners_of(struct htw_scheduler *scheduler);

void htw__clock_listeners_add(struct htw__clock_listeners *listeners,
                              struct htw__clock_listener *listener);

/* Waits until `clock_was_set` has returned, if it runs. */
void htw__clock_listeners_remove(struct htw__clock_listeners *listeners,
                                 struct htw__clock_listener *listener);

/* Calls the listeners if the clock was set. The threads that run the scheduler call this each time
   that they wake up: the kernel wakes them when the wall clock is set (port/alarm.h). */
void htw__clock_listeners_notify(struct htw__clock_listeners *listeners);

#endif /* HTW_SRC_SCHEDULER_STEADY_H */
