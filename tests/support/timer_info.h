/* SPDX-License-Identifier: MIT */
/* timer_info.h - single members of htw_scheduler_timer_info(). */
#ifndef HTW_TESTS_TIMER_INFO_H
#define HTW_TESTS_TIMER_INFO_H

#include <htw/timer.h>

static inline int timer_deadline_of(struct htw_scheduler *scheduler, htw_handle handle,
                                    int64_t *ret_deadline_ns) {
    struct htw_timer_info info;
    int result = htw_scheduler_timer_info(scheduler, handle, &info);
    if (result == 0)
        *ret_deadline_ns = info.deadline_ns;
    return result;
}

/* More than 0: the clock. */
static inline int timer_clock_of(struct htw_scheduler *scheduler, htw_handle handle) {
    struct htw_timer_info info;
    int result = htw_scheduler_timer_info(scheduler, handle, &info);
    return result == 0 ? (int)info.clock : result;
}

#endif /* HTW_TESTS_TIMER_INFO_H */
