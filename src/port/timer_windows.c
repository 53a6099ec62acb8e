/* SPDX-License-Identifier: MIT */
/*
 * timer_windows.c - a timer of Windows: a waitable timer, whose handle an event loop waits for.
 *
 * Handles have 32 bits in 64-bit programs, too, so that an int holds one. The timer stays signaled, which is what
 * timer.h calls readable, until it is set anew. A thread that sets it to an earlier time wakes the one that waits.
 */
#include "timer.h"

#ifdef _WIN32
#include "../base/clock.h"

#include <errno.h>

#define WIN32_LEAN_AND_MEAN
#include <windows.h>

/* What a timer is set to that is not to expire: a century. */
#define NEVER_NS INT64_C(3155760000000000000)

static HANDLE handle_of(const struct htw__system_timer *timer) {
    return (HANDLE)(intptr_t)timer->fd;
}

int htw__system_timer_init(struct htw__system_timer *timer, struct htw__mutex *mutex,
                           bool blocking) {
    (void)mutex, (void)blocking;
    HANDLE handle = htw__system_open_timer();
    if (handle == NULL)
        return -ENOMEM;
    *timer = (struct htw__system_timer) { .fd = (int)(intptr_t)handle };
    return 0;
}

void htw__system_timer_fini(struct htw__system_timer *timer) {
    CloseHandle(handle_of(timer));
}

void htw__system_timer_set(struct htw__system_timer *timer, int64_t at_ns) {
    int64_t now_ns = htw__clock_monotonic_ns();
    int64_t delay_ns = at_ns <= now_ns ? 0 : at_ns - now_ns;
    htw__system_set_timer(handle_of(timer), htw__clock_earlier(delay_ns, NEVER_NS));
}

void htw__system_timer_wait(struct htw__system_timer *timer) {
    WaitForSingleObject(handle_of(timer), INFINITE);
}

/* Not if it is to expire later: that may be the time of another thread. */
void htw__system_timer_clear(struct htw__system_timer *timer) {
    if (WaitForSingleObject(handle_of(timer), 0) == WAIT_OBJECT_0)
        htw__system_set_timer(handle_of(timer), NEVER_NS);
}
#endif
