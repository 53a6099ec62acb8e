/* SPDX-License-Identifier: MIT */
/*
 * database.h - the file of a journal: opening, changing and closing it, its counters, its statements. schema.h
 * has its tables, rows.h their rows.
 *
 * SQLITE. Only this folder calls it, and programs/journal/change.c, without a journal. Its language stands in this header,
 * schema.c, rows.c and check.c; its settings in open.c, transactions in transaction.c, its log in log.c; what its
 * results mean, in error.c. The other files read columns and bind parameters.
 *
 * One thread at a time uses a database: the one that opens it, then the writer, then the one that
 * closes it. Failures leave a sentence (error.h).
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_H
#define HTW_SRC_JOURNAL_DATABASE_H

#include "path.h"

#include <htw/journal_inspect.h>

#include <sqlite3.h>

/* ---- the statements, which are prepared once */

/* Those of a guest are the last ones. SET_META: `generation` is that of the transaction which this journal has made last. */
#define HTW__STATEMENTS_OF(S)                                                                         \
    S(BEGIN, "BEGIN IMMEDIATE")                                                                       \
    S(COMMIT, "COMMIT")                                                                               \
    S(ROLLBACK, "ROLLBACK")                                                                           \
    S(SET_META, "UPDATE htw_meta SET jobs=?,next_sequence=?,generation=?,last_put=? "                 \
                "WHERE one=1 AND generation=?")                                                       \
    S(READ_META, "SELECT generation, EXISTS (SELECT 1 FROM htw_moved), jobs, next_sequence, "         \
                 "last_put FROM htw_meta WHERE one = 1")                                              \
    S(INSERT, "INSERT INTO htw_job VALUES (?, ?, ?, ?, ?, ?, ?, ?)")                                  \
    S(DELETE, "DELETE FROM htw_job WHERE id = ?1")                                                    \
    S(PUT_AS, "SELECT deadline, key, NULL, queue, priority, put, 0 FROM htw_job WHERE id = ?1")       \
    S(FETCH,                                                                                          \
      "SELECT deadline, key, payload, queue, priority, put, lease FROM htw_job WHERE id = ?1")        \
    S(FIND_KEY, "SELECT id FROM htw_job WHERE key = ?1")                                              \
    S(FETCH_MOVED, "SELECT place, rank, deadline, priority, state, attempts, releases, timeouts, "    \
                   "buries, kicks FROM htw_moved WHERE id = ?1")                                      \
    S(STORE_MOVED, "INSERT OR REPLACE INTO htw_moved VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")       \
    S(DELETE_MOVED, "DELETE FROM htw_moved WHERE id = ?1")                                            \
    S(STORE_BLOCK, "INSERT OR IGNORE INTO htw_block (place, first) VALUES (?1, ?2)")                  \
    S(PAGE_COUNT, "PRAGMA page_count")                                                                \
    S(PAGE_SIZE, "PRAGMA page_size")                                                                  \
    S(COUNT_JOBS,                                                                                     \
      "SELECT count(*), total(m) FROM (SELECT EXISTS (SELECT 1 FROM htw_moved WHERE id = "            \
      "htw_job.id) AS m FROM htw_job WHERE id >= ?1 AND id <= ?2 LIMIT ?3)")                          \
    S(DELETE_BLOCK, "DELETE FROM htw_block WHERE place = ?1 AND first = ?2")                          \
    S(NEXT_BLOCK,                                                                                     \
      "SELECT first FROM htw_block WHERE place = ?1 AND first > ?2 ORDER BY first LIMIT 1")           \
    S(NEXT_PLACE,                                                                                     \
      "SELECT * FROM (SELECT place FROM htw_block WHERE place >= ?1 ORDER BY place LIMIT 1) "         \
      "UNION ALL SELECT * FROM (SELECT place FROM htw_moved WHERE place >= ?1 ORDER BY place LIMIT "  \
      "1) ORDER BY 1 LIMIT 1")                                                                        \
    S(SCAN, "SELECT id, deadline, max(put, ~put), EXISTS (SELECT 1 FROM htw_moved m WHERE m.id = "    \
            "htw_job.id) FROM "                                                                       \
            "htw_job WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3")                               \
    S(SCAN_MOVED,                                                                                     \
      "SELECT * FROM (SELECT id, deadline, rank FROM htw_moved INDEXED BY htw_moved_place WHERE "     \
      "place = ?1 AND rank = ?2 AND "                                                                 \
      "id > ?3 ORDER BY id LIMIT ?4) UNION ALL SELECT * FROM (SELECT id, deadline, rank FROM "        \
      "htw_moved WHERE place = ?1 AND rank > ?2 ORDER BY rank, id LIMIT ?4) LIMIT ?4")                \
    S(COUNT_DUE,                                                                                      \
      "SELECT place & 4294967295, 0, count(*) FROM htw_block CROSS JOIN htw_job ON id BETWEEN first " \
      "AND first + 255 WHERE place <= ?1 AND deadline <= ?2 AND NOT EXISTS (SELECT 1 FROM htw_moved " \
      "m WHERE m.id = htw_job.id) GROUP BY 1 UNION ALL SELECT place & 4294967295, state, count(*) "   \
      "FROM htw_moved WHERE place <= ?1 AND deadline <= ?2 GROUP BY 1, 2")                            \
    S(READ_QUEUES,                                                                                    \
      "SELECT number, name, delayed, ready, leased, buried, attempts_max, initial, cap, "             \
      "multiplier, jitter FROM htw_queue ORDER BY number")                                            \
    S(STORE_QUEUE, "INSERT OR REPLACE INTO htw_queue VALUES (?1, ?6, ?2, ?3, ?4, ?5, ?7, ?8, ?9, "    \
                   "?10, ?11)")                                                                       \
    S(DELETE_QUEUE, "DELETE FROM htw_queue WHERE number = ?1")                                        \
    S(NEXT_INBOX,                                                                                     \
      "SELECT deadline, key, payload, 0, priority, 0, lease, queue, id FROM htw_inbox "               \
      "WHERE id > ?1 ORDER BY id LIMIT 1")                                                            \
    S(FIND_KEY_INBOX, "SELECT id FROM htw_inbox WHERE key = ?1")                                      \
    S(DELETE_INBOX, "DELETE FROM htw_inbox WHERE id = ?1")

enum htw__statement {
#define NAME(name, text) HTW__##name,
    HTW__STATEMENTS_OF(NAME) HTW__STATEMENTS
#undef NAME
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

/* The log of SQLite: log.h. */
struct htw__log {
    int pages;         /* after the last commit */
    int checkpoint_at; /* it is copied when it has so many */
    uint64_t inode;    /* 0: not yet known */
    bool is_rewritten; /* all that an earlier process has left is on the disk */
};

/* The log is copied into the file when it has so many pages. Only tests change it. */
extern int htw__log_checkpoint_pages;

/* How long to wait for another program that has locked the file. */
#define HTW__DATABASE_BUSY_MS 2000

struct htw__database {
    struct sqlite3 *connection; /* NULL: not open */
    struct sqlite3_stmt *statements[HTW__STATEMENTS];
    char name[PATH_MAX]; /* for sentences */
    bool is_in_memory;   /* there is no file: what only the next open needs is not written */
    enum htw_synchronous synchronous;
    bool is_guest; /* in the file of a program */
    /* As of the last commit. */
    uint64_t jobs;       /* rows */
    bool has_moved;      /* jobs were moved: if not, nothing has to be asked about that */
    int64_t last_put_us; /* the greatest `put_us` of all jobs that ever were */
    uint64_t next_id;    /* as the file has it: those below may be in use */
    uint64_t ids_end;    /* there are none from here on */
    uint64_t generation; /* commits */
    /* Of the transaction that is open. */
    struct htw__added {
        int64_t jobs, last_put_us, inbox;
    } added;
    uint64_t from_inbox; /* jobs that have left the inbox, and are to be counted */
    struct htw__blocks blocks;
    struct htw__log log;
    int64_t checked_ns;            /* when the files were last seen in place; 0: not yet */
    bool is_open;                  /* and all statements are prepared */
    int64_t file_bytes, page_size; /* log.h */
    bool has_log_room;
    bool lacks_space;   /* until the whole log is copied */
    uint64_t steps;     /* of SQLite's machine, where it only reads: these are limited */
    bool is_distrusted; /* an fsync has failed, or the file is damaged */
};

/* ---- opening and closing */

/* 0, or -ENOTSUP: the SQLite that is loaded cannot be used. */
int htw__database_check_sqlite(void);

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
   the room that is kept (log.h). After a failure the caller rolls
   back, and settles what the file has: htw__database_settle(). */
int htw__database_commit(struct htw__database *self, uint64_t next_id, bool frees);

void htw__database_rollback(struct htw__database *self);

/*
 * Reserves ids behind `next_id`. After a failed commit it also makes sure that no crash brings back the transaction
 * that failed, of which a complete copy may be at the end of the log, by writing over it. 0, or the error of that.
 */
int htw__database_settle(struct htw__database *self, uint64_t next_id);

/* ---- for the parts of the database */

/* The error of a result of SQLite; leaves its sentence. */
int htw__database_fail(struct htw__database *self, int result);

/* The file is damaged, or not as it was left: nothing more is written. Returns -EIO. */
int htw__database_distrust(struct htw__database *self, const char *why);

/* Prepares them all. 0 or an error. */
int htw__statements_prepare(struct htw__database *self);
void htw__statements_finalize(struct htw__database *self);

static inline void htw__statement_bind_blob(struct sqlite3_stmt *statement, int index,
                                            const void *bytes, size_t size) {
    /* A NULL pointer would be the value NULL. */
    sqlite3_bind_blob64(statement, index, bytes == NULL ? "" : bytes, size, SQLITE_STATIC);
}

/* NULL is the value NULL. */
static inline void htw__statement_bind_optional(struct sqlite3_stmt *statement, int index,
                                                const void *bytes, size_t size) {
    sqlite3_bind_blob64(statement, index, bytes, size, SQLITE_STATIC);
}

/* Binds the first parameters. */
#define HTW__NUMBERS(...) \
    (const int64_t[]) { __VA_ARGS__ }, sizeof((const int64_t[]) { __VA_ARGS__ }) / sizeof(int64_t)
void htw__statement_bind(struct htw__database *self, enum htw__statement which,
                         const int64_t *numbers, size_t count);

/* The next row: 1; 0: there is none; or an error. Without a row the statement is reset. */
int htw__statement_step(struct htw__database *self, enum htw__statement which);

/* Binds the first parameters, and steps. */
int htw__statement_run(struct htw__database *self, enum htw__statement which,
                       const int64_t *numbers, size_t count);

#endif /* HTW_SRC_JOURNAL_DATABASE_H */
