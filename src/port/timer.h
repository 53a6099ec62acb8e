/* SPDX-License-Identifier: MIT */
/*
 * timer.h - what alarm_portable.c needs of a system: a timer of the monotonic clock, on which one thread sleeps, or which an
 * event loop polls.
 *
 * timer_posix.c is the form of any POSIX system: the thread that sleeps waits for a condition. For an event loop, a thread of
 * the timer waits and writes to a pipe. timer_kqueue.c takes its place where kqueue has what it needs, and
 * timer_windows.c, a waitable timer, on Windows.
 */
#ifndef HTW_SRC_PORT_TIMER_H
#define HTW_SRC_PORT_TIMER_H

#include "../base/lock.h"

#include <stdbool.h>
#include <stdint.h>

#if defined(HTW_PORTABLE) && defined(__has_include)
#if __has_include(<sys/event.h>)
#include <sys/event.h>
#if defined(EVFILT_USER) && defined(NOTE_NSECONDS)
#define HTW__HAS_KQUEUE
#endif
#endif
#endif

struct htw__system_timer {
    int fd; /* for an event loop: readable from when it expires until it is cleared, or perhaps set anew. On Windows a handle */
#if !defined(HTW__HAS_KQUEUE) && !defined(_WIN32)
    struct htw__mutex *mutex;      /* guards what follows */
    htw__system_condition changed; /* `expires_ns` or `ending` */
    int64_t expires_ns;            /* what it is set to; INT64_MAX: never, or it has expired */
    /* For an event loop: */
    htw__system_thread thread;
    int write_fd;
    bool is_readable; /* there is a byte in the pipe */
    bool ending;
#endif
};

/* 0, or a negative errno: -EMFILE, -ENFILE, -ENOMEM. `blocking`: for htw__system_timer_wait(), and not for an event loop. The
   caller holds `mutex` where it sets or clears the timer. */
int htw__system_timer_init(struct htw__system_timer *timer, struct htw__mutex *mutex,
                           bool blocking);
void htw__system_timer_fini(struct htw__system_timer *timer);

/* Makes it expire once, at a time of the monotonic clock, at once if that has passed, or never if it is INT64_MAX. It may expire
   before: who wakes up reads the clock. */
void htw__system_timer_set(struct htw__system_timer *timer, int64_t at_ns);

/* Sleeps until it expires. Without the mutex. */
void htw__system_timer_wait(struct htw__system_timer *timer);

/* Makes the file descriptor not readable. */
void htw__system_timer_clear(struct htw__system_timer *timer);

#endif /* HTW_SRC_PORT_TIMER_H */
