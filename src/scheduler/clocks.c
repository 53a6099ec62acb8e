/* SPDX-License-Identifier: MIT */
/* clocks.c - the table of clocks that a scheduler may use. */
#include "clocks.h"

#include "../base/clock.h"

static const struct htw__clock clocks[] = {
    [HTW_CLOCK_MONOTONIC] = { htw__clock_monotonic_ns, CLOCK_MONOTONIC, .is_settable = false },
#ifndef HTW_PORTABLE
    [HTW_CLOCK_BOOTTIME] = { htw__clock_boottime_ns, CLOCK_BOOTTIME, .is_settable = false },
#endif
    [HTW_CLOCK_REALTIME] = { htw__clock_realtime_ns, CLOCK_REALTIME, .is_settable = true },
    [HTW_CLOCK_MANUAL] = { .read_ns = NULL },
};

const struct htw__clock *htw__clock_of(enum htw_clock clock) {
#ifdef HTW_PORTABLE
    if (clock == HTW_CLOCK_BOOTTIME)
        return NULL;
#endif
    return (unsigned)clock < sizeof(clocks) / sizeof(clocks[0]) ? &clocks[clock] : NULL;
}
