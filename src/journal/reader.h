/* SPDX-License-Identifier: MIT */
/*
 * reader.h - the parts of the journal that read the file, or move rows within it, for the writer: a step of each in turn,
 * so that commits do not wait. Under the lock, which a step releases meanwhile, except as said.
 *
 * THE READER brings the jobs of the near future into memory, in order of deadline. It goes from bucket to bucket, and scans
 * each in the order of ids. Where memory is full, the later half of what it has read is dropped, and what comes behind the
 * rest is passed over: the bucket is scanned again when there is room. So a bucket of any size is read in bounded memory.
 * None of its jobs is delivered before the end of its scan, since an earlier one may follow.
 *
 * THE WINDOWS of queues (queue.h) are moved.
 *
 * THE INBOX of a guest: a journal whose tables are in the file of a program. Anyone who can write to the file puts a job by an
 * INSERT into `htw_inbox`, in a transaction of their own. The writer looks at it when it is woken, and at intervals, and
 * TAKES IN what is there: in one transaction the row leaves the inbox and becomes a job. That has the same id, which is of no
 * block, so it counts as moved (rows.h). Until then it can be ended, by its id or its key, and is no job for anything else.
 */
#ifndef HTW_SRC_JOURNAL_READER_H
#define HTW_SRC_JOURNAL_READER_H

#include "state.h"

/* ---- the reader and the windows */

/* Whether one has something to do now. */
bool htw__readers_have_work(const struct htw_journal *journal);

/* One step of each that has. */
void htw__readers_step(struct htw_journal *journal);

/* ---- each: if the journal is neither closed nor has failed. A step returns 0 or an error */

bool htw__reader_has_work(const struct htw_journal *journal);

bool htw__window_has_work(const struct htw_journal *journal);
int htw__window_step(struct htw_journal *journal);

/* ---- the reader */

void htw__reader_init(struct htw_journal *journal);

/* When there may be something to read; HTW_NEVER_NS: nothing is left, or memory must become free. */
int64_t htw__reader_next(const struct htw_journal *journal);

/* Whether a job that is durable now, and DELAYED, belongs in memory. If not, the reader will find it. */
bool htw__reader_covers(struct htw_journal *journal, struct htw__position position);

/* Whether all before this job is in memory. */
bool htw__reader_is_past(const struct htw_journal *journal, struct htw__position position);

/* Drops jobs if there is too much in memory. */
void htw__reader_evict(struct htw_journal *journal);

/* ---- the windows */

/* Whether READY jobs have no room in memory, until some have gone to the file. */
bool htw__window_is_full(const struct htw_journal *journal);

/* ---- the inbox */

/* When the writer is to look: by the monotonic clock; HTW_NEVER_NS: it is not. */
int64_t htw__guest_due_ns(const struct htw_journal *journal);

/* In the transaction of a change without steps: it puts some jobs of the inbox. 0 or an error. And its end, under the lock. */
int htw__guest_take_in(struct htw_journal *journal, struct htw__change *change);
void htw__guest_end_taking(struct htw_journal *journal, int result);

/* The writer looks, and makes a change if something is there. */
void htw__guest_look(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_READER_H */
