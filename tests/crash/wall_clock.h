/* SPDX-License-Identifier: MIT */
/*
 * wall_clock.h - a wall clock that a test can set, for this process and those that it forks.
 *
 * What the C library says of CLOCK_REALTIME, and timers of the kernel for that clock, are replaced
 * by the linker (-Wl,--wrap). As the kernel does, setting the clock wakes those that sleep on such
 * timers.
 */
#ifndef TESTS_WALL_CLOCK_H
#define TESTS_WALL_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

/** Before all other functions, and before any fork. The clock is the real one at first. */
void wall_clock_init(void);

/** Sets the clock forward or back. */
void wall_clock_step(int64_t delta_ns);

/** How far the clock is ahead of the real one, and how far it ever was. */
int64_t wall_clock_ahead_ns(void);
int64_t wall_clock_most_ahead_ns(void);

/** Rises before and after each setting of the clock: unchanged, it was not set. */
uint64_t wall_clock_steps(void);

/** What the clock shows. */
int64_t wall_clock_now_ns(void);

/** Whether it has shown this to this thread, to any function, in one of the last 16 times. */
bool wall_clock_has_shown(int64_t ns);

#endif /* TESTS_WALL_CLOCK_H */
