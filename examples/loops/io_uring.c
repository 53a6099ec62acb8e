/* SPDX-License-Identifier: MIT */
/*
 * io_uring.c - the wheel in an io_uring loop: the call that submits and waits ends at htw_wheel_next().
 *
 * The job is described in epoll.c. Where the kernel or a sandbox forbids io_uring, the program says so and ends
 * with 77.
 */
#define _GNU_SOURCE /* wanted by liburing.h */
#include <htw/wheel.h>

#include <liburing.h>
#include <stdio.h>
#include <string.h>
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

/* How long the kernel may wait; NULL: for ever. */
static struct __kernel_timespec *timeout(struct __kernel_timespec *wait) {
    uint64_t next = htw_wheel_next(wheel);
    if (next == HTW_NEVER_TICK)
        return NULL;
    int64_t wait_ns = (int64_t)next * TICK_NS - now_ns();
    if (wait_ns < 0)
        wait_ns = 0;
    wait->tv_sec = wait_ns / 1000000000;
    wait->tv_nsec = wait_ns % 1000000000;
    return wait;
}

int main(void) {
    struct htw_wheel_options options = HTW_WHEEL_OPTIONS_INIT;
    struct io_uring ring;
    char answer;
    int answers[2];
    options.start = now_tick();
    int error = io_uring_queue_init(8, &ring, 0);
    if (error != 0) {
        fprintf(stderr, "no io_uring here: %s\n", strerror(-error));
        return 77;
    }
    if (pipe(answers) != 0 || htw_wheel_create(&wheel, &options) != 0)
        return 1;
    for (int i = 0; i < TIMERS; i++)
        arm(&requests[i], (20 + i % 199) * INT64_C(1000000));
    io_uring_prep_read(io_uring_get_sqe(&ring), answers[0], &answer, 1, 0);
    if (write(answers[1], "!", 1) != 1)
        return 1;

    while (htw_wheel_count(wheel) > 0) {
        struct __kernel_timespec wait;
        struct io_uring_cqe *cqe = NULL;
        int result = io_uring_submit_and_wait_timeout(&ring, &cqe, 1, timeout(&wait), NULL);
        wakeups++;
        if (result >= 0 && cqe != NULL) { /* the read has ended: nearly all have been answered */
            io_uring_cqe_seen(&ring, cqe);
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
    io_uring_queue_exit(&ring);
    close(answers[0]);
    close(answers[1]);
    /* If the process stood still before the answers, some had expired by then. */
    return expired + cancelled == TIMERS && wakeups <= 2 * LEFT && wrong == 0 ? 0 : 1;
}
