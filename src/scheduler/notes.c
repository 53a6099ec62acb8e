/* SPDX-License-Identifier: MIT */
/* notes.c - notes what has happened, and tells it where no lock is held. */
#include "state.h"

#include "../base/log.h"

#include <inttypes.h>

static const char *const sentences[HTW__NOTES] = {
    [HTW__NOTE_NO_WORKER] =
        "no further worker could be started, and callbacks wait for those that run",
    [HTW__NOTE_SET_BACK] = "a clock was set back",
    [HTW__NOTE_NO_WHEEL] = "a clock was set back, and there is no memory to adjust a wheel",
    [HTW__NOTE_NO_ALARM] =
        "no timer for a purgatory, whose next timeout waits until a hook returns",
};

void htw__note(struct htw_scheduler *scheduler, enum htw__note note, int64_t late_ns) {
    if (!htw__report_is_due(&scheduler->note_due_ns[note]))
        return;
    /* order: The release that follows publishes it. */
    if (note == HTW__NOTE_LATE)
        atomic_store_explicit(&scheduler->noted_late_ns, late_ns, memory_order_relaxed);
    /* order: Publishes `noted_late_ns`. [relaxed: not played, as no scene sets a function] */
    atomic_fetch_or_explicit(&scheduler->mode, HTW__MODE_NOTE << note, memory_order_release);
}

void htw__notes_tell(struct htw_scheduler *scheduler) {
    /* In a frame, so that the function cannot wait for this thread by stopping the scheduler. */
    struct htw__callback_frame frame = { .scheduler = scheduler };
    /* order: `noted_late_ns` must be that of the note. [relaxed: not played, as no scene sets a function] */
    unsigned noted =
        atomic_fetch_and_explicit(&scheduler->mode, ~HTW__MODE_NOTES, memory_order_acquire);
    /* order: It was acquired with the note. */
    int64_t late_ns = atomic_load_explicit(&scheduler->noted_late_ns, memory_order_relaxed);
    htw__callback_frame_push(&frame);
    for (unsigned note = HTW__NOTE_LATE + 1; note < HTW__NOTES; note++)
        if (noted & HTW__MODE_NOTE << note)
            htw__report(HTW_LOG_WARNING, "scheduler", "%s: %s", scheduler->thread_name,
                        sentences[note]);
    if (noted & HTW__MODE_NOTE << HTW__NOTE_LATE)
        htw__report(HTW_LOG_WARNING, "scheduler",
                    "%s: a callback has started %" PRId64 " us after its deadline",
                    scheduler->thread_name, late_ns / HTW_MICROSECOND);
    htw__callback_frame_pop(&frame);
}
