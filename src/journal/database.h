/* SPDX-License-Identifier: MIT */
/*
 * database.h - the file of a journal: opening, changing and closing it, its counters, its statements, the mark. rows.h
 * has its tables.
 *
 * One thread at a time uses a database: the one that opens it, then the writer, then the one that
 * closes it. Failures leave a sentence (error.h).
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_H
#define HTW_SRC_JOURNAL_DATABASE_H

#include "log.h"
#include "path.h"

#include <htw/journal.h>

#include <sqlite3.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* ---- the statements, which are prepared once */

enum htw__statement {
    HTW__BEGIN,
    HTW__COMMIT,
    HTW__ROLLBACK,
    HTW__SAVEPOINT,
    HTW__RELEASE,
    HTW__ROLLBACK_TO,
    HTW__SET_META,
    HTW__SET_MARK,
    /* jobs */
    HTW__INSERT,
    HTW__DELETE,
    HTW__PUT_AS,
    HTW__FETCH,
    HTW__FIND_KEY,
    HTW__SET_KEY,
    HTW__DELETE_KEY,
    HTW__FETCH_MOVED,
    HTW__STORE_MOVED,
    HTW__DELETE_MOVED,
    HTW__STORE_MOVED_PLACE,
    HTW__DELETE_MOVED_PLACE,
    /* places */
    HTW__STORE_BLOCK,
    HTW__BLOCK_OF,
    HTW__COUNT_JOBS,
    HTW__COUNT_UNMOVED,
    HTW__DELETE_BLOCK,
    HTW__NEXT_BLOCK,
    HTW__NEXT_PLACE,
    HTW__NEXT_MOVED_PLACE,
    HTW__SCAN,
    HTW__SCAN_UNMOVED,
    HTW__SCAN_MOVED,
    /* queues */
    HTW__VISIT_QUEUES,
    HTW__STORE_QUEUE,
    HTW__COUNT_QUEUE,
    HTW__DELETE_QUEUE,
    /* recurring jobs */
    HTW__READ_RECURRING,
    HTW__LIST_RECURRING,
    HTW__NEXT_RECURRING,
    HTW__FIRST_RECURRING,
    HTW__STORE_RECURRING,
    HTW__ADVANCE_RECURRING,
    HTW__DELETE_RECURRING,
    /* the inbox of a guest: the last ones */
    HTW__LIST_INBOX,
    HTW__FETCH_INBOX,
    HTW__FIND_KEY_INBOX,
    HTW__DELETE_INBOX,
    HTW__STATEMENTS
};

/* ---- what is in it */

/* What a scan reads of a job. */
struct htw__scan_row {
    uint64_t id, place;
    int64_t deadline_ns, rank;
};

/* Blocks of ids: blocks.h. */
#define HTW__BLOCKS_KNOWN 8192u
#define HTW__BLOCKS_EMPTY 256u

struct htw__empty_block {
    uint64_t place, id; /* any of the block */
};

struct htw__blocks {
    /* Blocks that have a row, by a hash, where a later one displaces an earlier one: the number of the block, and
       below it how many jobs it has at least. */
    uint64_t known[HTW__BLOCKS_KNOWN];
    struct htw__empty_block empty[HTW__BLOCKS_EMPTY]; /* a ring */
    size_t first, count;
    size_t begun; /* `first` when the transaction began */
};

struct htw__database {
    struct sqlite3 *connection; /* NULL: not open */
    struct sqlite3_stmt *statements[HTW__STATEMENTS];
    char name[PATH_MAX]; /* for sentences */
    bool is_in_memory;   /* the file has no name */
    enum htw_synchronous synchronous;
    bool is_guest;           /* in the file of a program */
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
        int64_t jobs, keyed, moved, last_put_us, inbox;
    } added, saved;
    uint64_t from_inbox; /* jobs that have left the inbox */
    struct htw__blocks blocks;
    struct htw__log log;
    int64_t checked_ns; /* when the files were last seen in place; 0: not yet */
    bool is_open;       /* and all statements are prepared */
    bool lacks_space;   /* until the whole log is copied */
    bool is_distrusted; /* an fsync has failed, or the file is damaged */
};

/* ---- opening and closing */

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

/* ---- the mark, and the log */

int htw__database_set_mark(struct htw__database *self, const void *mark, size_t mark_size);

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

/* Prepares them all. 0 or an error. */
int htw__statements_prepare(struct htw__database *self);
void htw__statements_finalize(struct htw__database *self);

static inline void htw__statement_bind_blob(struct sqlite3_stmt *statement, int index,
                                            const void *bytes, size_t size) {
    /* A NULL pointer would be the value NULL. */
    sqlite3_bind_blob64(statement, index, bytes == NULL ? "" : bytes, size, SQLITE_STATIC);
}

/* Binds the first parameters. */
#define HTW__NUMBERS(...) \
    (const int64_t[]) { __VA_ARGS__ }, sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t)
void htw__statement_bind(struct htw__database *self, enum htw__statement which,
                         const int64_t *numbers, size_t count);

/* The next row: 1; 0: there is none; or an error. Without a row the statement is reset. */
int htw__statement_step(struct htw__database *self, enum htw__statement which);

#endif /* HTW_SRC_JOURNAL_DATABASE_H */
