/* SPDX-License-Identifier: MIT */
/* rebase.c - moves timers from a wheel whose clock was set back to another one. */
#include "rebase.h"

#include "state.h"

int htw__wheel_create_reserved(struct htw_wheel **ret_wheel,
                               const struct htw_wheel_options *options, uint64_t horizon) {
    struct htw_wheel *wheel;
    int error = htw_wheel_create(&wheel, options);
    if (error != 0)
        return error;
    error = htw_wheel_reserve(wheel, horizon);
    if (error != 0)
        htw_wheel_destroy(wheel);
    else
        *ret_wheel = wheel;
    return error;
}

/* Polling also discards buckets that cancels have emptied, but no more than the slice. What never becomes due
   is left then. */
bool htw__wheel_rebase(struct htw_wheel *from, struct htw_wheel *to) {
    struct htw_timer *timers[HTW__SLICE];
    size_t count = 0;
    if (htw_wheel_poll_batch(from, HTW_NEVER_TICK, timers, HTW__SLICE, HTW__SLICE, &count) ==
        HTW_DONE)
        while (count < HTW__SLICE && (timers[count] = htw_wheel_drain(from)) != NULL)
            count++;
    for (size_t i = 0; i < count; i++)
        htw__wheel_schedule_surely(to, timers[i], htw_timer_deadline(timers[i]));
    return htw_wheel_count(from) == 0;
}
