/* SPDX-License-Identifier: MIT */
/*
 * impl_libev.c - libev's ev_timer, in its heap with four children a node.
 *
 * libev has no virtual time. Its loop reads the clock, so the clock is faked (fake_clock.h);
 * arming and cancelling do not read it. Every advance is one turn of the loop, which reads the
 * clock twice and asks epoll for events once. On virtual time that system call is most of the cost
 * of an advance in which few timers are due.
 *
 * libev keeps times as seconds in a double: exact to half a tick up to tick 2^50 at least. It
 * reports neither the next deadline nor the number of timers. Its heap takes 16 bytes for each
 * timer.
 */
#include "bench.h"
#include "fake_clock.h"

#include <ev.h>

#include <stdlib.h>

struct libev {
    struct ev_loop *loop;
    struct bench_tally *tally;
    uint64_t now;
};

/* libev fires a timer whose time is before the clock's. The clock is half a tick late, so a timer's
   time is the start of its tick. */
static ev_tstamp delay_s(const struct libev *libev, uint64_t deadline) {
    return ((ev_tstamp)(deadline - libev->now) - 0.5) * 1e-3;
}

static void fire(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop, (void)events;
    bench_fired(timer->data, timer);
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    struct libev *libev = malloc(sizeof(*libev));
    if (libev == NULL)
        return NULL;
    bench_clock_fake(0);
    *libev = (struct libev) { .loop = ev_loop_new(EVFLAG_NOENV), .tally = tally };
    bench_clock_restore();
    bool reads_fake = libev->loop != NULL && ev_now(libev->loop) <= 1e-3; /* or another clock */
    return reads_fake ? libev : NULL;
}

static void init(void *self, void *memory) {
    ev_timer *timer = memory;
    ev_timer_init(timer, fire, 0., 0.);
    timer->data = ((struct libev *)self)->tally;
}

static void schedule(void *self, void *memory, uint64_t deadline) {
    struct libev *libev = self;
    ev_timer *timer = memory;
    ev_timer_set(timer, delay_s(libev, deadline), 0.);
    ev_timer_start(libev->loop, timer);
}

static void cancel(void *self, void *memory) {
    ev_timer_stop(((struct libev *)self)->loop, memory);
}

/* As libev's manual advises if timeouts move often. Without a period then, a timer fires once. */
static void move(void *self, void *memory, uint64_t deadline) {
    struct libev *libev = self;
    ev_timer *timer = memory;
    timer->repeat = delay_s(libev, deadline);
    ev_timer_again(libev->loop, timer);
    timer->repeat = 0.;
}

static void advance(void *self, uint64_t now) {
    struct libev *libev = self;
    libev->now = now;
    bench_clock_fake(now);
    ev_run(libev->loop, EVRUN_NOWAIT);
    bench_clock_restore();
}

#define TEXT_OF(number) #number
#define VERSION(major, minor) TEXT_OF(major) "." TEXT_OF(minor)

const struct bench_implementation bench_libev = {
    .name = "libev",
    .about = "libev " VERSION(EV_VERSION_MAJOR, EV_VERSION_MINOR) "; on a faked clock",
    .timer_size = sizeof(ev_timer),
    .create = create,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = move,
    .advance = advance,
};
