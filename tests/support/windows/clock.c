/* SPDX-License-Identifier: MIT */
/* clock.c - the monotonic clock of the library, which the library in two files hides. */
#include "../../../src/base/clock.h"

int windows_clock_gettime(struct timespec *ret_time) {
    int64_t now_ns = htw__clock_monotonic_ns();
    *ret_time = (struct timespec) { (time_t)(now_ns / 1000000000), (long)(now_ns % 1000000000) };
    return 0;
}
