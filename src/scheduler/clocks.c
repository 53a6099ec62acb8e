/* SPDX-License-Identifier: MIT */
/* clocks.c - the table of clocks that a scheduler and its timers may use. */
#include "clocks.h"

#include "../base/clock.h"
#include "../port/system.h"

/* A clock, and what stands for it in manual time: `manual` chooses. */
#define ROW(clock, read_ns, id, is_settable)                                           \
    case clock: {                                                                      \
        _Static_assert((clock) < HTW__CLOCK_COUNT, "state.h counts the clocks");       \
        static const struct htw__clock rows[] = { { read_ns, clock, id, is_settable }, \
                                                  { NULL, clock, id, is_settable } };  \
        return &rows[manual];                                                          \
    }

/* NULL: there is no such clock here. A value of the enumeration without a row stops the compiler. */
#pragma GCC diagnostic push
#pragma GCC diagnostic error "-Wswitch"
static const struct htw__clock *row_of(enum htw_clock name, bool manual) {
    if (!HTW__SYSTEM_HAS_BOOTTIME && name == HTW_CLOCK_BOOTTIME)
        return NULL;
    switch (name) {
        ROW(HTW_CLOCK_MONOTONIC, htw__clock_monotonic_ns, HTW__SYSTEM_MONOTONIC, false)
        ROW(HTW_CLOCK_BOOTTIME, htw__clock_boottime_ns, HTW__SYSTEM_BOOTTIME, false)
        ROW(HTW_CLOCK_REALTIME, htw__clock_realtime_ns, HTW__SYSTEM_REALTIME, true)
        ROW(HTW_CLOCK_MANUAL, NULL, 0, false)
    case HTW_CLOCK_DEFAULT:
        break;
    }
    return NULL;
}
#pragma GCC diagnostic pop

const struct htw__clock *htw__clock_of(enum htw_clock clock) {
    return row_of(clock == HTW_CLOCK_DEFAULT ? HTW_CLOCK_MONOTONIC : clock, false);
}

const struct htw__clock *htw__clock_for(const struct htw_scheduler *scheduler,
                                        enum htw_clock clock) {
    if (clock == HTW_CLOCK_DEFAULT || clock == scheduler->clock->name)
        return scheduler->clock;
    return clock == HTW_CLOCK_MANUAL ? NULL : row_of(clock, htw__is_manual(scheduler));
}

int64_t htw__own_from_ns(const struct htw_scheduler *scheduler, const struct htw__clock *clock,
                         int64_t at_ns) {
    if (clock == scheduler->clock)
        return at_ns;
    /* In this order: a thread that is stopped in between gets an instant that is too early. */
    int64_t own_ns = htw__now_ns(scheduler);
    return htw__after_ns(own_ns, htw__left_ns(htw__clock_now_ns(scheduler, clock), at_ns));
}
