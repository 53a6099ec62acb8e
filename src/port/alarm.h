/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - what a thread sleeps on until a deadline, and what an event loop polls: an absolute time
 * of a kernel clock.
 *
 * An alarm has one owner: the thread that sleeps on it, or that calls for the event loop. The owner
 * resets it, then reads when it has to wake up, then plans. A thread that arms an earlier deadline
 * meanwhile, or later, sets the alarm. It does not wake the owner, and no thread waits for another
 * one that is stopped while it sets the alarm.
 *
 * alarm_linux.c is the form of Linux, kernel timers with file descriptors (timerfd). They ignore the
 * timer slack of threads, and notice at once that the wall clock was set.
 *
 * alarm_portable.c is the form of other systems (HTW_PORTABLE), a timer (timer.h) and a mutex, so there a
 * stopped thread does hold up others. While a time is set, an alarm that watches the wall clock expires
 * every HTW__ALARM_CHECK_NS, so that its owner sees in time that this was set.
 */
#ifndef HTW_SRC_PORT_ALARM_H
#define HTW_SRC_PORT_ALARM_H

#include "../base/lock.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef HTW_PORTABLE
#include "timer.h"

#define HTW__ALARM_CHECK_NS INT64_C(1000000000)
#endif

struct htw__alarm {
    htw__system_clock clock; /* of the times that it is set to */
    int fd; /* for an event loop: readable from when it expires until it is cleared */
#ifndef HTW_PORTABLE
    _Atomic uint64_t resets; /* how often it was reset */

    /* The timer that all threads set, one at a time. */
    int shared_fd;
    _Atomic uint64_t
        version; /* 2 * `resets` of when it was set last, plus 1 while it is being set */
    _Atomic int64_t shared_ns; /* what it is set to, for as long as `version` is up to date */

    /* The timer of the owner, for when another thread is setting the shared one, or for the next wake-up but
       one. Other threads may only make it expire at once. */
    int own_fd;
    int64_t own_set_ns;     /* what it is set to; INT64_MAX: nothing */
    _Atomic int64_t own_ns; /* the same since the last reset, for other threads */
    _Atomic bool alert; /* since the last reset another thread has made it expire, or is about to */

    bool shared_has_expired; /* since a plan relied on it last */
    int64_t planned_ns;      /* the time of the last plan */
    int64_t gap_ns;          /* how much later that is than the time of the plan before */

    _Atomic int wall_fd; /* expires when the wall clock is set; -1: none */
#else
    struct htw__mutex mutex; /* guards what follows */
    int64_t at_ns;     /* the earliest time it was set to since the last reset; INT64_MAX: none */
    int64_t check_ns;  /* the monotonic time at which it expires at the latest, if it watches */
    bool watches_wall; /* always if `clock` is not the monotonic one */
    struct htw__system_timer timer;
#endif
};

/* 0, or a negative errno: -EMFILE, -ENFILE, -ENOMEM. `clock`: of system.h. `blocking`: for htw__alarm_wait(), and not for an event loop. */
int htw__alarm_init(struct htw__alarm *alarm, htw__system_clock clock, bool blocking);
void htw__alarm_fini(struct htw__alarm *alarm);

/* From now on it also expires when the wall clock is set, or the machine was suspended: its owner
   waits for instants of several clocks, and converts them to `clock`. Any thread. 0 or a negative
   errno, as htw__alarm_init(): nothing has changed. */
int htw__alarm_watch_wall_clock(struct htw__alarm *alarm);

/* Makes it expire at `at_ns`, or at once if that has passed; or earlier. Any thread, which has armed
   what is due then. */
void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns);

/* For a thread that wants the owner to sleep longer than it was set to: begins to set it, and returns
   true, if it is set to a time before `before_ns` and no other thread is setting it. The thread then
   reads when the owner has to wake up, under a lock, and calls htw__alarm_put_off(). Threads arm under
   that lock, and set the alarm afterwards: one that armed before is seen, and one that arms later finds
   the alarm claimed, or put off. Without the lock neither would be sure. */
bool htw__alarm_claim(struct htw__alarm *alarm, int64_t before_ns);
void htw__alarm_put_off(struct htw__alarm *alarm, int64_t at_ns);

/* ---- for the owner */

/* To be called before the owner reads when it has to wake up. What a thread arms later, and the owner
   may not see, that thread sets the alarm for. */
void htw__alarm_reset(struct htw__alarm *alarm);

/* To be called once after a reset: makes it expire at a time of a range, or never if that is INT64_MAX; or
   earlier, if another thread has set it since the reset. Costs least if these times are at equal intervals. */
void htw__alarm_plan(struct htw__alarm *alarm, int64_t earliest_ns, int64_t latest_ns);

/* Sleeps until it expires. */
void htw__alarm_wait(struct htw__alarm *alarm);

/* Makes the file descriptor not readable. */
void htw__alarm_clear(struct htw__alarm *alarm);

#endif /* HTW_SRC_PORT_ALARM_H */
