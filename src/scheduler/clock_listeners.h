/* SPDX-License-Identifier: MIT */
/* clock_listeners.h - calls its listeners when the clock of the scheduler was set by the user. */
#ifndef HTW_SRC_SCHEDULER_CLOCK_LISTENERS_H
#define HTW_SRC_SCHEDULER_CLOCK_LISTENERS_H

#include "../base/list.h"
#include "../base/lock.h"

#include <stdint.h>

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

void htw__clock_listeners_add(struct htw__clock_listeners *listeners,
                              struct htw__clock_listener *listener);

/* Waits until `clock_was_set` has returned, if it runs. */
void htw__clock_listeners_remove(struct htw__clock_listeners *listeners,
                                 struct htw__clock_listener *listener);

/* Calls the listeners if the clock was set. The threads that run the scheduler call this each time
   that they wake up: the kernel wakes them when the wall clock is set (base/alarm.h). */
void htw__clock_listeners_notify(struct htw__clock_listeners *listeners);

#endif /* HTW_SRC_SCHEDULER_CLOCK_LISTENERS_H */
