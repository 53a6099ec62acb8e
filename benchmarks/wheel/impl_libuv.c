/* SPDX-License-Identifier: MIT */
/*
 * impl_libuv.c - libuv's uv_timer_t, in its binary heap of linked nodes.
 *
 * libuv has no virtual time. Its loop reads the clock, so the clock is faked (fake_clock.h);
 * arming counts from the time that the loop has read last. Every advance is one turn of the loop,
 * which asks epoll for events once. On virtual time that system call is most of the cost of an
 * advance in which few timers are due.
 *
 * libuv reports the next deadline as a timeout for epoll, at most 2^31 - 1 ticks ahead. Time ends
 * at tick 2^44, because libuv counts it as 64 bits of nanoseconds. A timer belongs to its loop
 * from init() on, and must exist until destroy(), which closes it.
 */
#include "bench.h"
#include "fake_clock.h"

#include <uv.h>

#include <stdlib.h>

struct libuv {
    uv_loop_t loop;
    struct bench_tally *tally;
};

static void fire(uv_timer_t *timer) {
    bench_fired(timer->data, timer);
}

static void close_handle(uv_handle_t *handle, void *argument) {
    (void)argument;
    uv_close(handle, NULL);
}

static void destroy(void *self) {
    struct libuv *libuv = self;
    uv_walk(&libuv->loop, close_handle, NULL);
    uv_run(&libuv->loop, UV_RUN_DEFAULT);
    if (uv_loop_close(&libuv->loop) != 0)
        abort(); /* something was left open */
    free(libuv);
}

static void close_timer(uv_timer_t *timer) {
    uv_close((uv_handle_t *)timer, NULL);
}

/* uv_backend_timeout() returns 0 until the loop has polled, and it polls only for a live handle. */
static void run_first_turn(uv_loop_t *loop) {
    uv_timer_t timer;
    uv_timer_init(loop, &timer);
    uv_timer_start(&timer, close_timer, 0, 0);
    uv_run(loop, UV_RUN_NOWAIT); /* closed within the same turn */
}

static void *create(size_t capacity, struct bench_tally *tally) {
    (void)capacity;
    struct libuv *libuv = malloc(sizeof(*libuv));
    if (libuv == NULL)
        return NULL;
    bench_clock_fake(0);
    int error = uv_loop_init(&libuv->loop);
    if (error == 0)
        run_first_turn(&libuv->loop);
    bench_clock_restore();
    if (error != 0) {
        free(libuv);
        return NULL;
    }
    libuv->tally = tally;
    if (uv_now(&libuv->loop) != 0) { /* it reads another clock */
        destroy(libuv);
        return NULL;
    }
    return libuv;
}

static void init(void *self, void *memory) {
    struct libuv *libuv = self;
    uv_timer_t *timer = memory;
    uv_timer_init(&libuv->loop, timer);
    timer->data = libuv->tally;
}

/* Moves a timer that is armed. */
static void schedule(void *self, void *timer, uint64_t deadline) {
    uv_timer_start(timer, fire, deadline - uv_now(&((struct libuv *)self)->loop), 0);
}

static void cancel(void *self, void *timer) {
    (void)self;
    uv_timer_stop(timer);
}

static void advance(void *self, uint64_t now) {
    bench_clock_fake(now);
    uv_run(&((struct libuv *)self)->loop, UV_RUN_NOWAIT);
    bench_clock_restore();
}

static uint64_t next(void *self) {
    uv_loop_t *loop = &((struct libuv *)self)->loop;
    if (!uv_loop_alive(loop))
        return UINT64_MAX;
    return uv_now(loop) + (uint64_t)uv_backend_timeout(loop);
}

static size_t count(void *self) {
    return ((struct libuv *)self)->loop.active_handles;
}

#define TEXT_OF(number) #number
#define VERSION_OF(major, minor, patch) TEXT_OF(major) "." TEXT_OF(minor) "." TEXT_OF(patch)
#define VERSION VERSION_OF(UV_VERSION_MAJOR, UV_VERSION_MINOR, UV_VERSION_PATCH)

const struct bench_implementation bench_libuv = {
    .name = "libuv",
    .about = "libuv " VERSION "; on a faked clock",
    .timer_size = sizeof(uv_timer_t),
    .create = create,
    .destroy = destroy,
    .init = init,
    .schedule = schedule,
    .cancel = cancel,
    .move = schedule,
    .advance = advance,
    .next = next,
    .count = count,
};
