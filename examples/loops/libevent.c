/* SPDX-License-Identifier: MIT */
/*
 * libevent.c - the wheel in a libevent loop: one event stands for all timers of the wheel. libevent 2.1 has no
 * hook before it sleeps, so what arms a timer sets the alarm, if the timer is earlier than the others. A cancel
 * need not: a wake-up with nothing due is rare, and corrects itself.
 *
 * The job is described in epoll.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/wheel.h>

#include <event2/event.h>
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

static struct event *alarm_event;
static uint64_t alarm_tick = HTW_NEVER_TICK;

/* After arming, and after each round. */
static void set_alarm(void) {
    uint64_t next = htw_wheel_next(wheel);
    if (next >= alarm_tick || next == HTW_NEVER_TICK)
        return;
    int64_t wait_ns = (int64_t)next * TICK_NS - now_ns();
    if (wait_ns < 0)
        wait_ns = 0;
    struct timeval wait = { .tv_sec = wait_ns / 1000000000,
                            .tv_usec = wait_ns % 1000000000 / 1000 + 1 }; /* rounded up */
    alarm_tick = next;
    if (event_add(alarm_event, &wait) != 0)
        wrong++;
}

static void on_alarm(evutil_socket_t none, short events, void *context) {
    (void)none;
    (void)events;
    (void)context;
    wakeups++;
    alarm_tick = HTW_NEVER_TICK;
    expire();
    set_alarm(); /* none if no timer is left: the loop ends */
}

static void on_answers(evutil_socket_t none, short events, void *context) {
    (void)none;
    (void)events;
    (void)context;
    wakeups++;
    for (int i = 0; i < TIMERS; i++) /* nearly all have been answered */
        if (i % 100 != 0 && htw_wheel_cancel(wheel, &requests[i].timeout))
            cancelled++;
        else if (i % 100 != 0 && now_ns() < requests[i].due_ns)
            wrong++; /* gone before its time */
}

int main(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct event_config *config = event_config_new();
    /* Otherwise the clock of libevent is coarser than the ticks, and it wakes up too early. */
    if (config == NULL || event_config_set_flag(config, EVENT_BASE_FLAG_PRECISE_TIMER) != 0)
        return 1;
    struct event_base *base = event_base_new_with_config(config);
    options.start = now_tick();
    if (base == NULL || htw_wheel_create(&wheel, &options) != 0 ||
        (alarm_event = evtimer_new(base, on_alarm, NULL)) == NULL ||
        event_base_once(base, -1, EV_TIMEOUT, on_answers, NULL, NULL) != 0)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        arm(&requests[i], (20 + i % 199) * INT64_C(1000000));
    set_alarm();
    event_base_dispatch(base);
    printf("%u cancelled, %u expired, %u wake-ups\n", cancelled, expired, wakeups);
    htw_wheel_destroy(wheel);
    event_free(alarm_event);
    event_base_free(base);
    event_config_free(config);
    /* If the process stood still before the answers, some had expired by then. */
    return expired + cancelled == TIMERS && wakeups <= 2 * LEFT && wrong == 0 ? 0 : 1;
}
