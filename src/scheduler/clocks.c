/* SPDX-License-Identifier: MIT */
/* clocks.c - the table of clocks that a scheduler and its timers may use. */
#include "clocks.h"

#include "../base/clock.h"
#include "../port/system.h"

static const struct htw__clock clocks[HTW__CLOCK_COUNT] = {
    [HTW_CLOCK_MONOTONIC] = { htw__clock_monotonic_ns, HTW_CLOCK_MONOTONIC, CLOCK_MONOTONIC,
                              .is_settable = false },
    [HTW_CLOCK_BOOTTIME] = { htw__clock_boottime_ns, HTW_CLOCK_BOOTTIME, HTW__SYSTEM_BOOTTIME,
                             .is_settable = false },
    [HTW_CLOCK_REALTIME] = { htw__clock_realtime_ns, HTW_CLOCK_REALTIME, CLOCK_REALTIME,
                             .is_settable = true },
    [HTW_CLOCK_MANUAL] = { .read_ns = NULL, HTW_CLOCK_MANUAL },
};

/* What stands for them in manual time. */
static const struct htw__clock manual_clocks[HTW__SLOT_COUNT] = {
    [HTW_CLOCK_MONOTONIC] = { .read_ns = NULL, HTW_CLOCK_MONOTONIC },
    [HTW_CLOCK_BOOTTIME] = { .read_ns = NULL, HTW_CLOCK_BOOTTIME },
    [HTW_CLOCK_REALTIME] = { .read_ns = NULL, HTW_CLOCK_REALTIME, .is_settable = true },
};

static bool exists(enum htw_clock clock) {
    return (unsigned)clock < HTW__CLOCK_COUNT &&
           (HTW__SYSTEM_HAS_BOOTTIME || clock != HTW_CLOCK_BOOTTIME);
}

const struct htw__clock *htw__clock_of(enum htw_clock clock) {
    if (clock == HTW_CLOCK_DEFAULT)
        clock = HTW_CLOCK_MONOTONIC;
    return exists(clock) ? &clocks[clock] : NULL;
}

const struct htw__clock *htw__clock_for(const struct htw_scheduler *scheduler,
                                        enum htw_clock clock) {
    if (clock == HTW_CLOCK_DEFAULT || clock == scheduler->clock->name)
        return scheduler->clock;
    if (!exists(clock) || clock == HTW_CLOCK_MANUAL)
        return NULL;
    return htw__is_manual(scheduler) ? &manual_clocks[clock] : &clocks[clock];
}

int64_t htw__own_from_ns(const struct htw_scheduler *scheduler, const struct htw__clock *clock,
                         int64_t at_ns) {
    if (clock == scheduler->clock)
        return at_ns;
    /* In this order: a thread that is stopped in between gets an instant that is too early. */
    int64_t own_ns = htw__now_ns(scheduler);
    return htw__after_ns(own_ns, htw__left_ns(htw__clock_now_ns(scheduler, clock), at_ns));
}
