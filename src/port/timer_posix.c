/* SPDX-License-Identifier: MIT */
/* timer_posix.c - a timer of POSIX parts alone: a condition, and for event loops a thread and a pipe. */
#include "timer.h"

#if defined(HTW_PORTABLE) && !defined(HTW__HAS_KQUEUE) && !defined(_WIN32)
#include "../base/clock.h"

#include <errno.h>
#include <unistd.h>

/* ---- under the mutex */

/* Makes the pipe readable, or not readable. It holds one byte at most, so this cannot fail. To read
   and to write are cancellation points, and a thread must not end with the mutex held. */
static void set_readable(struct htw__system_timer *timer, bool readable) {
    char byte = 0;
    if (timer->is_readable == readable)
        return;
    htw__cancel_state cancel_state = htw__disable_cancel();
    ssize_t size = readable ? write(timer->write_fd, &byte, 1) : read(timer->fd, &byte, 1);
    (void)size;
    htw__restore_cancel(cancel_state);
    timer->is_readable = readable;
}

/* Sleeps until the timer expires or ends. */
static void sleep_until_it_expires(struct htw__system_timer *timer) {
    while (!timer->ending && timer->expires_ns > htw__clock_monotonic_ns())
        if (timer->expires_ns == INT64_MAX)
            htw__mutex_wait(timer->mutex, &timer->changed);
        else
            htw__mutex_wait_until(timer->mutex, &timer->changed, timer->expires_ns);
    timer->expires_ns = INT64_MAX;
}

/* The thread of a timer for an event loop. */
static void *watch_time(void *arg) {
    struct htw__system_timer *timer = arg;
    htw__mutex_lock(timer->mutex);
    for (sleep_until_it_expires(timer); !timer->ending; sleep_until_it_expires(timer))
        set_readable(timer, true);
    htw__mutex_unlock(timer->mutex);
    return NULL;
}

/* ---- from here on: see timer.h */

/* With a pipe. */
static int start_thread(struct htw__system_timer *timer) {
    int fds[2];
    if (!htw__system_open_pipe(fds))
        return -errno;
    timer->fd = fds[0];
    timer->write_fd = fds[1];
    int error = htw__thread_start(&timer->thread, "htw", "alarm", 0, watch_time, timer);
    if (error == 0)
        return 0;
    close(timer->fd);
    close(timer->write_fd);
    return error;
}

int htw__system_timer_init(struct htw__system_timer *timer, struct htw__mutex *mutex,
                           bool blocking) {
    *timer = (struct htw__system_timer) { .fd = -1, .mutex = mutex, .expires_ns = INT64_MAX };
    if (!htw__system_condition_init(&timer->changed))
        return -ENOMEM;
    int error = blocking ? 0 : start_thread(timer);
    if (error != 0)
        htw__system_condition_fini(&timer->changed);
    return error;
}

void htw__system_timer_fini(struct htw__system_timer *timer) {
    if (timer->fd >= 0) {
        htw__mutex_lock(timer->mutex);
        timer->ending = true;
        htw__system_condition_signal(&timer->changed);
        htw__mutex_unlock(timer->mutex);
        htw__thread_join(timer->thread);
        close(timer->fd);
        close(timer->write_fd);
    }
    htw__system_condition_fini(&timer->changed);
}

void htw__system_timer_set(struct htw__system_timer *timer, int64_t at_ns) {
    timer->expires_ns = at_ns;
    if (timer->fd >= 0) {
        bool has_expired = at_ns <= htw__clock_monotonic_ns(); /* without a detour by the thread */
        set_readable(timer, has_expired);
        if (has_expired)
            timer->expires_ns = INT64_MAX;
    }
    if (timer->expires_ns != INT64_MAX)
        htw__system_condition_signal(&timer->changed);
}

void htw__system_timer_wait(struct htw__system_timer *timer) {
    htw__mutex_lock(timer->mutex);
    sleep_until_it_expires(timer);
    htw__mutex_unlock(timer->mutex);
}

void htw__system_timer_clear(struct htw__system_timer *timer) {
    set_readable(timer, false);
}
#endif
