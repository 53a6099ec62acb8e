/* SPDX-License-Identifier: MIT */
/*
 * calendar.c - the functions between htw/calendar.h and the module htw.calendar, as shim.c for the rest.
 *
 * This is an extension of its own, so that the package neither needs cctz to be built nor to be
 * imported. Its timers are those of the other extension, in which the library is.
 */
#include "lent.h"

#include <htw/calendar.h>

#include <errno.h>

static void py_connect(void *other) {
    library = other;
    library->arg_of = htw_calendar_arg;
}

#ifdef PY_BUNDLED
/* What the sources of the calendar call besides. */
int htw__refuse(const char *member) {
    return library->refuse(member);
}

int htw_scheduler_timer_info(struct htw_scheduler *scheduler, htw_handle handle,
                             struct htw_timer_info *ret_info) {
    return library->timer_info(scheduler, handle, ret_info);
}
#endif

/* Schedules a timer whose argument is a Timer. Returns 0 and sets errno on failure. */
static htw_handle py_schedule_calendar(struct htw_scheduler *scheduler,
                                       struct htw_calendar_spec *spec, void *object) {
    htw_handle handle = 0;
    spec->callback = library->run;
    spec->arg = object;
    spec->release = library->release;
    int result = htw_schedule_calendar(scheduler, spec, &handle, NULL);
    if (result == 0)
        return handle;
    errno = -result;
    return 0;
}
