/* SPDX-License-Identifier: MIT */
/* steady.c - a clock for durations, and what else the purgatory needs of a scheduler. */
#include "steady.h"

#include "../base/clock.h"
#include "clocks.h"
#include "state.h"

enum htw_clock htw__steady_clock(const struct htw_scheduler *scheduler) {
    return scheduler->clock->is_settable ? HTW_CLOCK_MONOTONIC : HTW_CLOCK_DEFAULT;
}

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler) {
    return scheduler->clock->is_settable ? htw__clock_monotonic_ns() : htw__now_ns(scheduler);
}

bool htw__steady_is_manual(const struct htw_scheduler *scheduler) {
    return htw__is_manual(scheduler);
}

bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler) {
    return !scheduler->embedded && !htw__is_manual(scheduler);
}

bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler) {
    return htw__is_ending(scheduler);
}
