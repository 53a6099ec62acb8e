/* SPDX-License-Identifier: MIT */
/*
 * times.h - times of the command, in seconds and nanoseconds.
 *
 * 64 bits of nanoseconds end after 292 years, and a line may ask for thousands (by mistake, or to
 * mean "never"). No sum or difference of what the parsers accept overflows this type.
 */
#ifndef HTW_SRC_CMD_TIMES_H
#define HTW_SRC_CMD_TIMES_H

#include <htw/wheel.h>

#include <stdbool.h>
#include <stdint.h>

#define HTW__NS_PER_US INT64_C(1000)
#define HTW__NS_PER_MS INT64_C(1000000)
#define HTW__NS_PER_S INT64_C(1000000000)
#define HTW__NS_PER_DAY INT64_C(86400000000000)

/* The longest delay and the farthest instant that are accepted: over 300 million years,
 * for which the C library still has a date. */
#define HTW__SECONDS_MAX INT64_C(10000000000000000)

/* A length of time, or a moment. */
struct htw__time {
    int64_t s;
    int64_t ns; /* 0 to 999 999 999, also where `s` is negative */
};

/* The two parts added up; `ns` may be any number. */
static inline struct htw__time htw__time_of(int64_t s, int64_t ns) {
    int64_t borrowed = ns % HTW__NS_PER_S < 0;
    return (struct htw__time) { s + ns / HTW__NS_PER_S - borrowed,
                                ns % HTW__NS_PER_S + borrowed * HTW__NS_PER_S };
}

/* In nanoseconds. What 64 bits cannot hold becomes the most or the least that they can. */
int64_t htw__time_to_ns(struct htw__time time);

static inline struct htw__time htw__time_add(struct htw__time a, struct htw__time b) {
    return htw__time_of(a.s + b.s, a.ns + b.ns);
}

static inline struct htw__time htw__time_subtract(struct htw__time a, struct htw__time b) {
    return htw__time_of(a.s - b.s, a.ns - b.ns);
}

static inline bool htw__time_is_before(struct htw__time a, struct htw__time b) {
    return a.s != b.s ? a.s < b.s : a.ns < b.ns;
}

static inline struct htw__time htw__time_later(struct htw__time a, struct htw__time b) {
    return htw__time_is_before(a, b) ? b : a;
}

/* A tick lasts `tick_ns`, up to a day. */

/* The beginning of a tick in which an accepted time lies. */
struct htw__time htw__time_of_tick(uint64_t tick, int64_t tick_ns);

/* The tick in which a time lies, which is not negative; HTW_NEVER_TICK when ticks end before it. */
uint64_t htw__time_tick_before(struct htw__time time, int64_t tick_ns);

/* The first tick that begins at a time or after it; otherwise as htw__time_tick_before(). */
uint64_t htw__time_tick_after(struct htw__time time, int64_t tick_ns);

#endif /* HTW_SRC_CMD_TIMES_H */
