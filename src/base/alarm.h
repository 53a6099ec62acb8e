/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - what a thread sleeps on until a deadline: a kernel timer with a file descriptor
 * (timerfd), set to an absolute time of a kernel clock.
 *
 * A thread that arms an earlier deadline sets the timer to it and does not wake the sleeper, as it
 * would have to with a condition variable. A timerfd ignores the timer slack of threads, notices
 * that the wall clock was set, and can be polled in an event loop.
 */
#ifndef HTW_SRC_BASE_ALARM_H
#define HTW_SRC_BASE_ALARM_H

#include "mutex.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct htw__alarm {
    struct htw__mutex mutex; /* guards `at_ns` and the setting of the timer */
    int64_t at_ns; /* the earliest time it was set to since the last reset; INT64_MAX: none */
    clockid_t clock;
    int fd;
};

/* 0, or a negative errno: -EMFILE, -ENFILE, -ENOMEM. `blocking`: for htw__alarm_wait(). */
int htw__alarm_init(struct htw__alarm *alarm, clockid_t clock, bool blocking);
void htw__alarm_fini(struct htw__alarm *alarm);

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

#endif /* HTW_SRC_BASE_ALARM_H */
