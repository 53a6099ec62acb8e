/* SPDX-License-Identifier: MIT */
/* database.c - the statements on the tables of a journal. open.c creates these. */
#include "database.h"

#include "../base/clock.h"
#include "error.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

/* How often a commit looks whether the files are in place. That takes two system calls, which in each
   commit would be a quarter of the time of one on some systems. */
#define CHECK_NS (10 * HTW_MILLISECOND)

enum statement {
    BEGIN,
    COMMIT,
    ROLLBACK,
    SAVEPOINT,
    RELEASE,
    ROLLBACK_TO,
    INSERT,
    DELETE,
    KEY_OF,
    FIND_KEY,
    SET_KEY,
    DELETE_KEY,
    SET_META,
    SET_MARK,
    SCAN,
    FETCH,
};

static const char *const texts[] = {
    [BEGIN] = "BEGIN IMMEDIATE",
    [COMMIT] = "COMMIT",
    [ROLLBACK] = "ROLLBACK",
    [SAVEPOINT] = "SAVEPOINT change",
    [RELEASE] = "RELEASE change",
    [ROLLBACK_TO] = "ROLLBACK TO change",
    [INSERT] = "INSERT INTO job (id, deadline, key, payload) VALUES (?1, ?2, ?3, ?4)",
    [DELETE] = "DELETE FROM job WHERE id = ?1",
    [KEY_OF] = "SELECT key FROM job WHERE id = ?1 AND key IS NOT NULL",
    [FIND_KEY] = "SELECT id FROM job_key WHERE key = ?1",
    [SET_KEY] = "INSERT OR REPLACE INTO job_key (key, id) VALUES (?1, ?2)",
    [DELETE_KEY] = "DELETE FROM job_key WHERE key = ?1",
    /* generation: of the transaction that this journal has made last */
    [SET_META] =
        "UPDATE meta SET jobs=?,keyed=?,next_sequence=?,generation=? WHERE one=1 AND generation=?",
    [SET_MARK] = "UPDATE meta SET mark = ?1 WHERE one = 1",
    [SCAN] = "SELECT id, deadline FROM job WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
    [FETCH] = "SELECT deadline, key, payload FROM job WHERE id = ?1",
};

_Static_assert(sizeof(texts) / sizeof(texts[0]) ==
                   sizeof(((struct htw__database *)NULL)->statements) / sizeof(void *),
               "a place for each statement");

/*
 * After a failed fsync, what is on the disk is unknown: the kernel may have dropped the pages, and
 * the next fsync then succeeds without them. So nothing more is written.
 */
int htw__database_fail(struct htw__database *self, int result) {
    int primary = result & 0xff;
    if (result == SQLITE_IOERR_FSYNC || result == SQLITE_IOERR_DIR_FSYNC ||
        primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB)
        self->is_distrusted = true;
    int error = htw__journal_errno(self->connection, result);
    self->lacks_space = self->lacks_space || error == -ENOSPC;
    /* Once it is open, only these are about a change, or about the moment. */
    if (self->is_open && error != -ENOMEM && error != -ENOSPC && error != -EBUSY &&
        error != -EEXIST && error != -EMSGSIZE)
        error = -EIO;
    const char *why =
        self->connection == NULL ? sqlite3_errstr(result) : sqlite3_errmsg(self->connection);
    if (error == -ENOSPC) /* of a quota SQLite says only that a write has failed */
        why = sqlite3_errstr(SQLITE_FULL);
    return htw__journal_fail(error, "%s: %s", self->name, why);
}

/* ---- statements */

static void bind_blob(struct sqlite3_stmt *statement, int index, const void *bytes, size_t size) {
    /* A NULL pointer would be the value NULL. */
    sqlite3_bind_blob64(statement, index, bytes == NULL ? "" : bytes, size, SQLITE_STATIC);
}

/* SQLITE_ROW, SQLITE_DONE, or the failure, with the statement reset. */
static int step(struct htw__database *self, enum statement which) {
    errno = 0; /* htw__journal_errno() */
    int result = sqlite3_step(self->statements[which]);
    if (result != SQLITE_ROW) {
        int again = sqlite3_reset(self->statements[which]);
        return result == SQLITE_DONE ? result : again;
    }
    return result;
}

/* Runs a statement that returns no row. */
static int run(struct htw__database *self, enum statement which) {
    int result = step(self, which);
    return result == SQLITE_DONE ? 0 : htw__database_fail(self, result);
}

int htw__database_prepare(struct htw__database *self) {
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        int result = sqlite3_prepare_v3(self->connection, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                        &self->statements[i], NULL);
        if (result != SQLITE_OK)
            return htw__database_fail(self, result);
    }
    return 0;
}

void htw__database_close(struct htw__database *self, bool trusts_file) {
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
        sqlite3_finalize(self->statements[i]);
    if ((!trusts_file || !self->log.is_rewritten) && self->connection != NULL)
        sqlite3_db_config(self->connection, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, NULL);
    sqlite3_close(self->connection);
    self->connection = NULL;
}

/* ---- transactions */

int htw__database_begin(struct htw__database *self) {
    self->jobs_added = 0;
    self->keyed_added = 0;
    if (!self->log.is_rewritten)
        return htw__journal_fail(
            -ENOSPC, "%s-wal: no space to write the log of an earlier process again", self->name);
    return run(self, BEGIN);
}

static int distrust(struct htw__database *self, const char *why) {
    self->is_distrusted = true;
    return htw__journal_fail(-EIO, "%s: %s", self->name, why);
}

static int set_meta(struct htw__database *self, uint64_t jobs, uint64_t keyed,
                    uint64_t next_sequence, uint64_t generation) {
    struct sqlite3_stmt *statement = self->statements[SET_META];
    sqlite3_bind_int64(statement, 1, (int64_t)jobs);
    sqlite3_bind_int64(statement, 2, (int64_t)keyed);
    sqlite3_bind_int64(statement, 3, (int64_t)next_sequence);
    sqlite3_bind_int64(statement, 4, (int64_t)generation);
    sqlite3_bind_int64(statement, 5, (int64_t)self->generation);
    int error = run(self, SET_META);
    if (error == 0 && sqlite3_changes(self->connection) == 0)
        return distrust(self, "another journal has written to the file, without its lock file");
    return error;
}

/* What is written to files that were removed is lost when they are closed. */
static int check_files(struct htw__database *self) {
    int64_t now = htw__clock_monotonic_ns();
    if (self->checked_ns != 0 && now - self->checked_ns < CHECK_NS)
        return 0;
    self->checked_ns = now;
    int has_moved = 0;
    int result = sqlite3_file_control(self->connection, "main", SQLITE_FCNTL_HAS_MOVED, &has_moved);
    if (result == SQLITE_OK && has_moved)
        return distrust(self, "the file was removed or replaced");
    return htw__log_is_in_place(&self->log, self->name)
               ? 0
               : distrust(self, "the log of the file (-wal) was removed or replaced");
}

/*
 * Ids that were given to changes which a crash has lost are not given again: the file says which may
 * be in use. While a commit is under way as many jobs wait as may, and as many are in it. And 0 is
 * skipped.
 */
static uint64_t reserve_from(const struct htw__database *self, uint64_t next_sequence) {
    return (next_sequence + 2 * self->jobs_that_wait + 1) & HTW__SEQUENCE_MASK;
}

int htw__database_commit(struct htw__database *self, uint64_t next_sequence) {
    uint64_t jobs = self->jobs + (uint64_t)self->jobs_added;
    uint64_t keyed = self->keyed + (uint64_t)self->keyed_added;
    uint64_t reserved = reserve_from(self, next_sequence);
    int error = set_meta(self, jobs, keyed, reserved, self->generation + 1);
    if (error == 0)
        error = check_files(self);
    if (error == 0)
        error = run(self, COMMIT);
    if (error == 0) {
        self->jobs = jobs;
        self->keyed = keyed;
        self->next_sequence = reserved;
        self->generation++;
    }
    return error;
}

/* Some failures have rolled back already. Keeps the sentence of what failed before. */
void htw__database_rollback(struct htw__database *self) {
    if (!sqlite3_get_autocommit(self->connection))
        (void)step(self, ROLLBACK);
}

int htw__database_settle(struct htw__database *self, uint64_t next_sequence) {
    int error = htw__database_begin(self);
    if (error != 0)
        return error;
    /* Not the value that the transaction had which failed. */
    uint64_t generation = self->generation + 2, reserved = reserve_from(self, next_sequence);
    error = set_meta(self, self->jobs, self->keyed, reserved, generation);
    if (error == 0)
        error = run(self, COMMIT);
    if (error == 0) {
        self->next_sequence = reserved;
        self->generation = generation;
    } else {
        htw__database_rollback(self);
    }
    return error;
}

/* The numbers are those of a circle. */
bool htw__database_has_reserved(const struct htw__database *self, uint64_t next_sequence) {
    uint64_t left = (self->next_sequence - next_sequence) & HTW__SEQUENCE_MASK;
    return left >= self->jobs_that_wait && left <= HTW__SEQUENCE_MASK / 2;
}

int htw__database_savepoint(struct htw__database *self) {
    self->saved_jobs_added = self->jobs_added;
    self->saved_keyed_added = self->keyed_added;
    return run(self, SAVEPOINT);
}

int htw__database_savepoint_end(struct htw__database *self, bool keep) {
    int error = 0;
    if (!keep) {
        self->jobs_added = self->saved_jobs_added;
        self->keyed_added = self->saved_keyed_added;
        error = run(self, ROLLBACK_TO);
    }
    return error == 0 ? run(self, RELEASE) : error;
}

/* ---- changes */

int htw__database_insert(struct htw__database *self, uint64_t id, int64_t deadline_ns,
                         const void *key, size_t key_size, const void *payload,
                         size_t payload_size) {
    struct sqlite3_stmt *statement = self->statements[INSERT];
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_int64(statement, 2, deadline_ns);
    if (key == NULL)
        sqlite3_bind_null(statement, 3);
    else
        bind_blob(statement, 3, key, key_size);
    bind_blob(statement, 4, payload, payload_size);
    int error = run(self, INSERT);
    if (error == 0) {
        self->jobs_added++;
        self->keyed_added += key != NULL;
    }
    return error;
}

/* Removes the entry of the key that the job has, if it has one. */
static int remove_key_of(struct htw__database *self, uint64_t id) {
    struct sqlite3_stmt *statement = self->statements[KEY_OF];
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    int result = step(self, KEY_OF);
    if (result == SQLITE_DONE)
        return 0;
    if (result != SQLITE_ROW)
        return htw__database_fail(self, result);
    bind_blob(self->statements[DELETE_KEY], 1, sqlite3_column_blob(statement, 0),
              (size_t)sqlite3_column_bytes(statement, 0));
    int error = run(self, DELETE_KEY);
    sqlite3_clear_bindings(self->statements[DELETE_KEY]);
    sqlite3_reset(statement);
    if (error == 0)
        self->keyed_added--;
    return error;
}

static int remove_row(struct htw__database *self, uint64_t id) {
    sqlite3_bind_int64(self->statements[DELETE], 1, (int64_t)id);
    int error = run(self, DELETE);
    if (error != 0)
        return error;
    if (sqlite3_changes(self->connection) == 0)
        return htw__journal_fail(-ENOENT, "%s: there is no job %llu", self->name,
                                 (unsigned long long)id);
    self->jobs_added--;
    return 0;
}

int htw__database_remove(struct htw__database *self, uint64_t id) {
    int error = 0;
    if ((int64_t)self->keyed + self->keyed_added > 0)
        error = remove_key_of(self, id);
    return error == 0 ? remove_row(self, id) : error;
}

int htw__database_take_key(struct htw__database *self, const void *key, size_t key_size,
                           uint64_t id, uint64_t *ret_replaced) {
    *ret_replaced = 0;
    bind_blob(self->statements[FIND_KEY], 1, key, key_size);
    int result = step(self, FIND_KEY);
    if (result == SQLITE_ROW) {
        *ret_replaced = (uint64_t)sqlite3_column_int64(self->statements[FIND_KEY], 0);
        sqlite3_reset(self->statements[FIND_KEY]);
        int error = remove_row(self, *ret_replaced);
        if (error == -ENOENT)
            return htw__journal_fail(-EBADMSG, "%s: the keys of the journal are damaged",
                                     self->name);
        if (error != 0)
            return error;
        self->keyed_added--;
    } else if (result != SQLITE_DONE) {
        return htw__database_fail(self, result);
    }
    bind_blob(self->statements[SET_KEY], 1, key, key_size);
    sqlite3_bind_int64(self->statements[SET_KEY], 2, (int64_t)id);
    return run(self, SET_KEY);
}

int htw__database_set_mark(struct htw__database *self, const void *mark, size_t mark_size) {
    bind_blob(self->statements[SET_MARK], 1, mark, mark_size);
    return run(self, SET_MARK);
}

/* ---- reading */

int64_t htw__database_scan(struct htw__database *self, uint64_t first, uint64_t last,
                           struct htw__row *rows, size_t capacity) {
    struct sqlite3_stmt *statement = self->statements[SCAN];
    sqlite3_bind_int64(statement, 1, (int64_t)first);
    sqlite3_bind_int64(statement, 2, (int64_t)last);
    sqlite3_bind_int64(statement, 3, (int64_t)capacity);
    int64_t count = 0;
    int result;
    uint64_t next = first;
    while ((result = step(self, SCAN)) == SQLITE_ROW) {
        uint64_t id = (uint64_t)sqlite3_column_int64(statement, 0);
        if (id < next || id > last) { /* pages that lead back: reading would not end */
            sqlite3_reset(statement);
            return distrust(self, "the table of jobs is damaged");
        }
        next = id + 1;
        rows[count++] = (struct htw__row) { sqlite3_column_int64(statement, 1), id };
    }
    return result == SQLITE_DONE ? count : htw__database_fail(self, result);
}

int htw__database_fetch(struct htw__database *self, uint64_t id, struct htw__job_row *ret_row) {
    struct sqlite3_stmt *statement = self->statements[FETCH];
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    int result = step(self, FETCH);
    if (result == SQLITE_DONE)
        return -ENOENT;
    if (result != SQLITE_ROW)
        return htw__database_fail(self, result);
    ret_row->deadline_ns = sqlite3_column_int64(statement, 0);
    bool has_key = sqlite3_column_type(statement, 1) != SQLITE_NULL;
    const void *key = sqlite3_column_blob(statement, 1);
    ret_row->key = has_key && key == NULL ? "" : key;
    ret_row->key_size = (size_t)sqlite3_column_bytes(statement, 1);
    ret_row->payload = sqlite3_column_blob(statement, 2);
    ret_row->payload_size = (size_t)sqlite3_column_bytes(statement, 2);
    /* A blob of which no copy could be made looks like an empty one. */
    bool no_memory = ret_row->payload == NULL || (has_key && key == NULL);
    if (no_memory && (sqlite3_errcode(self->connection) & 0xff) == SQLITE_NOMEM) {
        int error = htw__database_fail(self, SQLITE_NOMEM);
        sqlite3_reset(statement);
        return error;
    }
    return 0;
}

void htw__database_fetch_end(struct htw__database *self) {
    sqlite3_reset(self->statements[FETCH]);
}

int64_t htw__database_get_mark(struct htw__database *self, void *buffer) {
    struct sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(self->connection, "SELECT mark FROM meta WHERE one = 1", -1,
                                    &statement, NULL);
    if (result != SQLITE_OK)
        return htw__database_fail(self, result);
    int64_t size = 0;
    result = sqlite3_step(statement);
    if (result == SQLITE_ROW) {
        const void *mark = sqlite3_column_blob(statement, 0);
        size = sqlite3_column_bytes(statement, 0);
        if (size > HTW_JOURNAL_MARK_MAX)
            size = htw__journal_fail(-EBADMSG, "%s: the mark is damaged", self->name);
        else if (size > 0)
            memcpy(buffer, mark, (size_t)size);
    }
    int again = sqlite3_finalize(statement);
    return again == SQLITE_OK ? size : htw__database_fail(self, again);
}

int htw__database_checkpoint(struct htw__database *self) {
    bool is_whole;
    errno = 0; /* htw__journal_errno() */
    int result = htw__log_checkpoint(&self->log, &is_whole);
    if ((result & 0xff) == SQLITE_BUSY)
        return false;
    if (result != SQLITE_OK) {
        int error = htw__database_fail(self, result);
        return htw__journal_fail(error, "%s-wal: the log cannot be copied into the file: %s",
                                 self->name,
                                 sqlite3_errstr(error == -ENOSPC ? SQLITE_FULL : result));
    }
    self->lacks_space = self->lacks_space && !is_whole;
    return true;
}
