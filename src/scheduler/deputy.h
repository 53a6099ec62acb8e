/* SPDX-License-Identifier: MIT */
/*
 * deputy.h - the post of the idle worker that takes the place of an expirer whose callbacks take
 * long.
 *
 * The deputy sleeps on an alarm, which an expirer sets when it begins to run callbacks. A kernel
 * timer is set without waking its sleeper, so a short callback wakes no other thread. workers.c has
 * the thread that is at the post. All functions are called with the mutex of the work queue held.
 */
#ifndef HTW_SRC_SCHEDULER_DEPUTY_H
#define HTW_SRC_SCHEDULER_DEPUTY_H

#include "../base/alarm.h"

struct htw__deputy {
    struct htw__alarm alarm;
    bool has_alarm; /* otherwise no thread may wait here */
    bool present;   /* a thread waits here */
    bool called;    /* the thread was woken, and has not run yet */
    int64_t at_ns;  /* what the alarm is set to, by the monotonic clock; HTW_NEVER_NS: nothing */
};

/* 0, -EMFILE, -ENFILE or -ENOMEM. */
int htw__deputy_init(struct htw__deputy *deputy);
void htw__deputy_fini(struct htw__deputy *deputy);

/* Wakes the thread that is present at once. */
void htw__deputy_call(struct htw__deputy *deputy);

/* Wakes the thread that is present at an instant, or up to `early_ns` before it; HTW_NEVER_NS: only
   when it is called. */
void htw__deputy_plan(struct htw__deputy *deputy, int64_t at_ns, int64_t early_ns);

/* Waits until it is woken, by a call or the alarm. Unlocks and locks `mutex`. */
void htw__deputy_wait(struct htw__deputy *deputy, struct htw__mutex *mutex);

#endif /* HTW_SRC_SCHEDULER_DEPUTY_H */
