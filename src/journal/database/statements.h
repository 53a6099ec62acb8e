/* SPDX-License-Identifier: MIT */
/*
 * statements.h - SQLite as the files of this folder use it: the connection, the statements, and what its results mean.
 * Only these files include this header.
 */
#ifndef HTW_SRC_JOURNAL_DATABASE_STATEMENTS_H
#define HTW_SRC_JOURNAL_DATABASE_STATEMENTS_H

#include "database.h"

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

/* ---- the database: what struct htw__database does not show */

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

/* Bytes of the frames of a commit that are written together: seven of the usual pages, which are more than a put has. */
#define HTW__LOG_HELD (32 << 10)

/* The log of SQLite: log.h. */
struct htw__log {
    int pages;         /* after the last commit */
    int checkpoint_at; /* it is copied when it has so many */
    uint64_t inode;    /* 0: not yet known */
    bool is_rewritten; /* all that an earlier process has left is on the disk */
    /* What frames.c has put in front of the methods of the file. */
    struct htw__database *database;
    sqlite3_io_methods methods;
    const sqlite3_io_methods *real;
    bool commits; /* a transaction ends now */
    bool holds;   /* its frames: SQLite syncs them before readers see them */
    unsigned char held[HTW__LOG_HELD];
    int held_size;
    int64_t held_at, size; /* of what is held; of the file, at least */
};

struct htw__sqlite {
    struct sqlite3 *connection; /* NULL: not open */
    struct sqlite3_stmt *statements[HTW__STATEMENTS];
    enum htw_synchronous synchronous;
    bool is_open;   /* and all statements are prepared */
    bool has_moved; /* jobs were moved: if not, nothing has to be asked about that */
    /* Of the transaction that is open. */
    struct htw__added {
        int64_t jobs, last_put_us, inbox;
    } added;
    struct htw__blocks blocks;
    struct htw__log log;
    int64_t file_bytes; /* log.h */
    int64_t file_pages; /* in use, after the last commit; 0: not known */
    uint64_t page_size;
    unsigned room_pages; /* that the commit leaves */
    bool has_log_room;
    int64_t checked_ns; /* when the files were last seen in place; 0: not yet */
    uint64_t steps;     /* of SQLite's machine, where it only reads: these are limited */
};

/* ---- results */

/* The negative errno of a result of SQLite, which must be a failure. `connection` may be NULL. */
int htw__journal_errno(struct sqlite3 *connection, int result);

/* What the sentence says of the result whose errno that is. `connection` may be NULL. */
const char *htw__journal_why(struct sqlite3 *connection, int result, int error);

/* The file of SQLITE_FCNTL_FILE_POINTER, or the log of _JOURNAL_POINTER; NULL: there is none. */
struct sqlite3_file *htw__database_file(const struct htw__database *self, int which);

/* The error of a result of SQLite; leaves its sentence. */
int htw__database_fail(struct htw__database *self, int result);

/* ---- statements */

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

/* Binds the first parameters, and steps. */
int htw__statement_run(struct htw__database *self, enum htw__statement which,
                       const int64_t *numbers, size_t count);

/* As run: the number in the first column of the only row. */
int htw__statement_number(struct htw__database *self, enum htw__statement which,
                          const int64_t *numbers, size_t count, uint64_t *ret_number);

#endif /* HTW_SRC_JOURNAL_DATABASE_STATEMENTS_H */
