/* SPDX-License-Identifier: MIT */
/*
 * writer.h - the thread that uses the database: writes changes, reads jobs, copies the log. A BATCH is all changes of
 * the queue, in one transaction.
 */
#ifndef HTW_SRC_JOURNAL_WRITER_H
#define HTW_SRC_JOURNAL_WRITER_H

#include "change.h"

/* 0 or -ENOMEM. */
int htw__writer_start(struct htw_journal *journal);

/* Writes what waits, and ends the thread. */
void htw__writer_stop(struct htw_journal *journal);

/* Takes the queue, writes it, and tells the callers. With the lock held, which it releases meanwhile;
   `is_in_use` must not be set. */
void htw__commit_queue(struct htw_journal *journal);

/* Whether a caller may commit its change by itself, because nothing else is to be done. */
bool htw__writer_is_idle(const struct htw_journal *journal);

/* In a thread of the program: commits what waits, if recent commits were that short, and tells those that were served, as long as
   the writer has nothing else to do. In so many steps, for a caller that waits: then a signal handler must neither interrupt
   the sync nor leave the commit half done; or UINT_MAX. With the lock held, which it releases meanwhile. */
void htw__writer_run_here(struct htw_journal *journal, unsigned steps, int64_t patience_ns);

#endif /* HTW_SRC_JOURNAL_WRITER_H */
