/* SPDX-License-Identifier: MIT */
/* wake.h - what wakes an expirer: its alarm, and the request to clean up. */
#ifndef HTW_SRC_SCHEDULER_WAKE_H
#define HTW_SRC_SCHEDULER_WAKE_H

#include "../port/alarm.h"
#include "state.h"

/* How long stale records and empty pages wait until the expirer frees them. */
#define HTW__CLEANUP_DELAY_NS (50 * HTW_MILLISECOND)

/* The part of an expirer that other threads use. */
struct htw__waker {
    struct htw__alarm alarm; /* manual time: none */
    bool has_alarm;
    _Atomic bool cleanup; /* the expirer is to clean up, and the alarm is set for that */
    const struct htw_scheduler *scheduler;
};

/* Creates the alarm, if the clock of the scheduler has one. 0 or a negative errno. In either case
   htw__waker_fini() may follow. */
int htw__waker_init(struct htw__waker *waker, const struct htw_scheduler *scheduler);
void htw__waker_fini(struct htw__waker *waker);

/* To be called before the expirer serves a timer of another clock than the scheduler's. From now on
   the expirer also wakes up when the wall clock was set or the machine was suspended: then what
   htw__wake_at() has converted is wrong. 0, -EMFILE, -ENFILE or -ENOMEM. */
int htw__waker_add_clock(struct htw__waker *waker);

/* Wakes the expirer at an instant of a clock, unless it wakes up earlier. No lock is held. */
void htw__wake_at(struct htw__waker *waker, const struct htw__clock *clock, int64_t at_ns);

/* Makes the expirer clean up within HTW__CLEANUP_DELAY_NS. No lock is held. */
void htw__wake_for_cleanup(struct htw__waker *waker);

#endif /* HTW_SRC_SCHEDULER_WAKE_H */
