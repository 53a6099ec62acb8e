/* SPDX-License-Identifier: MIT */
/*
 * timer_kqueue.c - a timer of macOS and BSD systems: a kqueue, on which the owner sleeps and which an event loop polls.
 *
 * Its timer is relative, since an absolute one counts by the wall clock. The kernel may refuse a timer, of which a system
 * has some thousands. Then the timer expires at once, by an event of the user, which needs nothing: the owner wakes up until
 * the kernel has a timer again, and is never late.
 */
#include "timer.h"

#ifdef HTW__HAS_KQUEUE
#include "../base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#ifndef NOTE_CRITICAL /* macOS delays timers without it, to let several expire at once */
#define NOTE_CRITICAL 0
#endif

/* Longer waits end in between: no system has to count so far. */
#define LONGEST_NS (INT64_C(24) * 3600 * 1000000000)

/* False: the kernel has no memory, or there is no such event to delete. */
static bool change(const struct htw__system_timer *timer, struct kevent event) {
    return kevent(timer->fd, &event, 1, NULL, 0, NULL) == 0;
}

static void take_events(const struct htw__system_timer *timer, const struct timespec *timeout) {
    struct kevent events[2];
    htw__cancel_state cancel_state = htw__disable_cancel();
    while (kevent(timer->fd, NULL, 0, events, 2, timeout) < 0 && errno == EINTR)
        ;
    htw__restore_cancel(cancel_state);
}

/* ---- from here on: see timer.h */

int htw__system_timer_init(struct htw__system_timer *timer, struct htw__mutex *mutex,
                           bool blocking) {
    (void)mutex, (void)blocking;
    timer->fd = kqueue();
    if (timer->fd < 0)
        return -errno;
    fcntl(timer->fd, F_SETFD, FD_CLOEXEC);
    if (change(timer, (struct kevent) { .filter = EVFILT_USER, .flags = EV_ADD | EV_CLEAR }))
        return 0;
    close(timer->fd);
    return -ENOMEM;
}

void htw__system_timer_fini(struct htw__system_timer *timer) {
    close(timer->fd);
}

void htw__system_timer_set(struct htw__system_timer *timer, int64_t at_ns) {
    int64_t now_ns = htw__clock_monotonic_ns();
    if (at_ns == INT64_MAX) {
        change(timer, (struct kevent) { .filter = EVFILT_TIMER, .flags = EV_DELETE });
        return;
    }
    if (at_ns > now_ns &&
        change(timer, (struct kevent) { .filter = EVFILT_TIMER,
                                        .flags = EV_ADD | EV_ONESHOT,
                                        .fflags = NOTE_NSECONDS | NOTE_CRITICAL,
                                        .data = htw__clock_earlier(at_ns - now_ns, LONGEST_NS) }))
        return;
    change(timer, (struct kevent) { .filter = EVFILT_USER, .fflags = NOTE_TRIGGER });
}

void htw__system_timer_wait(struct htw__system_timer *timer) {
    take_events(timer, NULL);
}

void htw__system_timer_clear(struct htw__system_timer *timer) {
    static const struct timespec at_once;
    take_events(timer, &at_once);
}
#endif
