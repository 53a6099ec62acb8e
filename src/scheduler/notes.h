/* SPDX-License-Identifier: MIT */
/*
 * notes.h - what a scheduler has to tell the function of htw_set_log().
 *
 * Most of it happens under locks. There it is noted, in the mode of the scheduler, which hot paths read anyway. The thread that
 * next ends a batch of callbacks, or replaces a wheel, tells it, with no lock held.
 */
#ifndef HTW_SRC_SCHEDULER_NOTES_H
#define HTW_SRC_SCHEDULER_NOTES_H

#include <htw/scheduler.h>

/* The last one is what the purgatory notes. */
enum htw__note {
    HTW__NOTE_LATE,
    HTW__NOTE_NO_WORKER,
    HTW__NOTE_SET_BACK,
    HTW__NOTE_NO_WHEEL,
    HTW__NOTE_NO_ALARM,
    HTW__NOTES
};

/* At most once in a second for each note. `late_ns`: of NOTE_LATE. */
void htw__note(struct htw_scheduler *scheduler, enum htw__note note, int64_t late_ns);

/* Tells what was noted. Without any lock. */
void htw__notes_tell(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_NOTES_H */
