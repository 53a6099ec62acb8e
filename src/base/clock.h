/* SPDX-License-Identifier: MIT */
/* clock.h - the only reader of a clock. Any thread may call these; none blocks. */
#ifndef HTW_SRC_BASE_CLOCK_H
#define HTW_SRC_BASE_CLOCK_H

#include <stdint.h>

/* Nanoseconds since some moment before the start of the program; never goes back. */
int64_t htw__clock_monotonic_ns(void);

/* The same, but goes on while the machine is suspended. */
int64_t htw__clock_boottime_ns(void);

/* Nanoseconds since 1970-01-01T00:00:00Z by the wall clock, which may be set either way. */
int64_t htw__clock_realtime_ns(void);

#endif /* HTW_SRC_BASE_CLOCK_H */
