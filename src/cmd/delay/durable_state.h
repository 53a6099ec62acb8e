/* SPDX-License-Identifier: MIT */
/*
 * durable_state.h - one run of `htw delay --journal`, and an overview.
 *
 * Lines of the input become jobs of the journal, which delivers each at its time into the inbox. The
 * loop moves these messages to the output queue, writes them, and then ends their jobs. So a message
 * is in the journal from before it counts as accepted until after it was written.
 *
 * At most ONE CHANGE is on its way to the disk: new jobs, the mark that says how far the input was
 * read, and the ends of jobs, together. What comes meanwhile is gathered for the next one. If a
 * change fails nothing more is read: a later change must not move the mark past lines that are lost.
 */
#ifndef HTW_SRC_CMD_DELAY_DURABLE_STATE_H
#define HTW_SRC_CMD_DELAY_DURABLE_STATE_H

#include "acknowledge.h"
#include "inbox.h"
#include "input.h"
#include "mark.h"
#include "options.h"
#include "output.h"
#include "progress.h"
#include "report.h"
#include "timeline.h"

#include <htw/journal.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines of one change. */
#define HTW__DURABLE_LINES 4096

struct htw__durable_change {
    bool is_under_way;
    atomic_bool is_finished; /* set in the journal's thread, after the two below */
    int result;
    char sentence[512]; /* why it failed */
    size_t job_count, done_count;
    bool has_lines;
};

struct htw__durable {
    const struct htw__options *options;
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    struct htw__timeline timeline;
    struct htw__input input;
    struct htw__mark mark;
    struct htw__inbox inbox;
    struct htw__output output;
    struct htw__acknowledge acknowledge;
    struct htw__report report;
    struct htw__progress progress;
    bool stdout_is_terminal;

    uint64_t jobs;  /* in the file, as of the last change that is durable */
    uint64_t lines; /* accepted or bad, as of the change that is under way or the last one */
    bool mark_has_moved;
    uint64_t *released; /* the ids of messages that were written, and whose jobs have not ended */
    size_t released_count, released_capacity;
    struct htw__durable_change change;
    struct htw_job put[HTW__DURABLE_LINES];

    bool has_stopped_reading;
    bool has_lost_lines;             /* a change with lines has failed: they are not accepted */
    bool change_has_failed;          /* the last one; the ends of jobs are tried again */
    int64_t retry_ns;                /* by the monotonic clock */
    bool is_broken;                  /* the run ends early */
    atomic_bool journal_has_stopped; /* set in the journal's thread, after the next */
    char stopped_because[512];
    bool has_failed;
    int output_error; /* a negative errno once standard output has failed */
};

/* ---- durable_change.c */

/* Whether more input may come, and whether there is room for it now. */
bool htw__durable_is_reading(const struct htw__durable *self);
bool htw__durable_wants_input(const struct htw__durable *self);

/* Whether a whole line is in the buffer. */
bool htw__durable_has_line(struct htw__durable *self);

/* Jobs whose messages were not written yet, those of the change under way included. */
uint64_t htw__durable_pending(const struct htw__durable *self);

/* Begins a change if there is something to change and none is under way. `takes_all`: lines also if
   there is no room for them. */
void htw__durable_change(struct htw__durable *self, bool takes_all);

/* Looks whether the change that was under way has ended. */
void htw__durable_change_ended(struct htw__durable *self);

/* The notice of the journal that it has stopped, and what the loop makes of it: the run ends early. */
void htw__durable_stopped(void *context, const char *why);
void htw__durable_look_after_journal(struct htw__durable *self);

/* Prints what the journal says of its last failure. */
void htw__durable_fail(struct htw__durable *self);

/* ---- durable_end.c */

/* Ends the run, early or not; returns the exit status. */
int htw__durable_finish(struct htw__durable *self);

/* Prints the statistics to standard error. */
void htw__durable_print_stats(const struct htw__durable *self);

#endif /* HTW_SRC_CMD_DELAY_DURABLE_STATE_H */
