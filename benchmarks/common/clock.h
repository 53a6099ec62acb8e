/* SPDX-License-Identifier: MIT */
/* clock.h - reads CLOCK_MONOTONIC, and sleeps until an instant of it. */
#ifndef BENCH_COMMON_CLOCK_H
#define BENCH_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline void clock_sleep_until(int64_t instant_ns) {
    struct timespec until = { .tv_sec = instant_ns / 1000000000,
                              .tv_nsec = instant_ns % 1000000000 };
    while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) != 0)
        ; /* interrupted */
}

static inline int64_t clock_ns(double seconds) {
    return (int64_t)(seconds * 1e9);
}

#endif
