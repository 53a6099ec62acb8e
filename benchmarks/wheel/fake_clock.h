/* SPDX-License-Identifier: MIT */
/*
 * fake_clock.h - runs an event library that reads the real clock on virtual time.
 *
 * fake_clock.c defines clock_gettime() and gettimeofday() for the whole program and its shared
 * libraries. While a thread has faked its clock, both return the virtual time; otherwise they
 * return the true time, a nanosecond or two later than libc's. So the measured library is the one
 * of the distribution, unchanged.
 *
 * A tick is a millisecond, and the clock is always half way through one. A library that
 * computes with less than exact seconds then still sees a timer on the right side of the clock:
 * half a tick before or after it.
 */
#ifndef BENCH_WHEEL_FAKE_CLOCK_H
#define BENCH_WHEEL_FAKE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* This thread reads `tick` from the clock until bench_clock_restore(). */
void bench_clock_fake(uint64_t tick);

/* This thread reads the true time again. */
void bench_clock_restore(void);

#endif /* BENCH_WHEEL_FAKE_CLOCK_H */
