/* SPDX-License-Identifier: MIT */
/*
 * snapshot.h - the file and memory as they are at one instant, for those that only look at jobs.
 *
 * A journal with a log has a second connection to its file. A snapshot is a transaction of that connection which reads:
 * the writer goes on meanwhile, and the snapshot waits for no disk but that of its own reads. It begins at an instant at
 * which memory agrees with it: the last transaction that it sees is the last one that memory has followed (`generation`).
 * The log cannot begin again before a snapshot has ended. So what was found is copied, and shown after that.
 *
 * Without a log, in memory or in the file of a program, a snapshot is the journal's own connection between two commits:
 * the writer waits until it has ended. In a notice, whose thread has that connection, it is this one, too.
 *
 * A journal that was opened to be read has one connection and no writer: a snapshot is a transaction of it.
 *
 * One thread at a time has a snapshot; the others wait in the order in which they came.
 */
#ifndef HTW_SRC_JOURNAL_SNAPSHOT_H
#define HTW_SRC_JOURNAL_SNAPSHOT_H

#include "state.h"

/* 0: with the lock, so that the caller can copy what memory knows at that instant; or an error, without it. */
int htw__snapshot_begin(struct htw_journal *journal, struct htw__database **ret_database);

/* Without the lock. Returns `error`, with its sentence. */
int htw__snapshot_end(struct htw_journal *journal, struct htw__database *database, int error);

/* Closes the second connection, if it was opened. Nothing looks any more. */
void htw__snapshots_close(struct htw_journal *journal);

#endif /* HTW_SRC_JOURNAL_SNAPSHOT_H */
