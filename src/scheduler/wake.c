/* SPDX-License-Identifier: MIT */
/* wake.c - what wakes an expirer: its alarm, and the request to clean up. */
#include "wake.h"

#include "clocks.h"

int htw__waker_init(struct htw__waker *waker, const struct htw_scheduler *scheduler) {
    *waker = (struct htw__waker) { .scheduler = scheduler };
    if (htw__is_manual(scheduler))
        return 0;
    int error = htw__alarm_init(&waker->alarm, scheduler->clock->id, !scheduler->embedded);
    waker->has_alarm = error == 0;
    return error;
}

int htw__waker_add_clock(struct htw__waker *waker) {
    return waker->has_alarm ? htw__alarm_watch_wall_clock(&waker->alarm) : 0;
}

void htw__waker_fini(struct htw__waker *waker) {
    if (waker->has_alarm)
        htw__alarm_fini(&waker->alarm);
}

/* An instant of another clock is converted. If a clock is set in between, the expirer wakes up and
   converts it anew; but it may have done so before it could see this timer. */
void htw__wake_at(struct htw__waker *waker, const struct htw__clock *clock, int64_t at_ns) {
    const struct htw_scheduler *scheduler = waker->scheduler;
    if (htw__is_manual(scheduler) || at_ns == HTW_NEVER_NS)
        return;
    int64_t own_ns, again_ns = htw__own_from_ns(scheduler, clock, at_ns);
    do {
        own_ns = again_ns;
        htw__alarm_set(&waker->alarm, htw__after_ns(own_ns, scheduler->timer_slack_ns));
        again_ns = htw__own_from_ns(scheduler, clock, at_ns);
    } while (own_ns - again_ns > HTW_MILLISECOND);
}

void htw__wake_for_cleanup(struct htw__waker *waker) {
    /* order: An exchange, not a load: if the flag is still set, the expirer that clears it must see what
       there is to clean up. [relaxed: `cleanup-again`] */
    if (atomic_exchange_explicit(&waker->cleanup, true, memory_order_release))
        return;
    if (!htw__is_manual(waker->scheduler))
        htw__alarm_set(&waker->alarm,
                       htw__after_ns(htw__now_ns(waker->scheduler), HTW__CLEANUP_DELAY_NS));
}
