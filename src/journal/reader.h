/* SPDX-License-Identifier: MIT */
/*
 * reader.h - brings the jobs of the near future from the file into memory, in order of deadline.
 *
 * It goes from bucket to bucket, and scans each in the order of ids. Where memory is full, the later half of what it
 * has read is dropped, and what comes behind the rest is passed over: the bucket is scanned again when there is room.
 * So a bucket of any size is read in bounded memory. None of its jobs is delivered before the end of its scan, since
 * an earlier one may follow. The writer calls it in small steps, so that commits do not wait. Under the lock, except
 * as said.
 */
#ifndef HTW_SRC_JOURNAL_READER_H
#define HTW_SRC_JOURNAL_READER_H

#include "state.h"

void htw__reader_init(struct htw_journal *journal);

/* Whether there is something to read now. */
bool htw__reader_has_work(const struct htw_journal *journal);

/* When there may be something to read; HTW_NEVER_NS: nothing is left, or memory must become free. */
int64_t htw__reader_next(const struct htw_journal *journal);

/* One step; for the writer. Releases the lock meanwhile. */
void htw__reader_step(struct htw_journal *journal);

/* Whether a job that is durable now, and DELAYED, belongs in memory. If not, the reader will find it. */
bool htw__reader_covers(struct htw_journal *journal, struct htw__position position);

/* Whether all before this job is in memory. */
bool htw__reader_is_past(const struct htw_journal *journal, struct htw__position position);

/* The cancel of a job has failed: it waits again. */
void htw__reader_unhold(struct htw_journal *journal, uint64_t id);

/* Drops jobs if there is too much in memory. */
void htw__reader_evict(struct htw_journal *journal);

/* ---- readers.c: all parts of the journal that read the file, in the thread that has the database */

bool htw__readers_have_work(const struct htw_journal *journal);

/* One step of each that has work. With the lock held, which it releases meanwhile. */
void htw__readers_step(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_READER_H */
