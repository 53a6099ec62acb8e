/* SPDX-License-Identifier: MIT */
/* expiry.h - arming many timers, and letting all of them expire. The timers lie in an open
 * run, and none is armed before. What returns a number tells the nanoseconds that it took. */
#ifndef HTW_BENCH_EXPIRY_H
#define HTW_BENCH_EXPIRY_H

#include "run.h"

/* Draw a delay for each timer, which its record keeps until the timer is armed: evenly from 1
 * to EXPIRY_EVEN_MAX, or from 1 to EXPIRY_DAY such that its logarithm is even. */
#define EXPIRY_EVEN_MAX 60000
#define EXPIRY_DAY 86400000
void expiry_draw_even(struct run *run);
void expiry_draw_log(struct run *run);

/* Arm each timer for the delay drawn, or for a tick between it and 1 % more. */
uint64_t expiry_arm(struct run *run);
uint64_t expiry_arm_within(struct run *run);

/* Advances tick by tick through `ticks`; counts those in which something fired. */
uint64_t expiry_tick(struct run *run, uint64_t ticks, uint64_t *ret_wakeups);
/* Advances to where next() tells until nothing is left; reports time and advances as `phase`, and
 * checks the end. */
void expiry_drain(struct run *run, const char *phase);

#endif /* HTW_BENCH_EXPIRY_H */
