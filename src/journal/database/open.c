/* SPDX-License-Identifier: MIT */
/* open.c - opening the file of a journal: the settings of SQLite, its counters, what a crash has left. */
#include "error.h"
#include "place.h"
#include "schema.h"
#include "log.h"
#include "statements.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#define GUEST_BUSY_TIMEOUT_MS \
    30000 /* others write to the file, and their transactions may be long */

/* Older ones have no SQLITE_DBCONFIG_TRUSTED_SCHEMA (schema.c). meson.build has the same number. */
#define SQLITE_VERSION_MIN 3031000
_Static_assert(SQLITE_VERSION_NUMBER >= SQLITE_VERSION_MIN, "SQLite 3.31.0 or later");

/* ---- settings */

static int execute(struct htw__database *self, const char *text) {
    int result = sqlite3_exec(self->sqlite->connection, text, NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : htw__database_fail(self, result);
}

/* Whether a pragma answers with a text. 0 or an error. */
static int ask(struct htw__database *self, const char *pragma, const char *text, bool *ret_is) {
    struct sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(self->sqlite->connection, pragma, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return htw__database_fail(self, result);
    bool has_row = sqlite3_step(statement) == SQLITE_ROW;
    const void *answer = has_row ? sqlite3_column_text(statement, 0) : NULL;
    *ret_is = answer != NULL && strcmp(answer, text) == 0;
    result = sqlite3_finalize(statement);
    return result == SQLITE_OK ? 0 : htw__database_fail(self, result);
}

/* A file of its own. */
static int set_up_log(struct htw__database *self) {
    bool has_log = false;
    int error = ask(self, "PRAGMA journal_mode = WAL", "wal", &has_log);
    if (error == 0 && !has_log)
        error = htw__journal_fail(-EIO, "%s: the file system does not support a log of SQLite",
                                  self->name);
    /* 20 MiB, when it begins again: a long reader has made it larger */
    return error == 0 ? execute(self, "PRAGMA journal_size_limit = 20971520") : error;
}

static int check_encoding(struct htw__database *self) {
    bool is_utf_8 = false;
    int error = ask(self, "PRAGMA encoding", "UTF-8", &is_utf_8);
    return error != 0 || is_utf_8
               ? error
               : htw__journal_fail(-ENOTSUP, "%s: its texts are not UTF-8", self->name);
}

/* Of this connection alone. Without a log, only EXTRA makes the end of a transaction durable. */
static int set_up_connection(struct htw__database *self) {
    int error = execute(self, self->sqlite->synchronous == HTW_SYNCHRONOUS_NORMAL
                                  ? "PRAGMA synchronous = NORMAL"
                              : self->is_guest ? "PRAGMA synchronous = EXTRA"
                                               : "PRAGMA synchronous = FULL");
    return error == 0 ? execute(self, "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192;"
                                      "PRAGMA temp_store = MEMORY;"
                                      "PRAGMA cell_size_check = ON")
                      : error;
}

static int set_up(struct htw__database *self, const struct htw__journal_path *path,
                  int *ret_version) {
    int error =
        htw__schema_identify(self->sqlite->connection, self->name, self->is_guest, ret_version);
    int result;
    if (error != 0)
        return error;
    if (sqlite3_db_readonly(self->sqlite->connection, "main") != 0)
        return htw__journal_fail(-EROFS, "%s: the file cannot be written", self->name);
    error = self->is_guest ? check_encoding(self) : self->is_in_memory ? 0 : set_up_log(self);
    if (error == 0)
        error = set_up_connection(self);
    if (error == 0 && *ret_version == 0) {
        result = htw__schema_create(self->sqlite->connection, self->is_guest);
        error = result == SQLITE_OK ? 0 : htw__database_fail(self, result);
        if (error == 0 && !self->is_in_memory)
            error = htw__journal_path_sync_folder(path);
    }
    return error;
}

/* ---- the counters */

/* No count reaches this. Sums of two of them have no overflow. */
#define COUNT_MAX (UINT64_C(1) << 62)

static int read_meta(struct htw__database *self) {
    struct sqlite3_stmt *row = self->sqlite->statements[HTW__READ_META];
    int result = htw__statement_step(self, HTW__READ_META);
    if (result != 1)
        return result < 0 ? result
                          : htw__journal_fail(-EBADMSG, "%s: the journal has lost its counters",
                                              self->name);
    self->generation = (uint64_t)sqlite3_column_int64(row, 0);
    self->sqlite->has_moved = sqlite3_column_int64(row, 1) != 0;
    self->jobs = (uint64_t)sqlite3_column_int64(row, 2);
    self->next_id = (uint64_t)sqlite3_column_int64(row, 3);
    self->last_put_us = sqlite3_column_int64(row, 4);
    sqlite3_reset(row);
    return self->jobs <= COUNT_MAX && self->generation <= COUNT_MAX && self->last_put_us >= 0 &&
                   self->next_id >= HTW__BLOCK_IDS && self->next_id <= HTW__ID_MAX + 1 &&
                   self->next_id % HTW__BLOCK_IDS == 0
               ? 0
               : htw__journal_fail(-EBADMSG, "%s: the counters of the journal are damaged",
                                   self->name);
}

static int finish_open(struct htw__database *self) {
    int error = htw__statements_prepare(self);
    if (error == 0)
        error = read_meta(self);
    self->sqlite->is_open = error == 0;
    return error;
}

/* ---- opening */

int htw__database_check_library(void) {
    if (sqlite3_libversion_number() < SQLITE_VERSION_MIN)
        return htw__journal_fail(-ENOTSUP,
                                 "SQLite %s is too old: the journal needs 3.31.0 or later",
                                 sqlite3_libversion());
    return sqlite3_threadsafe() != 0
               ? 0
               : htw__journal_fail(-ENOTSUP,
                                   "this SQLite was built without mutexes (SQLITE_THREADSAFE=0)");
}

/* Where space lacks, the log stays, and the writer tries it again. */
static int settle_log(struct htw__database *self) {
    int result = htw__room_copy_log(self);
    if (result < 0 && result != -ENOSPC)
        return result;
    return result < 0 || self->sqlite->log.is_rewritten
               ? htw__room_keep(self)
               : htw__journal_fail(-EBUSY, "%s: another program writes to the file", self->name);
}

/* READWRITE or READONLY. */
static int connect(struct htw__database *self, int mode) {
    self->sqlite = sqlite3_malloc(sizeof(*self->sqlite));
    if (self->sqlite == NULL)
        return htw__journal_fail(-ENOMEM, "%s: no memory to open it", self->name);
    memset(self->sqlite, 0, sizeof(*self->sqlite));
    errno = 0; /* htw__journal_errno() */
    int result =
        sqlite3_open_v2(self->is_in_memory ? ":memory:" : self->name, &self->sqlite->connection,
                        mode | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
    if (result != SQLITE_OK)
        return htw__database_fail(self, result);
    sqlite3_extended_result_codes(self->sqlite->connection, 1);
    sqlite3_busy_timeout(self->sqlite->connection,
                         self->is_guest ? GUEST_BUSY_TIMEOUT_MS : HTW__DATABASE_BUSY_MS);
    return 0;
}

/* To read all of a journal takes less than STEPS_A_BYTE steps of SQLite's machine for each byte of it. Pages that lead to
   each other in a circle, as only a damaged file has them, would take more. The file grows while it is read. */
#define STEPS_A_BYTE 16u
#define STEPS_ANYHOW 100000u
#define STEPS_BETWEEN_CHECKS 10000

static int is_too_long(void *context) {
    struct htw__database *self = context;
    struct stat status;
    uint64_t bytes = htw__log_bytes(self->name);
    if (stat(self->name, &status) == 0)
        bytes += (uint64_t)status.st_size;
    self->sqlite->steps += STEPS_BETWEEN_CHECKS;
    return self->sqlite->steps > STEPS_ANYHOW &&
           (self->sqlite->steps - STEPS_ANYHOW) / STEPS_A_BYTE > bytes;
}

/* In the place of a file without tables. */
static int open_empty(struct htw__database *self) {
    htw__database_close(self, false, 0);
    self->is_in_memory = true;
    int error = connect(self, SQLITE_OPEN_READWRITE), result;
    if (error == 0 && (result = htw__schema_create(self->sqlite->connection, false)) != SQLITE_OK)
        error = htw__database_fail(self, result);
    return error;
}

/* Its pages are read again after each commit, so few of them are kept. */
static int open_to_read(struct htw__database *self, const char *name, int mode, bool is_second) {
    int version = 0;
    memset(self, 0, sizeof(*self));
    strcpy(self->name, name);
    int error = connect(self, mode);
    if (error == 0) {
        self->is_guest = !is_second && htw__schema_is_guest(self->sqlite->connection);
        error =
            htw__schema_identify(self->sqlite->connection, self->name, self->is_guest, &version);
    }
    self->ids_end = self->is_guest ? (uint64_t)HTW__GUEST_ID_MIN : HTW__ID_MAX + 1;
    if (error == 0 && version == 0)
        error = is_second ? htw__journal_fail(-EIO, "%s: the file was replaced", self->name)
                          : open_empty(self);
    else if (error == 0 && !is_second)
        sqlite3_progress_handler(self->sqlite->connection, STEPS_BETWEEN_CHECKS, is_too_long, self);
    if (error == 0)
        error = execute(self, "PRAGMA cache_size = -1024; PRAGMA temp_store = MEMORY;"
                              "PRAGMA cell_size_check = ON; PRAGMA query_only = ON");
    return error == 0 ? finish_open(self) : error;
}

int htw__database_open_to_read(struct htw__database *self, const struct htw__journal_path *path,
                               bool is_second) {
    int error = open_to_read(self, path->name, SQLITE_OPEN_READONLY, is_second);
    /* A process was killed while it wrote to a file without a log: who reads first undoes that. */
    if (error == -EACCES &&
        sqlite3_extended_errcode(self->sqlite->connection) == SQLITE_READONLY_ROLLBACK) {
        htw__database_close(self, false, 0);
        error = open_to_read(self, path->name, SQLITE_OPEN_READWRITE, is_second);
    }
    if (error != 0)
        htw__database_close(self, false, 0);
    return error;
}

int htw__database_open(struct htw__database *self, const struct htw__journal_path *path,
                       const struct htw_journal_options *options) {
    memset(self, 0, sizeof(*self));
    memcpy(self->name, path->name, sizeof(self->name));
    self->is_in_memory = path->is_in_memory;
    self->is_guest = options->is_guest;
    self->ids_end = self->is_guest ? (uint64_t)HTW__GUEST_ID_MIN : HTW__ID_MAX + 1;
    int version = 0, error = connect(self, SQLITE_OPEN_READWRITE);
    if (error == 0) {
        self->sqlite->synchronous = options->synchronous;
        error = set_up(self, path, &version);
    }
    if (error == 0) /* not before PRAGMA wal_autocheckpoint */
        htw__log_init(self);
    if (error == 0 && htw__database_has_log(self))
        error = settle_log(self);
    if (error == 0)
        error = finish_open(self);
    if (error == 0 && htw__database_has_log(self))
        error = htw__frames_follow(self);
    if (error != 0)
        htw__database_close(self, false, 0);
    return error;
}
