/* SPDX-License-Identifier: MIT */
/*
 * timers.c - timerfd. Each is an eventfd, whose count is read in the same way; the bubble adds to it when the timer is due.
 */
#include "bubble.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/uio.h>

/* By the number of the descriptor. */
static struct timer {
    int own; /* a copy of the descriptor, which the program does not close; 0: no timer */
    clockid_t clock;
    int64_t deadline_ns, period_ns;
} timers[FDS_MAX];
static pid_t owner; /* a child of vfork() has this memory, but its own descriptors */

static struct timer *find(int fd) {
    return fd >= 0 && fd < FDS_MAX && timers[fd].own > 0 ? &timers[fd] : NULL;
}

static void forget(int fd) {
    struct timer *timer = find(fd);
    if (timer != NULL && owner == getpid()) {
        REAL(close)(timer->own);
        timer->own = 0;
    }
}

void bubble_timers_forget(void) {
    owner = getpid(); /* of those of the parent, too */
    for (int fd = 0; fd < FDS_MAX; fd++)
        forget(fd);
}

int64_t bubble_timers_next_ns(void) {
    int64_t next_ns = NEVER;
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (timers[fd].own > 0 && timers[fd].deadline_ns < next_ns)
            next_ns = timers[fd].deadline_ns;
    return next_ns;
}

static void expire(struct timer *timer, int64_t now_ns) {
    int64_t late_ns = now_ns - timer->deadline_ns, period_ns = timer->period_ns;
    uint64_t times = 1 + (uint64_t)(period_ns > 0 ? late_ns / period_ns : 0);
    if (late_ns < 0 || write(timer->own, &times, sizeof(times)) < 0)
        return;
    timer->deadline_ns = period_ns > 0 ? timer->deadline_ns + (int64_t)times * period_ns : NEVER;
}

void bubble_timers_expire(int64_t now_ns) {
    for (int fd = 0; fd < FDS_MAX; fd++)
        if (timers[fd].own > 0)
            expire(&timers[fd], now_ns);
}

static int create(clockid_t clock, int flags) {
    int fd = eventfd(0, flags);
    if (fd < 0)
        return -1;
    int own = fd < FDS_MAX ? fcntl(fd, F_DUPFD_CLOEXEC, 1) : -1;
    if (own < 0) {
        REAL(close)(fd);
        return bubble_result(EMFILE);
    }
    bubble_lock();
    forget(fd); /* one that was closed in a way that is not seen here */
    timers[fd] = (struct timer) { own, clock, NEVER, 0 };
    owner = getpid();
    bubble_unlock();
    return fd;
}

INSTEAD(int, timerfd_create, (clockid_t clock, int flags), (clock, flags),
        bubble_self == NULL || !bubble_is_simulated(clock), create(clock, flags))

PUBLIC int timerfd_settime(int fd, int flags, const struct itimerspec *to,
                           struct itimerspec *ret_before) {
    uint64_t count;
    const struct iovec old = { &count, sizeof(count) };
    clockid_t clock = DELAY;
    bubble_lock();
    struct timer *timer = find(fd);
    if (timer == NULL || !bubble_is_valid(&to->it_value) || !bubble_is_valid(&to->it_interval)) {
        bubble_unlock();
        return REAL(timerfd_settime)(fd, flags, to, ret_before);
    }
    if (ret_before != NULL)
        *ret_before = (struct itimerspec) { 0 };
    preadv2(timer->own, &old, 1, -1, RWF_NOWAIT); /* what has expired is forgotten */
    if ((flags & TFD_TIMER_ABSTIME) != 0)
        clock = timer->clock;
    timer->deadline_ns = bubble_deadline_ns(clock, &to->it_value);
    timer->period_ns = bubble_ns_of(&to->it_interval);
    if (to->it_value.tv_sec == 0 && to->it_value.tv_nsec == 0)
        timer->deadline_ns = NEVER;
    expire(timer, bubble_read_ns(CLOCK_MONOTONIC));
    bubble_unlock();
    return 0;
}

/* The timer ends with its descriptor. */
PUBLIC int close(int fd) {
    if (find(fd) != NULL) {
        bubble_lock();
        forget(fd);
        bubble_unlock();
    }
    return REAL(close)(fd);
}
