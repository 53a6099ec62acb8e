/* SPDX-License-Identifier: MIT */
/*
 * file.h - reads the file of a journal, by SQLite alone, while another process may use it. Nothing
 * here writes to the file, and no read keeps the log of that process from ending for long.
 * docs/journal.md describes the tables.
 *
 * Functions that return bool print why they fail.
 */
#ifndef HTW_SRC_CMD_JOURNAL_FILE_H
#define HTW_SRC_CMD_JOURNAL_FILE_H

#include "leases.h"

struct sqlite3;
struct sqlite3_stmt;

struct htw__journal_file {
    const char *path;
    struct sqlite3 *connection;
    int version;               /* of the format: 1 or 2 */
    bool is_guest;             /* in the database of a program */
    int64_t now_ns;            /* when it was opened: one instant for all that is read */
    uint64_t steps;            /* of SQLite's machine */
    struct htw__leases leases; /* only of htw__journal_file_open_live() */
};

/* Opens a file that must be a journal. One without tables, as a crash leaves it at the first open of a
   journal, is an empty journal. Opened or not, it is to be closed. */
bool htw__journal_file_open(struct htw__journal_file *self, const char *path);

/* The same, and asks the `htw serve` that has the journal open, if one does, for what is leased there and not in the file. */
bool htw__journal_file_open_live(struct htw__journal_file *file, const char *path);
void htw__journal_file_close(struct htw__journal_file *self);

/* The size of the file, and of its log. */
uint64_t htw__journal_file_bytes(const struct htw__journal_file *self);
uint64_t htw__journal_file_log_bytes(const struct htw__journal_file *self);

/* Prints the last error of SQLite; returns false. */
bool htw__journal_file_failed(struct htw__journal_file *self);

/* Prepares a statement; NULL: it has failed. */
struct sqlite3_stmt *htw__journal_file_prepare(struct htw__journal_file *self, const char *text);

/* A number from the first row of a query. */
bool htw__journal_file_number(struct htw__journal_file *self, const char *text,
                              int64_t *ret_number);

/* Bytes that are valid until the next step of the statement. */
struct htw__file_bytes {
    const char *bytes; /* NULL: none */
    size_t size;
};
struct htw__file_bytes htw__journal_file_column(struct sqlite3_stmt *statement, int column);

#endif /* HTW_SRC_CMD_JOURNAL_FILE_H */
