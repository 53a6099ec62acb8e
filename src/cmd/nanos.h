/* SPDX-License-Identifier: MIT */
/*
 * nanos.h - times of the command, in nanoseconds.
 *
 * 64 bits of nanoseconds end after 292 years, and a line may ask for thousands (by mistake, or to
 * mean "never"). In 128 bits no sum or product of what the parsers accept can overflow.
 */
#ifndef HTW_SRC_CMD_NANOS_H
#define HTW_SRC_CMD_NANOS_H

#include <htw/wheel.h>

#include <stdint.h>

__extension__ typedef __int128 htw__nanos; /* 64-bit machines have it */

#define HTW__NS_PER_US INT64_C(1000)
#define HTW__NS_PER_MS INT64_C(1000000)
#define HTW__NS_PER_S INT64_C(1000000000)
#define HTW__NS_PER_DAY INT64_C(86400000000000)

/* The longest delay and the farthest instant that are accepted: over 300 million years,
 * for which the C library still has a date. */
#define HTW__SECONDS_MAX INT64_C(10000000000000000)

/* The tick in which a moment lies. `time_ns` is at least 0. */
static inline uint64_t htw__nanos_tick_before(htw__nanos time_ns, int64_t tick_ns) {
    if (time_ns <= INT64_MAX) /* the 128-bit division costs five times as much */
        return (uint64_t)((int64_t)time_ns / tick_ns);
    htw__nanos tick = time_ns / tick_ns;
    return tick < (htw__nanos)HTW_NEVER_TICK ? (uint64_t)tick : HTW_NEVER_TICK;
}

/* The first tick that begins at a moment or after it; HTW_NEVER_TICK when ticks end before it. */
static inline uint64_t htw__nanos_tick_after(htw__nanos time_ns, int64_t tick_ns) {
    return htw__nanos_tick_before(time_ns + tick_ns - 1, tick_ns);
}

#endif /* HTW_SRC_CMD_NANOS_H */
