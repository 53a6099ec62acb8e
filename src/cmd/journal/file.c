/* SPDX-License-Identifier: MIT */
/* file.c - reads the file of a journal, by SQLite alone. */
#include "file.h"

#include "../terminal.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define APPLICATION_ID 0x6874776a /* "htwj" */
#define FORMAT 1
#define BUSY_TIMEOUT_MS 5000

bool htw__journal_file_failed(struct htw__journal_file *self) {
    int code = sqlite3_errcode(self->connection);
    if (code == SQLITE_CANTOPEN)
        htw__terminal_error("%s: cannot be read: SQLite must be able to create %s-shm beside it",
                            self->path, self->path);
    else
        htw__terminal_error("%s: %s", self->path, sqlite3_errmsg(self->connection));
    return false;
}

struct sqlite3_stmt *htw__journal_file_prepare(struct htw__journal_file *self, const char *text) {
    struct sqlite3_stmt *statement = NULL;
    if (sqlite3_prepare_v2(self->connection, text, -1, &statement, NULL) != SQLITE_OK)
        htw__journal_file_failed(self);
    return statement;
}

bool htw__journal_file_number(struct htw__journal_file *self, const char *text,
                              int64_t *ret_number) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(self, text);
    if (statement == NULL)
        return false;
    bool has_row = sqlite3_step(statement) == SQLITE_ROW;
    if (has_row)
        *ret_number = sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return has_row || htw__journal_file_failed(self);
}

struct htw__bytes htw__journal_file_column(struct sqlite3_stmt *statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return (struct htw__bytes) { NULL, 0 };
    const char *bytes = sqlite3_column_blob(statement, column);
    return (struct htw__bytes) { bytes == NULL ? "" : bytes,
                                 (size_t)sqlite3_column_bytes(statement, column) };
}

static bool is_journal(struct htw__journal_file *self) {
    int64_t application = 0, format = 0;
    if (!htw__journal_file_number(self, "PRAGMA application_id", &application) ||
        !htw__journal_file_number(self, "PRAGMA user_version", &format))
        return false;
    if (application != APPLICATION_ID)
        htw__terminal_error("%s: not a journal", self->path);
    else if (format != FORMAT)
        htw__terminal_error("%s: the journal has format %lld, and this version knows format %d",
                            self->path, (long long)format, FORMAT);
    return application == APPLICATION_ID && format == FORMAT;
}

/* What SQLite would say less clearly. */
static bool is_readable(const char *path) {
    struct stat status;
    int error = 0;
    if (stat(path, &status) != 0 || (!S_ISDIR(status.st_mode) && access(path, R_OK) != 0))
        error = errno;
    else if (S_ISDIR(status.st_mode))
        error = EISDIR;
    if (error != 0)
        htw__terminal_error("%s: %s", path, strerror(error));
    else if (!S_ISREG(status.st_mode))
        htw__terminal_error("%s: not a regular file", path);
    else if (status.st_size == 0)
        htw__terminal_error("%s: not a journal", path);
    return error == 0 && S_ISREG(status.st_mode) && status.st_size > 0;
}

bool htw__journal_file_open(struct htw__journal_file *self, const char *path) {
    *self = (struct htw__journal_file) { .path = path };
    if (!is_readable(path))
        return false;
    if (sqlite3_open_v2(path, &self->connection, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return htw__journal_file_failed(self);
    sqlite3_busy_timeout(self->connection, BUSY_TIMEOUT_MS);
    return is_journal(self);
}

void htw__journal_file_close(struct htw__journal_file *self) {
    sqlite3_close(self->connection);
    self->connection = NULL;
}
