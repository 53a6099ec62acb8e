/* SPDX-License-Identifier: MIT */
/*
 * epoll.c - the wheel in an epoll loop: epoll_wait() sleeps until htw_wheel_next().
 *
 * The job is that of all programs in this folder. Ten thousand timeouts are armed, and all but one in
 * a hundred are cancelled inside the loop. The others expire in order of their deadlines, none early,
 * and the loop wakes up about once for each of them: it does not spin.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/wheel.h>

#include <limits.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

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

/* How long epoll_wait() may sleep, in milliseconds, which are ticks here; -1: for ever. */
static int timeout_ms(void) {
    uint64_t next = htw_wheel_next(wheel), now = now_tick();
    if (next == HTW_NEVER_TICK)
        return -1;
    if (next <= now)
        return 0;
    return next - now < INT_MAX ? (int)(next - now) : INT_MAX;
}

int main(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct epoll_event event = { .events = EPOLLIN };
    int answers[2], epoll = epoll_create1(0);
    options.start = now_tick();
    if (epoll < 0 || pipe(answers) != 0 || htw_wheel_create(&wheel, &options) != 0 ||
        epoll_ctl(epoll, EPOLL_CTL_ADD, answers[0], &event) != 0 || write(answers[1], "!", 1) != 1)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        arm(&requests[i], (20 + i % 199) * INT64_C(1000000));

    while (htw_wheel_count(wheel) > 0) {
        int ready = epoll_wait(epoll, &event, 1, timeout_ms());
        char byte;
        wakeups++;
        if (ready == 1 && read(answers[0], &byte, 1) == 1) { /* nearly all have been answered */
            for (int i = 0; i < TIMERS; i++)
                if (i % 100 != 0 && htw_wheel_cancel(wheel, &requests[i].timeout))
                    cancelled++;
                else if (i % 100 != 0 && now_ns() < requests[i].due_ns)
                    wrong++; /* gone before its time */
        }
        expire();
    }
    printf("%u cancelled, %u expired, %u wake-ups\n", cancelled, expired, wakeups);
    htw_wheel_destroy(wheel);
    close(answers[0]);
    close(answers[1]);
    close(epoll);
    /* If the process stood still before the answers, some had expired by then. */
    return expired + cancelled == TIMERS && wakeups <= 2 * LEFT && wrong == 0 ? 0 : 1;
}
