/* SPDX-License-Identifier: MIT */
/* wake.c - when an expirer wakes up: its alarm, and who sets it. */
#include "wake.h"

static const clockid_t clock_ids[] = {
    [HTW_CLOCK_MONOTONIC] = CLOCK_MONOTONIC,
    [HTW_CLOCK_BOOTTIME] = CLOCK_BOOTTIME,
    [HTW_CLOCK_REALTIME] = CLOCK_REALTIME,
};

static bool has_alarm(const struct htw_scheduler *scheduler) {
    return scheduler->clock != HTW_CLOCK_MANUAL;
}

int htw__wake_init(struct htw__expirer *expirer) {
    const struct htw_scheduler *scheduler = expirer->scheduler;
    return has_alarm(scheduler)
               ? htw__alarm_init(&expirer->alarm, clock_ids[scheduler->clock], !scheduler->embedded)
               : 0;
}

void htw__wake_at(struct htw__expirer *expirer, int64_t at_ns) {
    if (has_alarm(expirer->scheduler) && at_ns != HTW_NEVER_NS)
        htw__alarm_set(&expirer->alarm, htw__after_ns(at_ns, expirer->scheduler->timer_slack_ns));
}

void htw__wake_for_cleanup(struct htw__expirer *expirer) {
    /* Not a load: if the flag is still set, the expirer must see what there is to clean up when it
       clears the flag. */
    if (atomic_exchange_explicit(&expirer->cleanup, true, memory_order_acq_rel))
        return;
    if (has_alarm(expirer->scheduler))
        htw__alarm_set(&expirer->alarm,
                       htw__after_ns(htw__now_ns(expirer->scheduler), HTW__CLEANUP_DELAY_NS));
}
