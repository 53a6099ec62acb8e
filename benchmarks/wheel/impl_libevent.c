/* SPDX-License-Identifier: MIT */
/*
 * impl_libevent.c - libevent's timers, in its binary heap of pointers.
 *
 * libevent has no virtual time. It reads the clock when its loop runs, and when a timer is armed
 * outside of the loop's callbacks, so the clock is faked (fake_clock.h). Arming then costs about
 * as much as in a callback, where libevent caches the time. Every advance is one turn of the loop,
 * which asks epoll for events once. On virtual time that system call is most of the cost of an
 * advance in which few timers are due.
 *
 * Link libevent before libev, because libev has functions of libevent's names.
 *
 * Without locks, and without EVENT_BASE_FLAG_PRECISE_TIMER, which would set a timerfd in each
 * turn. libevent does not report the next deadline. Its heap takes 8 bytes for each timer.
 */
#include "bench.h"
#include "fake_clock.h"

#include <event2/event.h>
#include <event2/event_struct.h>

#include <stdlib.h>
#include <string.h>

struct libevent {
    struct event_base *base;
    uint64_t now;
};

/* Here, because the only argument of a callback is its timer. */
static struct bench_tally *current_tally;

static void fire(evutil_socket_t none, short what, void *timer) {
    (void)none;
    (void)what;
    bench_fired(current_tally, timer);
}

static struct event_base *create_base(void) {
    struct event_config *config = event_config_new();
    if (config == NULL)
        return NULL;
    struct event_base *base = NULL;
    if (event_config_set_flag(config, EVENT_BASE_FLAG_NOLOCK) == 0)
        base = event_base_new_with_config(config);
    event_config_free(config);
    return base;
}

static void destroy(void *self) {
    struct libevent *libevent = self;
    if (libevent->base != NULL)
        event_base_free_nofinalize(libevent->base);
    free(libevent);
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    if (strcmp(event_get_version(), EVENT__VERSION) != 0)
        return NULL; /* another version, or libev's functions: it was linked before libevent */
    struct libevent *libevent = malloc(sizeof(*libevent));
    if (libevent == NULL)
        return NULL;
    current_tally = tally;
    bench_clock_fake(0);
    *libevent = (struct libevent) { .base = create_base() };
    bench_clock_restore();
    if (libevent->base == NULL) {
        destroy(libevent);
        return NULL;
    }
    return libevent;
}

static void init(void *self, void *timer) {
    evtimer_assign((struct event *)timer, ((struct libevent *)self)->base, fire, timer);
}

/* Moves a timer that is armed. */
static void schedule(void *self, void *timer, uint64_t deadline) {
    struct libevent *libevent = self;
    uint64_t delay = deadline - libevent->now;
    struct timeval delay_tv = {
        .tv_sec = (time_t)(delay / 1000),
        .tv_usec = (suseconds_t)(delay % 1000) * 1000,
    };
    bench_clock_fake(libevent->now);
    if (event_add(timer, &delay_tv) != 0)
        abort(); /* no memory: a run without all of its timers has no result */
    bench_clock_restore();
}

static void cancel(void *self, void *timer) {
    (void)self;
    event_del(timer);
}

static void advance(void *self, uint64_t now) {
    struct libevent *libevent = self;
    libevent->now = now;
    bench_clock_fake(now);
    event_base_loop(libevent->base, EVLOOP_NONBLOCK);
    bench_clock_restore();
}

static size_t count(void *self) {
    return (size_t)event_base_get_num_events(((struct libevent *)self)->base,
                                             EVENT_BASE_COUNT_ADDED);
}

const struct bench_implementation bench_libevent = {
    .name = "libevent",
    .about = "libevent " EVENT__VERSION ", no locks; on a faked clock",
    .timer_size = sizeof(struct event),
    .create = create,
    .destroy = destroy,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = schedule,
    .advance = advance,
    .count = count,
};
