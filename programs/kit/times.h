/* SPDX-License-Identifier: MIT */
/*
 * times.h - times of the command: nanoseconds in 64 bits, as lengths of time up to 292 years, and as moments
 * from 1678 to 2262. Nothing here overflows: what 64 bits do not hold becomes the most or the least that they can.
 */
#ifndef HTW_KIT_TIMES_H
#define HTW_KIT_TIMES_H

#include <htw/wheel.h>

#include <stdint.h>

#define HTW__NS_PER_US INT64_C(1000)
#define HTW__NS_PER_MS INT64_C(1000000)
#define HTW__NS_PER_S INT64_C(1000000000)
#define HTW__NS_PER_DAY INT64_C(86400000000000)

static inline int64_t htw__time_add(int64_t a_ns, int64_t b_ns) {
    if (b_ns > 0 && a_ns > INT64_MAX - b_ns)
        return INT64_MAX;
    return b_ns < 0 && a_ns < INT64_MIN - b_ns ? INT64_MIN : a_ns + b_ns;
}

static inline int64_t htw__time_subtract(int64_t a_ns, int64_t b_ns) {
    return b_ns == INT64_MIN ? INT64_MAX : htw__time_add(a_ns, -b_ns);
}

static inline int64_t htw__time_later(int64_t a_ns, int64_t b_ns) {
    return a_ns > b_ns ? a_ns : b_ns;
}

/* A tick lasts `tick_ns`, up to a day. Times are not negative. */

/* The beginning of a tick. */
static inline int64_t htw__time_of_tick(uint64_t tick, int64_t tick_ns) {
    return tick > (uint64_t)(INT64_MAX / tick_ns) ? INT64_MAX : (int64_t)tick * tick_ns;
}

/* The tick in which a time lies, and the first one that begins at it or after it. */
static inline uint64_t htw__time_tick_before(int64_t time_ns, int64_t tick_ns) {
    return (uint64_t)time_ns / (uint64_t)tick_ns;
}

static inline uint64_t htw__time_tick_after(int64_t time_ns, int64_t tick_ns) {
    return ((uint64_t)time_ns + (uint64_t)tick_ns - 1) / (uint64_t)tick_ns;
}

#endif /* HTW_KIT_TIMES_H */
