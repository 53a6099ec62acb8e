/* SPDX-License-Identifier: MIT */
/*
 * database.h - the file of a journal: its counters, its statements, the mark. transaction.h opens and changes it,
 * rows.h has its tables.
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
    HTW__STORE_RECURRING_NEXT,
    HTW__DELETE_RECURRING_NEXT,
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
#define HTW__BLOCKS_STORED 1024u
#define HTW__BLOCKS_LEFT 8192u
#define HTW__BLOCKS_EMPTY 256u

struct htw__empty_block {
    uint64_t place, id; /* any of the block */
};

/* Blocks are in tables by a hash, where a later one displaces an earlier one. */
struct htw__blocks {
    uint64_t stored[HTW__BLOCKS_STORED]; /* that have a row */
    /* How many jobs they have at least: below the number of the block. */
    uint64_t left[HTW__BLOCKS_LEFT];
    struct htw__empty_block empty[HTW__BLOCKS_EMPTY]; /* a ring */
    size_t first, count;
    size_t begun; /* `first` when the transaction began */
};

struct htw__database {
    struct sqlite3 *connection; /* NULL: not open */
    struct sqlite3_stmt *statements[HTW__STATEMENTS];
    char name[PATH_MAX]; /* for sentences */
    bool is_in_memory; /* there is no file: what only the next open needs is not written */
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

/* SQLITE_ROW, SQLITE_DONE, or the failure, with the statement reset. */
int htw__statement_step(struct htw__database *self, enum htw__statement which);

/* Runs a statement that returns no row. 0 or an error. */
int htw__statement_run(struct htw__database *self, enum htw__statement which);

#endif /* HTW_SRC_JOURNAL_DATABASE_H */
