/* SPDX-License-Identifier: MIT */
/* transaction.h - opening the file of a journal, changing it, and closing it. */
#ifndef HTW_SRC_JOURNAL_TRANSACTION_H
#define HTW_SRC_JOURNAL_TRANSACTION_H

#include "database.h"

/* 0, or -ENOTSUP: the SQLite that is loaded cannot be used. */
int htw__database_check_sqlite(void);

/* Opens the database, creates its tables if the file is empty, and copies a log that a crash left
   into the file, if there is space. `jobs_that_wait` is not 0. Errors as htw_journal_open(). */
int htw__database_open(struct htw__database *self, const struct htw__journal_path *path,
                       const struct htw_journal_options *options, uint64_t jobs_that_wait);

/* `trusts_file`: false after the disk has failed; nothing more is written then. */
void htw__database_close(struct htw__database *self, bool trusts_file);

/* ---- changes: between begin and commit or rollback */

int htw__database_begin(struct htw__database *self);

/* Stores `next_id`, from which on no id was given, and makes all durable. After a failure the caller rolls
   back, and settles what the file has: htw__database_settle(). */
int htw__database_commit(struct htw__database *self, uint64_t next_id);

void htw__database_rollback(struct htw__database *self);

/*
 * After a failed commit: makes sure that no crash brings back the transaction that failed, of which
 * a complete copy may be at the end of the log, by writing over it. Stores `next_id`, too. 0,
 * or the error of that.
 */
int htw__database_settle(struct htw__database *self, uint64_t next_id);

/* Whether the file says of `next_id`, and of as many blocks behind it as jobs may wait, that they may be in use, so
   that no later open gives them again. */
bool htw__database_has_reserved(const struct htw__database *self, uint64_t next_id);

/* A part of a transaction that can be undone alone. */
int htw__database_savepoint(struct htw__database *self);
int htw__database_savepoint_end(struct htw__database *self, bool keep);

#endif /* HTW_SRC_JOURNAL_TRANSACTION_H */
