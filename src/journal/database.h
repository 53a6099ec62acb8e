/* SPDX-License-Identifier: MIT */
/*
 * database.h - the file of a journal: transactions, its counters, the mark. rows.h has its tables.
 *
 * One thread at a time uses a database: the one that opens it, then the writer, then the one that
 * closes it. Failures leave a sentence (error.h).
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_H
#define HTW_SRC_JOURNAL_DATABASE_H

#include "blocks.h"
#include "log.h"
#include "path.h"
#include "rows.h"
#include "statement.h"

#include <htw/journal.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct htw__database {
    struct sqlite3 *connection; /* NULL: not open */
    struct sqlite3_stmt *statements[HTW__STATEMENTS];
    char name[PATH_MAX]; /* for sentences */
    enum htw_synchronous synchronous;
    uint64_t jobs_that_wait; /* at most: that have an id, and are in no commit */
    /* As of the last commit. */
    uint64_t jobs;       /* rows */
    uint64_t keyed;      /* rows with a key */
    uint64_t moved;      /* rows of `moved` */
    int64_t last_put_us; /* the greatest `put_us` of all jobs that ever were */
    uint64_t first_id;   /* as of the open: of the first block */
    uint64_t next_id;    /* as the file has it: those below may be in use */
    uint64_t generation; /* commits */
    /* Of the transaction that is open, and at its savepoint. */
    struct htw__added {
        int64_t jobs, keyed, moved, last_put_us;
    } added, saved;
    struct htw__blocks blocks;
    struct htw__log log;
    int64_t checked_ns; /* when the files were last seen in place; 0: not yet */
    bool is_open;       /* and all statements are prepared */
    bool lacks_space;   /* until the whole log is copied */
    bool is_distrusted; /* an fsync has failed, or the file is damaged */
};

/* 0, or -ENOTSUP: the SQLite that is loaded cannot be used. */
int htw__database_check_sqlite(void);

/* Opens the database, creates its tables if the file is empty, and copies a log that a crash left
   into the file, if there is space. `jobs_that_wait` is not 0. Errors as htw_journal_open(). */
int htw__database_open(struct htw__database *self, const struct htw__journal_path *path,
                       enum htw_synchronous synchronous, uint64_t jobs_that_wait);

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

int htw__database_set_mark(struct htw__database *self, const void *mark, size_t mark_size);

/* ---- reading */

/* The mark, in `buffer` of HTW_JOURNAL_MARK_MAX bytes. Its size, or a negative errno. */
int64_t htw__database_get_mark(struct htw__database *self, void *buffer);

/* Copies the log into the file. Returns whether it was possible now, or a negative errno. */
int htw__database_checkpoint(struct htw__database *self);

/* ---- for the parts of the database */

/* The error of a result of SQLite; leaves its sentence. */
int htw__database_fail(struct htw__database *self, int result);

/* The file is damaged, or not as it was left: nothing more is written. Returns -EIO. */
int htw__database_distrust(struct htw__database *self, const char *why);

/* Whether jobs were moved: if not, nothing has to be asked about that. */
static inline bool htw__database_has_moved(const struct htw__database *self) {
    return (int64_t)self->moved + self->added.moved > 0;
}

#endif /* HTW_SRC_JOURNAL_DATABASE_H */
