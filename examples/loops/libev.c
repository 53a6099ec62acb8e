/* SPDX-License-Identifier: MIT */
/*
 * libev.c - the wheel in a libev loop: one ev_timer stands for all timers of the wheel. An ev_prepare, which
 * runs before the loop sleeps, sets it to htw_wheel_next().
 *
 * The job is described in epoll.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/wheel.h>

#include <ev.h>
#include <stdio.h>
#include <time.h>

#define TIMERS 10000
#define LEFT (TIMERS / 100)
#define TICK_NS 1000000

static struct request {
    int64_t due_ns;
    struct htw_timer timeout; /* all zero: not armed */
} requests[TIMERS];
static struct htw_wheel *wheel;
static unsigned expired, cancelled, wrong, wakeups;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

/* The clock is rounded down and a deadline up: so no timer is early. */
static uint64_t now_tick(void) {
    return (uint64_t)now_ns() / TICK_NS;
}

static void arm(struct request *request, int64_t delay_ns) {
    request->due_ns = now_ns() + delay_ns;
    uint64_t deadline = ((uint64_t)request->due_ns + TICK_NS - 1) / TICK_NS;
    if (htw_wheel_schedule(wheel, &request->timeout, deadline) != 0)
        wrong++;
}

static void expire(void) {
    static uint64_t last;
    uint64_t now = now_tick(); /* one value for the whole round */
    struct htw_timer *timer;
    while ((timer = htw_wheel_poll(wheel, now)) != NULL) {
        struct request *request = HTW_CONTAINER_OF(timer, struct request, timeout);
        if (now_ns() < request->due_ns || htw_timer_deadline(timer) < last)
            wrong++; /* early, or not in order */
        last = htw_timer_deadline(timer);
        expired++;
    }
}

static ev_timer alarm_timer;

static void on_alarm(struct ev_loop *loop, ev_timer *timer, int events) {
    (void)loop;
    (void)timer;
    (void)events;
    expire();
}

/* Also after a callback that has armed or cancelled: so none of them has to set the alarm. */
static void before_sleep(struct ev_loop *loop, ev_prepare *prepare, int events) {
    uint64_t next = htw_wheel_next(wheel);
    (void)prepare;
    (void)events;
    wakeups++;
    ev_timer_stop(loop, &alarm_timer);
    if (next == HTW_NEVER_TICK) {
        ev_break(loop, EVBREAK_ALL);
        return;
    }
    double wait = (double)((int64_t)next * TICK_NS - now_ns()) * 1e-9;
    /* libev counts from the time at which the loop has woken up. */
    ev_timer_set(&alarm_timer, (wait > 0 ? wait : 0) + (ev_time() - ev_now(loop)), 0.);
    ev_timer_start(loop, &alarm_timer);
}

static void on_answers(struct ev_loop *loop, ev_async *async, int events) {
    (void)loop;
    (void)async;
    (void)events;
    for (int i = 0; i < TIMERS; i++) /* nearly all have been answered */
        if (i % 100 != 0 && htw_wheel_cancel(wheel, &requests[i].timeout))
            cancelled++;
        else if (i % 100 != 0 && now_ns() < requests[i].due_ns)
            wrong++; /* gone before its time */
}

int main(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct ev_loop *loop = ev_default_loop(EVFLAG_AUTO);
    ev_prepare prepare;
    ev_async answers;
    options.start = now_tick();
    if (loop == NULL || htw_wheel_create(&wheel, &options) != 0)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        arm(&requests[i], (20 + i % 199) * INT64_C(1000000));
    ev_timer_init(&alarm_timer, on_alarm, 0., 0.);
    ev_prepare_init(&prepare, before_sleep);
    ev_prepare_start(loop, &prepare);
    ev_async_init(&answers, on_answers);
    ev_async_start(loop, &answers);
    ev_async_send(loop, &answers);
    ev_run(loop, 0);
    printf("%u cancelled, %u expired, %u turns of the loop\n", cancelled, expired, wakeups);
    htw_wheel_destroy(wheel);
    ev_loop_destroy(loop);
    /* If the process stood still before the answers, some had expired by then. */
    return expired + cancelled == TIMERS && wakeups <= 2 * LEFT && wrong == 0 ? 0 : 1;
}
