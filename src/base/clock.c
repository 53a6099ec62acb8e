/* SPDX-License-Identifier: MIT */
/* clock.c - the kernel's clocks, in nanoseconds. */
#include "clock.h"

#include "../port/system.h"

/* Cannot fail: Linux has had all three clocks since 2.6.39, and POSIX systems have those two. */
static int64_t read_ns(clockid_t id) {
    struct timespec now;
    clock_gettime(id, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t htw__clock_monotonic_ns(void) {
    return read_ns(CLOCK_MONOTONIC);
}

int64_t htw__clock_boottime_ns(void) {
    return read_ns(HTW__SYSTEM_BOOTTIME);
}

int64_t htw__clock_realtime_ns(void) {
    return read_ns(CLOCK_REALTIME);
}
