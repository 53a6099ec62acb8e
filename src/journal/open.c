/* SPDX-License-Identifier: MIT */
/* open.c - opening the file of a journal: its format, the settings of SQLite, what a crash has left. */
#include "database.h"

#include "error.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/* "htwj" */
#define APPLICATION_ID 0x6874776a
#define SCHEMA_VERSION 1

#define BUSY_TIMEOUT_MS 2000

/* Older ones ignore PRAGMA trusted_schema. meson.build has the same number. */
#define SQLITE_VERSION_MIN 3031000
_Static_assert(SQLITE_VERSION_NUMBER >= SQLITE_VERSION_MIN, "SQLite 3.31.0 or later");

/* Columns that are null or constant cost a byte each. */
static const char schema[] =
    "CREATE TABLE job (id INTEGER PRIMARY KEY, deadline INTEGER NOT NULL, key BLOB, payload BLOB "
    "NOT NULL);"
    "CREATE TABLE job_key (key BLOB PRIMARY KEY, id INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE meta (one INTEGER PRIMARY KEY CHECK (one = 1), jobs INTEGER NOT NULL, keyed "
    "INTEGER NOT NULL, next_sequence INTEGER NOT NULL, generation INTEGER NOT NULL, mark BLOB);"
    "INSERT INTO meta VALUES (1, 0, 0, 1, 0, NULL);"
    "PRAGMA application_id = 1752463210;"
    "PRAGMA user_version = 1;";

/* ---- the format */

static int execute(struct htw__database *self, const char *text) {
    int result = sqlite3_exec(self->connection, text, NULL, NULL, NULL);
    return result == SQLITE_OK ? 0 : htw__database_fail(self, result);
}

static int take_number(void *context, int columns, char **values, char **names) {
    (void)columns, (void)names;
    *(int64_t *)context = values[0] == NULL ? 0 : (int64_t)strtoll(values[0], NULL, 10);
    return 0;
}

static int get_number(struct htw__database *self, const char *text, int64_t *ret_number) {
    *ret_number = 0;
    int result = sqlite3_exec(self->connection, text, take_number, ret_number, NULL);
    return result == SQLITE_OK ? 0 : htw__database_fail(self, result);
}

/* Whether the file is a journal of this version. `ret_is_empty`: it has no table at all. */
static int identify(struct htw__database *self, bool *ret_is_empty) {
    int64_t application = 0, version = 0, tables = 0;
    int error = get_number(self, "PRAGMA application_id", &application);
    if (error == 0)
        error = get_number(self, "PRAGMA user_version", &version);
    if (error == 0)
        error = get_number(self, "SELECT count(*) FROM sqlite_master", &tables);
    if (error != 0)
        return error;
    *ret_is_empty = application == 0 && version == 0 && tables == 0;
    if (*ret_is_empty)
        return 0;
    if (application != APPLICATION_ID)
        return htw__journal_fail(-EBADMSG, "%s: a database, but not a journal", self->name);
    if (version > SCHEMA_VERSION)
        return htw__journal_fail(-EPROTONOSUPPORT,
                                 "%s: the journal has format %lld, and this version of libhtw "
                                 "knows formats up to %d",
                                 self->name, (long long)version, SCHEMA_VERSION);
    return version == SCHEMA_VERSION
               ? 0
               : htw__journal_fail(-EBADMSG, "%s: the format of the journal is damaged",
                                   self->name);
}

static int is_wal(void *context, int columns, char **values, char **names) {
    (void)columns, (void)names;
    *(bool *)context = values[0] != NULL && strcmp(values[0], "wal") == 0;
    return 0;
}

static int set_up(struct htw__database *self, const struct htw__journal_path *path) {
    bool is_empty, has_log = false;
    int error = identify(self, &is_empty);
    if (error != 0)
        return error;
    if (sqlite3_db_readonly(self->connection, "main") != 0)
        return htw__journal_fail(-EROFS, "%s: the file cannot be written", self->name);
    int result =
        sqlite3_exec(self->connection, "PRAGMA journal_mode = WAL", is_wal, &has_log, NULL);
    if (result != SQLITE_OK)
        return htw__database_fail(self, result);
    if (!has_log)
        return htw__journal_fail(-EIO, "%s: the file system does not support a log of SQLite",
                                 self->name);
    error =
        execute(self, self->synchronous == HTW_SYNCHRONOUS_FULL ? "PRAGMA synchronous = FULL"
                                                                : "PRAGMA synchronous = NORMAL");
    if (error == 0)
        error = execute(self, "PRAGMA wal_autocheckpoint = 0; PRAGMA cache_size = -8192;"
                              /* 20 MiB, when it begins again: a long reader has made it larger */
                              "PRAGMA journal_size_limit = 20971520;"
                              /* what a savepoint keeps goes to no file */
                              "PRAGMA temp_store = MEMORY;"
                              "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON");
    if (error == 0 && is_empty) {
        error = execute(self, "BEGIN IMMEDIATE");
        if (error == 0)
            error = execute(self, schema);
        if (error == 0)
            error = execute(self, "COMMIT");
        if (error == 0)
            error = htw__journal_path_sync_folder(path);
    }
    return error;
}

/* ---- the counters */

static int read_meta(struct htw__database *self) {
    struct sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(self->connection,
                                    "SELECT jobs, keyed, next_sequence, generation FROM "
                                    "meta",
                                    -1, &statement, NULL);
    if (result != SQLITE_OK)
        return htw__database_fail(self, result);
    result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        self->jobs = (uint64_t)sqlite3_column_int64(statement, 0);
        self->keyed = (uint64_t)sqlite3_column_int64(statement, 1);
        self->next_sequence = (uint64_t)sqlite3_column_int64(statement, 2) & HTW__SEQUENCE_MASK;
        self->generation = (uint64_t)sqlite3_column_int64(statement, 3);
    }
    int again = sqlite3_finalize(statement);
    if (result == SQLITE_DONE)
        return htw__journal_fail(-EBADMSG, "%s: the journal has lost its counters", self->name);
    return result == SQLITE_ROW ? 0 : htw__database_fail(self, again);
}

/* ---- opening */

int htw__database_check_sqlite(void) {
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
    int result = htw__database_checkpoint(self);
    if (result < 0)
        return result == -ENOSPC ? 0 : result;
    return self->log.is_rewritten
               ? 0
               : htw__journal_fail(-EBUSY, "%s: another program writes to the file", self->name);
}

/* Makes durable that the next sequence numbers are in use, before any is given out. On a full disk the
   first change tries it again. */
static int reserve_sequence(struct htw__database *self) {
    self->first_sequence = self->next_sequence;
    int error = htw__database_begin(self);
    if (error == 0)
        error = htw__database_commit(self, self->first_sequence);
    if (error != 0)
        htw__database_rollback(self);
    if (error == -ENOSPC)
        error = htw__database_settle(self, self->first_sequence);
    return error == -ENOSPC ? 0 : error;
}

int htw__database_open(struct htw__database *self, const struct htw__journal_path *path,
                       enum htw_synchronous synchronous) {
    memset(self, 0, sizeof(*self));
    memcpy(self->name, path->name, sizeof(self->name));
    self->synchronous = synchronous;
    errno = 0; /* htw__journal_errno() */
    int result = sqlite3_open_v2(
        path->name, &self->connection,
        SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE, NULL);
    if (result != SQLITE_OK) {
        int error = htw__database_fail(self, result);
        htw__database_close(self, false);
        return error;
    }
    sqlite3_extended_result_codes(self->connection, 1);
    sqlite3_busy_timeout(self->connection, BUSY_TIMEOUT_MS);
    int error = set_up(self, path);
    if (error == 0) {
        htw__log_init(&self->log, self->connection); /* not before PRAGMA wal_autocheckpoint */
        error = settle_log(self);
    }
    if (error == 0)
        error = read_meta(self);
    if (error == 0)
        error = htw__database_prepare(self);
    if (error != 0) {
        htw__database_close(self, false);
        return error;
    }
    error = reserve_sequence(self);
    if (error != 0) {
        htw__database_close(self, false);
        return error;
    }
    self->is_open = true;
    return 0;
}
