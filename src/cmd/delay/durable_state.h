/* SPDX-License-Identifier: MIT */
/*
 * durable_state.h - the store of `htw delay --journal`, and an overview.
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
#include "mark.h"
#include "state.h"

#include <htw/journal.h>

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Lines of one change. */
#define HTW__DURABLE_LINES 4096

/* While it is under way, `delay.is_busy` is set. */
struct htw__durable_change {
    atomic_bool is_finished; /* set in the journal's thread, after the two below */
    int result;
    char sentence[512]; /* why it failed */
    size_t job_count, done_count;
    bool has_lines;
};

struct htw__durable {
    struct htw__delay delay;
    struct htw_scheduler *scheduler;
    struct htw_journal *journal;
    struct htw__mark mark;
    struct htw__inbox inbox;
    struct htw__acknowledge acknowledge;

    uint64_t jobs;      /* in the file, as of the last change that is durable */
    uint64_t lines;     /* taken, as of the change that is under way or the last one */
    uint64_t *released; /* the ids of messages that were written, and whose jobs have not ended */
    size_t released_count, released_capacity;
    struct htw__durable_change change;
    struct htw_job put[HTW__DURABLE_LINES]; /* what they refer to is valid until more is read */
    size_t put_count;                       /* gathered for the next change */

    bool takes_all;                  /* at the end: lines also if there is no room for them */
    bool has_lost_lines;             /* a change with lines has failed: they are not accepted */
    bool change_has_failed;          /* the last one; the ends of jobs are tried again */
    int64_t retry_ns;                /* by the monotonic clock */
    atomic_bool journal_has_stopped; /* set in the journal's thread, after the next */
    char stopped_because[512];
};

static inline struct htw__durable *htw__durable_of(const struct htw__delay *delay) {
    return HTW_CONTAINER_OF(delay, struct htw__durable, delay);
}

/* Jobs whose messages were not written yet, those of the change under way included. */
uint64_t htw__durable_pending(const struct htw__durable *self);

/* Of the store: a change begins at the end of a round, if there is something to change and none is under
   way. */
size_t htw__durable_room(const struct htw__delay *delay);
const char *htw__durable_put(struct htw__delay *delay, const struct htw__line *line,
                             struct htw__time due, struct htw__time now);
void htw__durable_commit(struct htw__delay *delay);

/* Looks whether the change that was under way has ended. */
void htw__durable_change_ended(struct htw__durable *self);

/* Makes all durable that was read and released, as long as the disk answers. */
void htw__durable_settle(struct htw__durable *self);

/* The notice of the journal that it has stopped: the run ends early. */
void htw__durable_stopped(void *context, const char *why);

#endif /* HTW_SRC_CMD_DELAY_DURABLE_STATE_H */
