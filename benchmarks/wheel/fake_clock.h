/* SPDX-License-Identifier: MIT */
/*
 * fake_clock.h - lets an event library that reads the real clock run on virtual time.
 *
 * fake_clock.c defines clock_gettime() and gettimeofday() for the whole program, its shared
 * libraries included. While a thread has the clock faked, it is told the virtual time by
 * both; otherwise the true one, a nanosecond or two later than without. So the library that
 * is measured is the distribution's own, unchanged, and only its clock is not.
 *
 * A tick is a millisecond, and the clock is always told half way through one. A library
 * that computes with less than exact seconds then still finds a timer on the right side of
 * the clock: due half a tick ago or in half a tick.
 */
#ifndef BENCH_WHEEL_FAKE_CLOCK_H
#define BENCH_WHEEL_FAKE_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/* Tells this thread that it is `tick`, until bench_clock_restore(). */
void bench_clock_fake(uint64_t tick);

/* Tells this thread the true time again. */
void bench_clock_restore(void);

#endif /* BENCH_WHEEL_FAKE_CLOCK_H */
