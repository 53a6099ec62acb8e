/* SPDX-License-Identifier: MIT */
/*
 * deputy.h - the post of the idle worker that takes the place of an expirer whose callbacks take
 * long.
 *
 * The deputy sleeps on an alarm, which an expirer sets when it begins to run callbacks. A kernel
 * timer is set without waking its sleeper, so a short callback wakes no other thread. workers.c has
 * the thread that is at the post.
 *
 * The mutex of the work queue guards what the deputy is wanted for. The alarm is set after the mutex
 * was unlocked, by every thread that wants something: none relies on another thread that has yet
 * to set it.
 */
#ifndef HTW_SRC_SCHEDULER_DEPUTY_H
#define HTW_SRC_SCHEDULER_DEPUTY_H

#include "../port/alarm.h"

struct htw__deputy {
    struct htw__alarm alarm;
    bool has_alarm; /* otherwise no thread may wait here */
    bool present;   /* a thread waits here */
    bool called;    /* it is wanted at once, and has not run yet */
    /* What the thread that holds the mutex has to set the alarm to; HTW_NEVER_NS: it has not. */
    int64_t wanted_ns;
};

/* 0, -EMFILE, -ENFILE or -ENOMEM. */
int htw__deputy_init(struct htw__deputy *deputy);
void htw__deputy_fini(struct htw__deputy *deputy);

/* ---- with the mutex held */

/* Wakes the thread that is present at an instant of the monotonic clock, or earlier; 0: at once.
   htw__deputy_unlock() must follow. */
void htw__deputy_want(struct htw__deputy *deputy, int64_t at_ns);

/* Unlocks `mutex`, and sets the alarm if the deputy is wanted. */
void htw__deputy_unlock(struct htw__deputy *deputy, struct htw__mutex *mutex);

/* Waits until `at_ns` at the latest, or until it is wanted. Unlocks and locks `mutex`. */
void htw__deputy_wait(struct htw__deputy *deputy, struct htw__mutex *mutex, int64_t at_ns);

#endif /* HTW_SRC_SCHEDULER_DEPUTY_H */
