/* SPDX-License-Identifier: MIT */
/*
 * alarm.h - what a thread that waits for deadlines sleeps on: a kernel timer with a file
 * descriptor (timerfd), set to an absolute time of one of the kernel's clocks.
 *
 * Whoever arms an earlier deadline sets the timer to it: the sleeper is not woken for
 * that, as it would have to be with a condition variable, only to go to sleep again. Timerfds
 * know nothing of the timer slack of threads, notice when the wall clock is set, and can be polled
 * in an event loop.
 */
#ifndef HTW_SRC_BASE_ALARM_H
#define HTW_SRC_BASE_ALARM_H

#include "mutex.h"

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct htw__alarm {
    struct htw__mutex mutex; /* guards `at_ns` and the setting of the timer */
    int64_t at_ns;           /* what it is set to, as far as the sleeper has not asked since */
    clockid_t clock;
    int fd;
};

/* 0, or a negative errno: -EMFILE, -ENFILE, -ENOMEM. `blocking`: for htw__alarm_wait(). */
int htw__alarm_init(struct htw__alarm *alarm, clockid_t clock, bool blocking);
void htw__alarm_fini(struct htw__alarm *alarm);

/*
 * The sleeper is about to look when it has to wake up: from now on, whatever is armed
 * that it does not see must set the alarm.
 */
void htw__alarm_reset(struct htw__alarm *alarm);

/* Rings at `at_ns`, at once if that has passed, unless it is to ring earlier. Any thread. */
void htw__alarm_set(struct htw__alarm *alarm, int64_t at_ns);

/* Lets nothing ring that was set before the last reset. */
void htw__alarm_disarm(struct htw__alarm *alarm);

/* Sleeps until it rings, or the wall clock is set. */
void htw__alarm_wait(struct htw__alarm *alarm);

/* Makes the file descriptor not readable. */
void htw__alarm_clear(struct htw__alarm *alarm);

#endif /* HTW_SRC_BASE_ALARM_H */
