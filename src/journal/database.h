/* SPDX-License-Identifier: MIT */
/*
 * database.h - the file of a journal: its tables, and the statements on them.
 *
 * A job is a row of a table whose key is the id, and the high bits of the id are the minute of the
 * deadline: its BUCKET. So the rows of a bucket are beside each other, in the order in which they
 * were put; a job is found by its id alone; and putting and removing jobs touch few pages, those of
 * the buckets in use. An index by deadline costs several times as much: docs/journal.md.
 *
 * One thread at a time uses a database: the one that opens it, then the writer, then the one that
 * closes it. Failures leave a sentence (error.h).
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_H
#define HTW_SRC_JOURNAL_DATABASE_H

#include "log.h"
#include "path.h"

#include <htw/journal.h>

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an id is made of. A sequence number is used again after 2^35 jobs, and then only where the
   bucket differs or the job has ended. No id is 0. */
#define HTW__SEQUENCE_BITS 35u
#define HTW__SEQUENCE_MASK ((UINT64_C(1) << HTW__SEQUENCE_BITS) - 1)
#define HTW__BUCKET_NONE UINT64_MAX

/* The bucket of a deadline. Instants before 1970 are in the first one. */
static inline uint64_t htw__bucket_of(int64_t deadline_ns) {
    return deadline_ns < 0 ? 0 : (uint64_t)(deadline_ns / HTW_MINUTE);
}

static inline uint64_t htw__bucket_of_id(uint64_t id) {
    return id >> HTW__SEQUENCE_BITS;
}

/* When a bucket begins. */
static inline int64_t htw__bucket_start(uint64_t bucket) {
    return (int64_t)bucket * HTW_MINUTE;
}

struct htw__database {
    struct sqlite3 *connection; /* NULL: not open */
    struct sqlite3_stmt *statements[16];
    char name[PATH_MAX]; /* for sentences */
    enum htw_synchronous synchronous;
    uint64_t jobs_that_wait; /* at most: that have an id, and are in no commit */
    /* As of the last commit. */
    uint64_t jobs;           /* rows */
    uint64_t keyed;          /* rows with a key */
    uint64_t first_sequence; /* as of the open: for the first id */
    uint64_t next_sequence;  /* as the file has it: those below may be in use */
    uint64_t generation;     /* commits */
    /* Of the transaction that is open. */
    int64_t jobs_added, keyed_added;
    int64_t saved_jobs_added, saved_keyed_added; /* at the savepoint */
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

/* Stores `next_sequence` and makes all durable. After a failure the caller rolls back, and settles
   what the file has: htw__database_settle(). */
int htw__database_commit(struct htw__database *self, uint64_t next_sequence);

void htw__database_rollback(struct htw__database *self);

/*
 * After a failed commit: makes sure that no crash brings back the transaction that failed, of which
 * a complete copy may be at the end of the log, by writing over it. Stores `next_sequence`, too. 0,
 * or the error of that.
 */
int htw__database_settle(struct htw__database *self, uint64_t next_sequence);

/* Whether the file says of `next_sequence`, and of as many behind it as jobs may wait, that they may be
   in use, so that no later open gives them again. */
bool htw__database_has_reserved(const struct htw__database *self, uint64_t next_sequence);

/* A part of a transaction that can be undone alone. */
int htw__database_savepoint(struct htw__database *self);
int htw__database_savepoint_end(struct htw__database *self, bool keep);

/* -EEXIST: the id is in use. */
int htw__database_insert(struct htw__database *self, uint64_t id, int64_t deadline_ns,
                         const void *key, size_t key_size, const void *payload,
                         size_t payload_size);

/* -ENOENT: there is no such job. */
int htw__database_remove(struct htw__database *self, uint64_t id);

/* Gives the key to `id`, and returns in `ret_replaced` the job that had it, which is removed; 0:
   none. */
int htw__database_take_key(struct htw__database *self, const void *key, size_t key_size,
                           uint64_t id, uint64_t *ret_replaced);

int htw__database_set_mark(struct htw__database *self, const void *mark, size_t mark_size);

/* ---- reading */

/* The id and deadline of the next `capacity` jobs with an id from `first` to `last`, in order of id.
   Returns how many, or a negative errno. */
struct htw__row {
    int64_t deadline_ns;
    uint64_t id;
};
int64_t htw__database_scan(struct htw__database *self, uint64_t first, uint64_t last,
                           struct htw__row *rows, size_t capacity);

/* Reads a job. What it points to is valid until htw__database_fetch_end(). -ENOENT: no such job. */
struct htw__job_row {
    int64_t deadline_ns;
    const void *key; /* NULL: none */
    size_t key_size;
    const void *payload;
    size_t payload_size;
};
int htw__database_fetch(struct htw__database *self, uint64_t id, struct htw__job_row *ret_row);
void htw__database_fetch_end(struct htw__database *self);

/* The mark, in `buffer` of HTW_JOURNAL_MARK_MAX bytes. Its size, or a negative errno. */
int64_t htw__database_get_mark(struct htw__database *self, void *buffer);

/* Copies the log into the file. Returns whether it was possible now, or a negative errno. */
int htw__database_checkpoint(struct htw__database *self);

/* ---- for open.c */

/* The error of a result of SQLite; leaves its sentence. */
int htw__database_fail(struct htw__database *self, int result);

/* Prepares all statements. */
int htw__database_prepare(struct htw__database *self);

#endif /* HTW_SRC_JOURNAL_DATABASE_H */
