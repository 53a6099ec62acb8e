/* SPDX-License-Identifier: MIT */
/*
 * sleep.c - ppoll().
 *
 * Without _FORTIFY_SOURCE: with it glibc before 2.37 calls the function for times of 32 bits, also
 * where times have 64. It takes their upper half for the nanoseconds, and sleeps whole seconds only.
 */
#undef _FORTIFY_SOURCE
#include "sleep.h"

#include "times.h"

#include <stddef.h>
#include <time.h>

/* The longest sleep: the range of ppoll() differs between systems. */
#define SECONDS_MAX 1000000000

int htw__sleep(struct pollfd *wanted, nfds_t count, int64_t limit_ns) {
    struct timespec limit = { .tv_sec = SECONDS_MAX };
    if (limit_ns < SECONDS_MAX * HTW_SECOND) {
        limit.tv_sec = (time_t)(limit_ns / HTW_SECOND);
        limit.tv_nsec = (long)(limit_ns % HTW_SECOND);
    }
    return ppoll(wanted, count, limit_ns < 0 ? NULL : &limit, NULL);
}
