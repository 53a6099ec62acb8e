/* SPDX-License-Identifier: MIT */
/* clock.h - reads the clocks, and sleeps until an instant of CLOCK_MONOTONIC. */
#ifndef BENCH_COMMON_CLOCK_H
#define BENCH_COMMON_CLOCK_H

#include <stdint.h>
#include <time.h>

static inline int64_t clock_read_ns(clockid_t clock) {
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static inline int64_t clock_now_ns(void) {
    return clock_read_ns(CLOCK_MONOTONIC);
}

/* Since 1970. */
static inline int64_t clock_wall_ns(void) {
    return clock_read_ns(CLOCK_REALTIME);
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
