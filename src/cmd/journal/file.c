/* SPDX-License-Identifier: MIT */
/* file.c - reads the file of a journal, by SQLite alone. */
#include "file.h"

#include "../../base/clock.h"
#include "../../journal/schema.h"
#include "../terminal.h"

#include <htw/journal.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define BUSY_TIMEOUT_MS 5000

/* To read all of a journal, in any of the ways here, takes less than STEPS_A_BYTE steps of SQLite's
   machine for each byte of it. Pages that lead to each other in a circle would take more. */
#define STEPS_A_BYTE 16u
#define STEPS_ANYHOW 100000u
#define STEPS_BETWEEN_CHECKS 10000

bool htw__journal_file_failed(struct htw__journal_file *self) {
    int code = sqlite3_errcode(self->connection);
    if (code == SQLITE_CANTOPEN)
        htw__terminal_error("%s: cannot be read: SQLite must be able to create %s-shm beside it",
                            self->path, self->path);
    else if (code == SQLITE_INTERRUPT)
        htw__terminal_error("%s: damaged: to read it would not end", self->path);
    else
        htw__terminal_error("%s: %s", self->path, sqlite3_errmsg(self->connection));
    return false;
}

struct sqlite3_stmt *htw__journal_file_prepare(struct htw__journal_file *self, const char *text) {
    char buffer[HTW__SCHEMA_TEXT];
    struct sqlite3_stmt *statement = NULL;
    text = htw__schema_text(text, self->is_guest, buffer);
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

struct htw__file_bytes htw__journal_file_column(struct sqlite3_stmt *statement, int column) {
    if (sqlite3_column_type(statement, column) == SQLITE_NULL)
        return (struct htw__file_bytes) { NULL, 0 };
    const char *bytes = sqlite3_column_blob(statement, column);
    return (struct htw__file_bytes) { bytes == NULL ? "" : bytes,
                                      (size_t)sqlite3_column_bytes(statement, column) };
}

static uint64_t size_of(const char *path, const char *suffix) {
    char name[8192];
    struct stat status;
    snprintf(name, sizeof(name), "%s%s", path, suffix);
    return stat(name, &status) == 0 ? (uint64_t)status.st_size : 0;
}

uint64_t htw__journal_file_bytes(const struct htw__journal_file *self) {
    return size_of(self->path, "");
}

uint64_t htw__journal_file_log_bytes(const struct htw__journal_file *self) {
    return size_of(self->path, "-wal");
}

/* The file grows while it is read. */
static int is_too_long(void *context) {
    struct htw__journal_file *self = context;
    uint64_t bytes = htw__journal_file_bytes(self) + htw__journal_file_log_bytes(self);
    self->steps += STEPS_BETWEEN_CHECKS;
    return self->steps > STEPS_ANYHOW && (self->steps - STEPS_ANYHOW) / STEPS_A_BYTE > bytes;
}

/* Whether SQLite would undo all that is in the file, by the copy that it keeps beside it: a crash has
   ended the creation. The copy says how many pages there were before. */
static bool is_to_be_undone(const struct htw__journal_file *self) {
    enum { PAGES_AT = 16, SIZE = 20 };
    static const char none[SIZE - PAGES_AT];
    char name[8192], header[SIZE];
    snprintf(name, sizeof(name), "%s-journal", self->path);
    FILE *copy = fopen(name, "rb");
    if (copy == NULL)
        return false;
    bool is_read = fread(header, 1, SIZE, copy) == SIZE;
    (void)fclose(copy);
    return is_read && memcmp(header + PAGES_AT, none, sizeof(none)) == 0;
}

/* In the place of a file without tables. */
static bool open_empty(struct htw__journal_file *self) {
    htw__journal_file_close(self);
    self->version = HTW__SCHEMA_VERSION;
    return (sqlite3_open(":memory:", &self->connection) == SQLITE_OK &&
            htw__schema_create(self->connection, false) == SQLITE_OK) ||
           htw__journal_file_failed(self);
}

static bool identify(struct htw__journal_file *self) {
    self->is_guest = htw__schema_is_guest(self->connection);
    if (htw__schema_identify(self->connection, self->path, self->is_guest, &self->version) == 0)
        return self->version != 0 || open_empty(self);
    int code = sqlite3_extended_errcode(self->connection);
    if (code == SQLITE_READONLY_ROLLBACK && is_to_be_undone(self))
        return open_empty(self);
    if ((code & 0xff) == SQLITE_CANTOPEN)
        return htw__journal_file_failed(self);
    htw__terminal_error("%s", htw_journal_error());
    return false;
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
    return error == 0 && S_ISREG(status.st_mode);
}

bool htw__journal_file_open(struct htw__journal_file *self, const char *path) {
    *self = (struct htw__journal_file) { .path = path, .now_ns = htw__clock_realtime_ns() };
    if (!is_readable(path))
        return false;
    if (sqlite3_open_v2(path, &self->connection, SQLITE_OPEN_READONLY, NULL) != SQLITE_OK)
        return htw__journal_file_failed(self);
    sqlite3_busy_timeout(self->connection, BUSY_TIMEOUT_MS);
    if (!identify(self))
        return false;
    sqlite3_progress_handler(self->connection, STEPS_BETWEEN_CHECKS, is_too_long, self);
    return sqlite3_exec(self->connection, "PRAGMA cell_size_check = ON", NULL, NULL, NULL) ==
               SQLITE_OK ||
           htw__journal_file_failed(self);
}

/* Of the leases those that are in the file, too, which are durable. */
static bool drop_durable(struct htw__journal_file *self) {
    struct htw__leases *leases = &self->leases;
    size_t count = leases->count;
    if (count == 0 || self->version == 1)
        return true;
    struct sqlite3_stmt *statement = htw__journal_file_prepare(
        self, "SELECT 1 FROM @moved WHERE id = ?1 AND state != 0 AND deadline > ?2");
    bool success = statement != NULL;
    leases->count = 0;
    for (size_t i = 0; i < count && success; i++) {
        sqlite3_bind_int64(statement, 1, (int64_t)leases->ids[i]);
        sqlite3_bind_int64(statement, 2, self->now_ns);
        int result = sqlite3_step(statement);
        if (result == SQLITE_DONE)
            leases->ids[leases->count++] = leases->ids[i];
        else if (result != SQLITE_ROW)
            success = htw__journal_file_failed(self);
        sqlite3_reset(statement);
    }
    sqlite3_finalize(statement);
    return success;
}

/* First what is leased: a job that ends meanwhile is not in the file, and one that is leased meanwhile is ready there. */
bool htw__journal_file_open_live(struct htw__journal_file *self, const char *path) {
    struct htw__leases leases;
    htw__leases_ask(&leases, path);
    bool is_open = htw__journal_file_open(self, path);
    self->leases = leases;
    return is_open && drop_durable(self);
}

void htw__journal_file_close(struct htw__journal_file *self) {
    htw__leases_free(&self->leases);
    self->leases = (struct htw__leases) { NULL, 0 };
    sqlite3_close(self->connection);
    self->connection = NULL;
}
