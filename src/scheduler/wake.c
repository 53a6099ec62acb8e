/* SPDX-License-Identifier: MIT */
/* wake.c - what wakes an expirer: its alarm, and the request to clean up. */
#include "wake.h"

#include "../base/annotate.h"
#include "clocks.h"

int htw__waker_init(struct htw__waker *waker, const struct htw_scheduler *scheduler) {
    *waker = (struct htw__waker) { .scheduler = scheduler };
    HTW__ANNOTATE_ATOMIC(&waker->cleanup, sizeof(waker->cleanup));
    if (htw__is_manual(scheduler))
        return 0;
    int error = htw__alarm_init(&waker->alarm, scheduler->clock->id, !scheduler->embedded);
    waker->has_alarm = error == 0;
    return error;
}

void htw__waker_fini(struct htw__waker *waker) {
    if (waker->has_alarm)
        htw__alarm_fini(&waker->alarm);
}

void htw__wake_at(struct htw__waker *waker, int64_t at_ns) {
    if (!htw__is_manual(waker->scheduler) && at_ns != HTW_NEVER_NS)
        htw__alarm_set(&waker->alarm, htw__after_ns(at_ns, waker->scheduler->timer_slack_ns));
}

void htw__wake_for_cleanup(struct htw__waker *waker) {
    /* An exchange, not a load: if the flag is still set, the expirer must see what there is to
       clean up when it clears the flag. */
    if (atomic_exchange_explicit(&waker->cleanup, true, memory_order_acq_rel))
        return;
    if (!htw__is_manual(waker->scheduler))
        htw__alarm_set(&waker->alarm,
                       htw__after_ns(htw__now_ns(waker->scheduler), HTW__CLEANUP_DELAY_NS));
}
