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

struct htw__log {
    struct sqlite3 *connection;
    int pages;         /* after the last commit */
    int checkpoint_at; /* it is copied when it has so many */
    int64_t bytes;     /* at least so many are on the disk */
    uint64_t inode;    /* 0: not yet known */
};

/* The log is copied into the file when it has so many pages. Only tests change it. */
extern int htw__log_checkpoint_pages;

/* At the open: copies the log into the file before anything is added. (If another program reads, it
   is copied, but stays.) A result of SQLite. */
int htw__log_settle(struct sqlite3 *connection);

/* From now on, commits are followed. */
void htw__log_init(struct htw__log *log, struct sqlite3 *connection);

/*
 * In a transaction that will be synced: if the log is nearly used up, writes zeros behind its end.
 * A sync that must also record a new size of the file takes much longer than one of a file that has
 * its size: docs/choices.md. SQLite takes the zeros for what is left of an older log.
 */
void htw__log_extend(struct htw__log *log);

/* Whether the log is still beside the file of this name. SQLite does not notice that it is not. */
bool htw__log_is_in_place(struct htw__log *log, const char *name);

/* Whether the log is to be copied into the file. */
bool htw__log_is_long(const struct htw__log *log);

/* Copies it. A result of SQLite; SQLITE_BUSY: later. `ret_is_whole`: not only up to where a reader is. */
int htw__log_checkpoint(struct htw__log *log, bool *ret_is_whole);

#endif /* HTW_SRC_JOURNAL_LOG_H */
