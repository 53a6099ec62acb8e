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
bool htw_is_pending(struct htw_scheduler *scheduler, htw_handle handle) {
    return library->is_pending(scheduler, handle);
}
#endif

/* Returns 0 and sets errno on failure. */
static htw_handle py_schedule_calendar(void *scheduler, const struct htw_calendar *calendar,
                                       const struct htw_zone *zone, int64_t after_ns,
                                       int64_t jitter_ns, const char *jitter_key,
                                       size_t jitter_key_size, int64_t grace_ns, uint32_t catch_up,
                                       const char *key, size_t key_size, _Bool has_key,
                                       _Bool keep_existing, void *group, const void *site,
                                       void *object) {
    struct htw_calendar_spec spec = HTW_CALENDAR_SPEC_INIT;
    spec.calendar = *calendar;
    spec.zone = zone;
    spec.callback = library->run;
    spec.arg = object;
    spec.after_ns = after_ns;
    spec.jitter_ns = jitter_ns;
    spec.jitter_key = jitter_key;
    spec.jitter_key_size = jitter_key_size;
    spec.grace_ns = grace_ns;
    spec.catch_up = catch_up;
    spec.key = has_key ? key : NULL;
    spec.key_size = has_key ? key_size : 0;
    spec.keep_existing = keep_existing;
    spec.group = group;
    spec.site = site;
    spec.release = library->release;
    htw_handle handle = 0;
    int result = htw_schedule_calendar(scheduler, &spec, &handle, NULL);
    if (result == 0)
        return handle;
    errno = -result;
    return 0;
}
