/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - what a thread sleeps on until a deadline, and what an event loop polls: an absolute time
 * of a kernel clock.
 *
 * alarm_timerfd.c is the form of Linux, a kernel timer with a file descriptor (timerfd). A thread that arms
 * an earlier deadline sets the timer to it and does not wake the sleeper. A timerfd ignores the
 * timer slack of threads, and notices at once that the wall clock was set, if it is a timer of that
 * clock.
 *
 * alarm_portable.c is the form of other POSIX systems (HTW_PORTABLE): the sleeper waits for a
 * condition, and a thread that arms an earlier deadline wakes it. For an event loop, a thread of
 * the alarm sleeps in this way and writes to a pipe. It notices that the wall clock was set
 * HTW__ALARM_CHECK_NS later at most, for which a sleeper on that clock wakes up as often.
 */
#ifndef HTW_SRC_BASE_ALARM_H
#define HTW_SRC_BASE_ALARM_H

#include "mutex.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#ifdef HTW_PORTABLE
#define HTW__ALARM_CHECK_NS INT64_C(1000000000)
#endif

struct htw__alarm {
    struct htw__mutex mutex; /* guards what follows and the setting of the timer */
    int64_t at_ns;     /* the earliest time it was set to since the last reset; INT64_MAX: none */
    clockid_t clock;   /* of the times that it is set to */
    bool watches_wall; /* it expires when the wall clock is set; always if that is `clock` */
    int fd;            /* for an event loop: readable from when it expires until it is cleared */
#ifndef HTW_PORTABLE
    clockid_t timer_clock; /* of the kernel's timer */
#else
    pthread_cond_t changed; /* `expires_ns` or `ending` */
    int64_t expires_ns;     /* the time it is set to; INT64_MAX: none */
    int64_t ahead_ns;       /* how far the clock was ahead of the monotonic one */
    /* Unless it is blocking: */
    pthread_t thread;
    int write_fd;
    bool is_readable; /* there is a byte in the pipe */
    bool was_set;     /* the wall clock was set, so it stays expired until it is cleared */
    bool ending;
#endif
};

/* 0, or a negative errno: -EMFILE, -ENFILE, -ENOMEM. `clock`: CLOCK_MONOTONIC, CLOCK_REALTIME or, on
   Linux, CLOCK_BOOTTIME. `blocking`: for htw__alarm_wait(), and not for an event loop. */
int htw__alarm_init(struct htw__alarm *alarm, clockid_t clock, bool blocking);
void htw__alarm_fini(struct htw__alarm *alarm);

/* From now on it also expires when the wall clock is set, or the machine was suspended: its owner
   waits for instants of several clocks, and converts them to `clock`. Any thread. 0 or a negative
   errno, as htw__alarm_init(): nothing has changed. */
int htw__alarm_watch_wall_clock(struct htw__alarm *alarm);

/* The sleeper calls this before it reads when it has to wake up: a thread that arms a deadline
   later, which the sleeper may not see, must set the alarm. */
void htw__alarm_reset(struct htw__alarm *alarm);

/* Makes it expire at `at_ns`, or at once if that has passed. An earlier time that was set since the
   reset stays. Any thread. */
void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns);

/* Unless it was set since the last reset, makes it never expire. */
void htw__alarm_disarm(struct htw__alarm *alarm);

/* Sleeps until it expires or the wall clock is set. */
void htw__alarm_wait(struct htw__alarm *alarm);

/* Makes the file descriptor not readable. */
void htw__alarm_clear(struct htw__alarm *alarm);

/* For alarm.c, with the mutex held: sets the timer of this form to `at_ns`, at least 1; INT64_MAX:
   never. */
void htw__alarm_set_timer(struct htw__alarm *alarm, int64_t at_ns);

#endif /* HTW_SRC_BASE_ALARM_H */
