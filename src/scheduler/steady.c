/* SPDX-License-Identifier: MIT */
/* steady.c - a clock for durations, and what else the purgatory needs of a scheduler. */
#include "steady.h"

#include "../base/clock.h"
#include "clocks.h"
#include "state.h"

int64_t htw__steady_now_ns(const struct htw_scheduler *scheduler) {
    return scheduler->clock->is_settable ? htw__clock_monotonic_ns() : htw__now_ns(scheduler);
}

bool htw__steady_is_manual(const struct htw_scheduler *scheduler) {
    return htw__is_manual(scheduler);
}

int64_t htw__steady_to_clock_ns(const struct htw_scheduler *scheduler, int64_t steady_ns) {
    if (!scheduler->clock->is_settable || steady_ns == HTW_NEVER_NS)
        return steady_ns;
    /* In this order: a thread that is stopped in between sets the timer too early. */
    int64_t now_ns = htw__now_ns(scheduler);
    return htw__after_ns(now_ns, steady_ns - htw__clock_monotonic_ns());
}

void htw__clock_listener_add(struct htw_scheduler *scheduler,
                             struct htw__clock_listener *listener) {
    htw__clock_listeners_add(&scheduler->clock_listeners, listener);
}

void htw__clock_listener_remove(struct htw_scheduler *scheduler,
                                struct htw__clock_listener *listener) {
    htw__clock_listeners_remove(&scheduler->clock_listeners, listener);
}

bool htw__scheduler_has_threads(const struct htw_scheduler *scheduler) {
    return !scheduler->embedded && !htw__is_manual(scheduler);
}

bool htw__scheduler_is_stopped(const struct htw_scheduler *scheduler) {
    return htw__is_ending(scheduler);
}
