/* SPDX-License-Identifier: MIT */
/*
 * lent.h - an extension beside htw._native: the timers that its sources use are those of the library in that one,
 * which lends it what it calls.
 */
#include "library.h"

static struct py_library *library;

#ifdef PY_BUNDLED
int htw_schedule_spec(struct htw_scheduler *scheduler, const struct htw_spec *spec,
                      htw_handle *ret_handle, struct htw_unexpired *ret_replaced) {
    return library->schedule_spec(scheduler, spec, ret_handle, ret_replaced);
}

int htw_reschedule_at(struct htw_scheduler *scheduler, htw_handle handle, int64_t deadline_ns) {
    return library->reschedule_at(scheduler, handle, deadline_ns);
}

int64_t htw_scheduler_now_by(const struct htw_scheduler *scheduler, enum htw_clock clock) {
    return library->now_by(scheduler, clock);
}
#endif
