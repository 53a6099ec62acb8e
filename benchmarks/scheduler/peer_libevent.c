/* SPDX-License-Identifier: MIT */
/*
 * peer_libevent.c - libevent's timers with libevent's own locks (evthread_use_pthreads()).
 *
 * EVENT_BASE_FLAG_PRECISE_TIMER, because with the coarse clock timers fire milliseconds early.
 * EVENT_BASE_FLAG_NO_CACHE_TIME, because otherwise other threads add their delays to the time that
 * the loop has read last. cancel() frees a timer that has a handle.
 */
#include "../common/report.h"
#include "../common/thread.h"
#include "peer.h"

#include <event2/event.h>
#include <event2/event_struct.h>
#include <event2/thread.h>

#include <stdatomic.h>
#include <stdlib.h>

struct timer {
    struct event event;
    htw_callback *callback;
    void *arg;
    bool has_handle;
    _Atomic bool fired;
};

static struct event_base *base;

static void fire(evutil_socket_t none, short what, void *context) {
    (void)none, (void)what;
    struct timer *timer = context;
    htw_callback *callback = timer->callback;
    void *arg = timer->arg;
    if (timer->has_handle)
        atomic_store(&timer->fired, true); /* event_del() waits until this has returned */
    else
        free(timer);
    callback(arg, NULL);
}

static void *run(void *unused) {
    (void)unused;
    event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
    return NULL;
}

static void start(int workers) {
    (void)workers;
    if (evthread_use_pthreads() != 0)
        report_failure("libevent has no threads");
    struct event_config *config = event_config_new();
    if (config != NULL && event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER |
                                                            EVENT_BASE_FLAG_NO_CACHE_TIME) == 0)
        base = event_base_new_with_config(config);
    if (base == NULL)
        report_failure("cannot make an event base of libevent");
    event_config_free(config);
    thread_start(run, NULL);
}

static int schedule(int64_t now_ns, int64_t delay_ns, htw_callback *callback, void *arg,
                    uint64_t *ret_handle) {
    (void)now_ns;
    struct timer *timer = malloc(sizeof(*timer));
    if (timer == NULL)
        return -1;
    timer->callback = callback;
    timer->arg = arg;
    timer->has_handle = ret_handle != NULL;
    atomic_init(&timer->fired, false);
    evtimer_assign(&timer->event, base, fire, timer);
    if (ret_handle != NULL)
        *ret_handle = (uint64_t)(uintptr_t)timer;
    int64_t delay_us = (delay_ns + 1999) / 1000; /* libevent also truncates its clock */
    struct timeval delay = { .tv_sec = delay_us / 1000000, .tv_usec = delay_us % 1000000 };
    if (evtimer_add(&timer->event, &delay) == 0)
        return 0;
    free(timer);
    return -1;
}

static bool cancel(uint64_t handle) {
    struct timer *timer = (struct timer *)(uintptr_t)handle; /* NOLINT: made from a pointer */
    evtimer_del(&timer->event);
    bool was_pending = !atomic_load(&timer->fired);
    free(timer);
    return was_pending;
}

static uint64_t pending(void) {
    return (uint64_t)event_base_get_num_events(base, EVENT_BASE_COUNT_ADDED);
}

const struct peer peer_libevent = {
    .name = "libevent",
    .about = "an event base of libevent, with its own locks",
    .start = start,
    .schedule = schedule,
    .cancel = cancel,
    .pending = pending,
};
