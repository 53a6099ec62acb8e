/* SPDX-License-Identifier: MIT */
/*
 * log.h - the log of SQLite, PATH-wal: what a process has left in it, its size, and copying it to
 * the file. For the thread that uses the database.
 */
#ifndef HTW_SRC_JOURNAL_LOG_H
#define HTW_SRC_JOURNAL_LOG_H

#include <stdbool.h>
#include <stdint.h>

struct sqlite3;
struct sqlite3_file;

struct htw__log {
    struct sqlite3 *connection;
    int pages;         /* after the last commit */
    int checkpoint_at; /* it is copied when it has so many */
    uint64_t inode;    /* 0: not yet known */
    bool is_rewritten; /* all that an earlier process has left is on the disk */
};

/* The log is copied into the file when it has so many pages. Only tests change it. */
extern int htw__log_checkpoint_pages;

/* The database or its log as SQLite has it open, by SQLITE_FCNTL_FILE_POINTER or _JOURNAL_POINTER; NULL: there is none. And the
   result of a call of it that has failed: SQLITE_FULL where that was the reason. */
struct sqlite3_file *htw__log_file(struct sqlite3 *connection, int which);
int htw__log_result(struct sqlite3_file *file, int result);

/* From now on, commits are followed. NULL: the log is that of a program, or there is none, and nothing is done with it. */
void htw__log_init(struct htw__log *log, struct sqlite3 *connection);

/* The size of the log of the file of this name. For any thread. */
uint64_t htw__log_bytes(const char *name);

/* Whether the log is still beside the file of this name. SQLite does not notice that it is not. */
bool htw__log_is_in_place(struct htw__log *log, const char *name);

/* Whether the log is to be copied into the file. */
bool htw__log_is_long(const struct htw__log *log);

/*
 * Copies it. The first time, what an earlier process has left is written again before, and nothing may
 * be added to the log until that has succeeded (`is_rewritten`). A result of SQLite; SQLITE_BUSY: later.
 * `ret_is_whole`: not only up to where a reader is.
 */
int htw__log_checkpoint(struct htw__log *log, bool *ret_is_whole);

#endif /* HTW_SRC_JOURNAL_LOG_H */
