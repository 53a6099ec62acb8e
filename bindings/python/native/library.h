/* SPDX-License-Identifier: MIT */
/* library.h - what the extension htw._native lends to htw._calendar_native. */
#include <htw/scheduler.h>

struct py_library {
    /* Functions of the library, which is compiled into htw._native alone. */
    int (*schedule_spec)(struct htw_scheduler *, const struct htw_spec *, htw_handle *,
                         struct htw_unexpired *);
    int (*reschedule_at)(struct htw_scheduler *, htw_handle, int64_t);
    bool (*is_pending)(struct htw_scheduler *, htw_handle);
    int64_t (*now_by)(const struct htw_scheduler *, enum htw_clock);
    /* The callback and the release hook of timers whose argument is a Timer. */
    htw_callback *run;
    htw_release_hook *release;
    /* Set by the other extension: htw_calendar_arg(). */
    void *(*_Atomic arg_of)(const struct htw_unexpired *);
};
