/* SPDX-License-Identifier: MIT */
/* clock.c - the kernel's clocks, in nanoseconds. */
#include "clock.h"

#include "../port/system.h"

int64_t htw__clock_monotonic_ns(void) {
    return htw__system_now_ns(HTW__SYSTEM_MONOTONIC);
}

int64_t htw__clock_boottime_ns(void) {
    return htw__system_now_ns(HTW__SYSTEM_BOOTTIME);
}

int64_t htw__clock_realtime_ns(void) {
    return htw__system_now_ns(HTW__SYSTEM_REALTIME);
}
