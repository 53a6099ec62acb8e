/* SPDX-License-Identifier: MIT */
/*
 * libuv.c - the wheel in a libuv loop: one uv_timer_t stands for all timers of the wheel. A uv_prepare_t,
 * which runs before the loop sleeps, sets it to htw_wheel_next().
 *
 * The job is described in epoll.c.
 */
#define _POSIX_C_SOURCE 200809L /* wanted by uv.h */
#include <htw/wheel.h>

#include <stdio.h>
#include <uv.h>

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
    return (int64_t)uv_hrtime();
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

static uv_timer_t alarm_timer;
static uv_prepare_t prepare;
static uv_async_t answers;

static void on_alarm(uv_timer_t *timer) {
    (void)timer;
    expire();
}

/* Also after a callback that has armed or cancelled: so none of them has to set the alarm. */
static void before_sleep(uv_prepare_t *handle) {
    uint64_t next = htw_wheel_next(wheel);
    wakeups++;
    if (next == HTW_NEVER_TICK) {
        uv_close((uv_handle_t *)&alarm_timer, NULL);
        uv_close((uv_handle_t *)&answers, NULL);
        uv_close((uv_handle_t *)handle, NULL); /* nothing is left: the loop ends */
        return;
    }
    uint64_t now = uv_now(handle->loop); /* the same clock, in milliseconds, rounded down */
    if (uv_timer_start(&alarm_timer, on_alarm, next > now ? next - now : 0, 0) != 0)
        wrong++;
}

static void on_answers(uv_async_t *handle) { /* nearly all have been answered */
    (void)handle;
    for (int i = 0; i < TIMERS; i++)
        if (i % 100 != 0 && htw_wheel_cancel(wheel, &requests[i].timeout))
            cancelled++;
        else if (i % 100 != 0 && now_ns() < requests[i].due_ns)
            wrong++; /* gone before its time */
}

int main(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    uv_loop_t *loop = uv_default_loop();
    options.start = now_tick();
    if (htw_wheel_create(&wheel, &options) != 0 || uv_timer_init(loop, &alarm_timer) != 0 ||
        uv_prepare_init(loop, &prepare) != 0 || uv_prepare_start(&prepare, before_sleep) != 0 ||
        uv_async_init(loop, &answers, on_answers) != 0 || uv_async_send(&answers) != 0)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        arm(&requests[i], (20 + i % 199) * INT64_C(1000000));
    uv_run(loop, UV_RUN_DEFAULT);
    printf("%u cancelled, %u expired, %u turns of the loop\n", cancelled, expired, wakeups);
    htw_wheel_destroy(wheel);
    uv_loop_close(loop);
    /* If the process stood still before the answers, some had expired by then. */
    return expired + cancelled == TIMERS && wakeups <= 2 * LEFT && wrong == 0 ? 0 : 1;
}
