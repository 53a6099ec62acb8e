/* SPDX-License-Identifier: MIT */
/* clock.h - reads the clocks of the kernel. No other file of the library does. */
#ifndef HTW_SRC_BASE_CLOCK_H
#define HTW_SRC_BASE_CLOCK_H

#include "compiler.h"

#include <stdint.h>

/* Nanoseconds since a moment before the start of the program. Never goes back. */
HTW__SHARED int64_t htw__clock_monotonic_ns(void);

/* The same, but continues while the machine is suspended. Only Linux has it. */
int64_t htw__clock_boottime_ns(void);

/* Nanoseconds since 1970-01-01T00:00:00Z by the wall clock, which may be set forward or back. */
HTW__SHARED int64_t htw__clock_realtime_ns(void);

/* Milliseconds. */
static inline int64_t htw__clock_monotonic_ms(void) {
    return htw__clock_monotonic_ns() / 1000000;
}

static inline int64_t htw__clock_realtime_ms(void) {
    return htw__clock_realtime_ns() / 1000000;
}

/* Of two instants of one clock. */
/*@ assigns \nothing;
    ensures \result == \min(a, b); */
static inline int64_t htw__clock_earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

#endif /* HTW_SRC_BASE_CLOCK_H */
