/* SPDX-License-Identifier: MIT */
/*
 * rebase.h - a clock was set back: the timers of its wheel move to another one that begins at the new time,
 * since the clock of a wheel cannot go back.
 *
 * A slice moves at a time where others need the lock meanwhile; then both wheels are in use. If there is no
 * memory for another wheel, the old one stays.
 */
#ifndef HTW_SRC_SCHEDULER_REBASE_H
#define HTW_SRC_SCHEDULER_REBASE_H

#include "../base/assert.h"

#include <htw/wheel.h>

/* Arms a timer for a deadline for which the wheel has a level: cannot fail. */
static inline void htw__wheel_schedule_surely(struct htw_wheel *wheel, struct htw_timer *timer,
                                              uint64_t deadline) {
    int error = htw_wheel_schedule(wheel, timer, deadline);
    HTW_ASSERT(error == 0);
    (void)error;
}

/* Creates a wheel that has levels for all deadlines up to `horizon`. 0 or -ENOMEM. */
int htw__wheel_create_reserved(struct htw_wheel **ret_wheel,
                               const struct htw_wheel_options *options, uint64_t horizon);

/* Moves up to HTW__SLICE timers to a wheel that has a level for each of them. True: none is left. */
bool htw__wheel_rebase(struct htw_wheel *from, struct htw_wheel *to);

#endif /* HTW_SRC_SCHEDULER_REBASE_H */
