/* SPDX-License-Identifier: MIT */
/*
 * database.h - the file of a journal, as the journal sees it: opening, changing and closing it, its counters, its log.
 *
 * ANOTHER DATABASE is another set of files in this folder. It offers what is declared here, in rows.h (jobs, keys, scans, the
 * inbox), in blocks.h (ids), in error.h and path.h, and htw__queues_load(), _count_due() and _write() of ../queue.h. It must have:
 *
 * - transactions by one thread at a time that are durable when the commit returns, and snapshots beside them;
 * - jobs by id and by key, and in order of place (place.h), where a scan goes on from a position and does bounded work;
 * - after a failed commit, a way to make sure that the transaction does not come back, or `is_distrusted`;
 * - room that is kept for changes that end jobs, so that a full disk does not stop these (log.h has SQLite's).
 *
 * SQLITE stands in statements.h and in what includes it; no other header shows it. Outside this folder are ties to it
 * that users see, and that another database replaces or leaves out: the call of guests with a connection of SQLite
 * (htw/journal_guest.h, guest.c, htw__inbox_put() of rows.h), put_in() of Python, whose SQL is that of the inbox, and programs/journal/change.c.
 * error.c, path.c, place.h and the ids of blocks.c know no SQLite and may stay. Builds and packages that name the library, and tests that know it, are found by `git grep -il sqlite`; the disk that
 * fails is tests/fault/faulty_vfs.c and tests/explore/disk.c. All other tests hold for any database.
 *
 * One thread at a time uses a database: the one that opens it, then the writer, then the one that
 * closes it. Failures leave a sentence (error.h).
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_H
#define HTW_SRC_JOURNAL_DATABASE_H

#include "path.h"

#include <htw/journal_inspect.h>

/* The log is copied into the file when it has so many pages. Only tests change it. */
extern int htw__log_checkpoint_pages;

/* How long to wait for another program that has locked the file. */
#define HTW__DATABASE_BUSY_MS 2000

/* What the journal reads of it. */
struct htw__database {
    struct htw__sqlite *sqlite; /* the rest: statements.h. NULL: not open */
    char name[PATH_MAX];        /* for sentences */
    bool is_in_memory;          /* there is no file: what only the next open needs is not written */
    bool is_guest;              /* in the file of a program */
    bool is_distrusted; /* an fsync has failed, or the file is damaged: nothing more is written */
    bool lacks_space;   /* until the whole log is copied */
    /* As of the last commit. */
    uint64_t jobs;       /* rows */
    int64_t last_put_us; /* the greatest `put_us` of all jobs that ever were */
    uint64_t next_id;    /* as the file has it: those below may be in use */
    uint64_t ids_end;    /* there are none from here on */
    uint64_t generation; /* commits */
    uint64_t
        from_inbox; /* jobs that have left the inbox; the journal counts them, and sets it to 0 */
};

/* What a scan reads of a job. */
struct htw__scan_row {
    uint64_t id, place;
    int64_t deadline_ns, rank;
};

/* ---- opening and closing */

/* 0, or -ENOTSUP: the library that is loaded cannot be used. */
int htw__database_check_library(void);

/* Opens the database, creates its tables if the file is empty, and copies a log that a crash left
   into the file, if there is space. Errors as htw_journal_open(). */
int htw__database_open(struct htw__database *self, const struct htw__journal_path *path,
                       const struct htw_journal_options *options);

/* A connection that only reads, and is closed by the same: the second one to a file that is open and has a log, or the
   only one of this process. Then a file without tables is an empty journal, in memory. */
int htw__database_open_to_read(struct htw__database *self, const struct htw__journal_path *path,
                               bool is_second);

/* Whether the journal has a log of its own: not in memory, nor in the file of a program. */
static inline bool htw__database_has_log(const struct htw__database *self) {
    return !self->is_guest && !self->is_in_memory;
}

/* Begins a transaction that reads, and says which commit it sees. 0 or an error, and then there is none. */
int htw__database_begin_snapshot(struct htw__database *self, uint64_t *ret_generation);
void htw__database_end_snapshot(struct htw__database *self);

/* In such a transaction: tells each problem of the file. 0 or an error. */
int htw__database_check(struct htw__database *database, const struct htw__journal_path *path,
                        htw_problem *problem, void *context);

/* `trusts_file`: false after the disk has failed; nothing more is written then. `next_id` as in a commit; the file receives
   it exactly, if it has space. */
void htw__database_close(struct htw__database *self, bool trusts_file, uint64_t next_id);

/* ---- changes: between begin and commit or rollback */

int htw__database_begin(struct htw__database *self);

/* How many rows have been changed since the open: to compare, as it overflows. */
int htw__database_changes(struct htw__database *self);

/* Reserves ids behind `next_id`, from which on none was given, and makes all durable. `frees`: the transaction may use
   the room that is kept (log.h). After a failure the caller rolls back, and settles what the file has: htw__database_settle(). */
int htw__database_commit(struct htw__database *self, uint64_t next_id, bool frees);

void htw__database_rollback(struct htw__database *self);

/*
 * Reserves ids behind `next_id`. After a failed commit it also makes sure that no crash brings back the transaction
 * that failed, of which a complete copy may be at the end of the log, by writing over it. 0, or the error of that.
 */
int htw__database_settle(struct htw__database *self, uint64_t next_id);

/* The file is damaged, or not as it was left: nothing more is written. Returns -EIO. */
int htw__database_distrust(struct htw__database *self, const char *why);

/* ---- the log: what is durable, and not yet in the file */

/* Its size, of the file of this name. For any thread. */
uint64_t htw__log_bytes(const char *name);

/* Whether it is to be copied into the file. */
bool htw__log_is_long(const struct htw__database *self);

/* Copies it into the file, and makes the room again (log.h). Returns whether it was possible now, or a negative errno. */
int htw__room_copy_log(struct htw__database *self);

/* After a change has found no space: copies the log, and waits a moment for those that read it. Whether another try may
   succeed. */
bool htw__room_regain(struct htw__database *self);

#endif /* HTW_SRC_JOURNAL_DATABASE_H */
