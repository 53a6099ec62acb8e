/* SPDX-License-Identifier: MIT */
/* database.c - the file of a journal: its statements, and the mark. */
#include "database.h"

#include "error.h"
#include "schema.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

/*
 * After a failed fsync, what is on the disk is unknown: the kernel may have dropped the pages, and
 * the next fsync then succeeds without them. So nothing more is written.
 */
int htw__database_fail(struct htw__database *self, int result) {
    int primary = result & 0xff;
    if (result == SQLITE_IOERR_FSYNC || result == SQLITE_IOERR_DIR_FSYNC ||
        primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_CONSTRAINT)
        self->is_distrusted = true;
    int error = htw__journal_errno(self->connection, result);
    self->lacks_space = self->lacks_space || (error == -ENOSPC && !self->is_guest);
    /* Once it is open, only these are about a change, or about the moment. */
    if (self->is_open && error != -ENOMEM && error != -ENOSPC && error != -EBUSY &&
        error != -EMSGSIZE)
        error = -EIO;
    const char *why =
        self->connection == NULL ? sqlite3_errstr(result) : sqlite3_errmsg(self->connection);
    if (error == -ENOSPC) /* of a quota SQLite says only that a write has failed */
        why = sqlite3_errstr(SQLITE_FULL);
    return htw__journal_fail(error, "%s: %s", self->name, why);
}

int htw__database_distrust(struct htw__database *self, const char *why) {
    self->is_distrusted = true;
    return htw__journal_fail(-EIO, "%s: %s", self->name, why);
}

/* ---- statements */

static const char *const texts[] = {
    [HTW__BEGIN] = "BEGIN IMMEDIATE",
    [HTW__COMMIT] = "COMMIT",
    [HTW__ROLLBACK] = "ROLLBACK",
    [HTW__SAVEPOINT] = "SAVEPOINT change",
    [HTW__RELEASE] = "RELEASE change",
    [HTW__ROLLBACK_TO] = "ROLLBACK TO change",
    /* generation: of the transaction that this journal has made last */
    [HTW__SET_META] = "UPDATE meta SET jobs=?,keyed=?,next_sequence=?,generation=?,moved=?,"
                      "last_put=? WHERE one=1 AND generation=?",
    [HTW__SET_MARK] = "UPDATE meta SET mark = ?1 WHERE one = 1",
    [HTW__INSERT] = "INSERT INTO job (id, deadline, key, payload, queue, priority, put, lease) "
                    "VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [HTW__DELETE] = "DELETE FROM job WHERE id = ?1",
    [HTW__PUT_AS] = "SELECT key, deadline, queue, priority, put FROM job WHERE id = ?1",
    [HTW__FETCH] =
        "SELECT deadline, key, payload, queue, priority, put, lease FROM job WHERE id = ?1",
    [HTW__FIND_KEY] = "SELECT id FROM job_key WHERE key = ?1",
    [HTW__SET_KEY] = "INSERT OR REPLACE INTO job_key (key, id) VALUES (?1, ?2)",
    [HTW__DELETE_KEY] = "DELETE FROM job_key WHERE key = ?1",
    [HTW__FETCH_MOVED] = "SELECT place, rank, deadline, priority, state, attempts, releases, "
                         "timeouts, buries, kicks FROM moved WHERE id = ?1",
    [HTW__STORE_MOVED] =
        "INSERT OR REPLACE INTO moved (id, place, rank, deadline, priority, state, attempts, "
        "releases, timeouts, buries, kicks) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    [HTW__DELETE_MOVED] = "DELETE FROM moved WHERE id = ?1",
    [HTW__STORE_MOVED_PLACE] = "INSERT INTO moved_place (place, rank, id) VALUES (?1, ?2, ?3)",
    [HTW__DELETE_MOVED_PLACE] =
        "DELETE FROM moved_place WHERE place = ?1 AND rank = ?2 AND id = ?3",
    [HTW__STORE_BLOCK] = "INSERT OR IGNORE INTO block (place, first, last) VALUES (?1, ?2, ?3)",
    [HTW__BLOCK_OF] = "SELECT first, last FROM block WHERE place = ?1 AND first <= ?2 "
                      "ORDER BY first DESC LIMIT 1",
    [HTW__COUNT_JOBS] = "SELECT count(*), 0 FROM (SELECT 1 FROM job WHERE id >= ?1 AND id <= ?2 "
                        "LIMIT ?3)",
    [HTW__COUNT_UNMOVED] =
        "SELECT count(*), total(m) FROM (SELECT EXISTS (SELECT 1 FROM moved WHERE id = job.id) AS m "
        "FROM job WHERE id >= ?1 AND id <= ?2 LIMIT ?3)",
    [HTW__DELETE_BLOCK] = "DELETE FROM block WHERE place = ?1 AND first = ?2",
    [HTW__NEXT_BLOCK] = "SELECT first, last FROM block WHERE place = ?1 AND first > ?2 "
                        "ORDER BY first LIMIT 1",
    [HTW__NEXT_PLACE] = "SELECT place FROM block WHERE place >= ?1 ORDER BY place LIMIT 1",
    [HTW__NEXT_MOVED_PLACE] =
        "SELECT place FROM moved_place WHERE place >= ?1 ORDER BY place LIMIT 1",
    [HTW__SCAN] = "SELECT id, deadline, put, 0 FROM job WHERE id >= ?1 AND id <= ?2 "
                  "ORDER BY id LIMIT ?3",
    [HTW__SCAN_UNMOVED] =
        "SELECT id, deadline, put, EXISTS (SELECT 1 FROM moved m WHERE m.id = job.id) FROM job "
        "WHERE id >= ?1 AND id <= ?2 ORDER BY id LIMIT ?3",
    [HTW__SCAN_MOVED] =
        "SELECT p.id, m.deadline, p.rank FROM moved_place p CROSS JOIN moved m ON m.id = p.id "
        "WHERE p.place = ?1 AND (p.rank, p.id) > (?2, ?3) ORDER BY p.rank, p.id LIMIT ?4",
    [HTW__VISIT_QUEUES] =
        "SELECT number, name, policy, delayed, ready, leased, buried, done FROM queue "
        "ORDER BY number",
    [HTW__STORE_QUEUE] = "INSERT OR REPLACE INTO queue (number, delayed, ready, leased, buried, "
                         "done, name, policy) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8)",
    [HTW__COUNT_QUEUE] = "UPDATE queue SET delayed = ?2, ready = ?3, leased = ?4, buried = ?5, "
                         "done = ?6 WHERE number = ?1",
    [HTW__DELETE_QUEUE] = "DELETE FROM queue WHERE number = ?1",
    [HTW__READ_RECURRING] = "SELECT name, next, schedule, zone, grace, catch_up, queue, priority, "
                            "flags, lease, key, payload FROM recurring WHERE name = ?1",
    [HTW__LIST_RECURRING] = "SELECT name FROM recurring WHERE name > ?1 ORDER BY name LIMIT 1",
    [HTW__NEXT_RECURRING] = "SELECT name FROM recurring WHERE next <= ?1 AND (next, name) > "
                            "(?2, ?3) ORDER BY next, name LIMIT 1",
    [HTW__FIRST_RECURRING] = "SELECT next FROM recurring ORDER BY next LIMIT 1",
    [HTW__STORE_RECURRING] =
        "INSERT OR REPLACE INTO recurring (name, next, schedule, zone, grace, catch_up, queue, priority, flags, "
        "lease, key, payload) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)",
    [HTW__ADVANCE_RECURRING] = "UPDATE recurring SET next = ?2 WHERE name = ?3 AND next = ?1",
    [HTW__DELETE_RECURRING] = "DELETE FROM recurring WHERE name = ?1",
    [HTW__LIST_INBOX] = "SELECT id, length(payload) FROM inbox WHERE id > ?1 ORDER BY id LIMIT ?2",
    [HTW__FETCH_INBOX] =
        "SELECT deadline, key, payload, queue, priority, lease FROM inbox WHERE id = ?1",
    [HTW__FIND_KEY_INBOX] = "SELECT id FROM inbox WHERE key = ?1",
    [HTW__DELETE_INBOX] = "DELETE FROM inbox WHERE id = ?1",
};

_Static_assert(sizeof(texts) / sizeof(texts[0]) == HTW__STATEMENTS, "a text for each statement");

int htw__statements_prepare(struct htw__database *self) {
    char buffer[HTW__SCHEMA_TEXT];
    size_t count = self->is_guest ? HTW__STATEMENTS : HTW__LIST_INBOX;
    for (size_t i = 0; i < count; i++) {
        int result =
            sqlite3_prepare_v3(self->connection, htw__schema_text(texts[i], self->is_guest, buffer),
                               -1, SQLITE_PREPARE_PERSISTENT, &self->statements[i], NULL);
        if (result != SQLITE_OK)
            return htw__database_fail(self, result);
    }
    return 0;
}

void htw__statements_finalize(struct htw__database *self) {
    for (size_t i = 0; i < HTW__STATEMENTS; i++)
        sqlite3_finalize(self->statements[i]);
}

void htw__statement_bind(struct htw__database *self, enum htw__statement which,
                         const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(self->statements[which], (int)i + 1, numbers[i]);
}

int htw__statement_step(struct htw__database *self, enum htw__statement which) {
    errno = 0; /* htw__journal_errno() */
    int result = sqlite3_step(self->statements[which]);
    if (result == SQLITE_ROW)
        return 1;
    int again = sqlite3_reset(self->statements[which]);
    return result == SQLITE_DONE ? 0 : htw__database_fail(self, again);
}

/* ---- the mark */

int htw__database_set_mark(struct htw__database *self, const void *mark, size_t mark_size) {
    htw__statement_bind_blob(self->statements[HTW__SET_MARK], 1, mark, mark_size);
    return htw__statement_step(self, HTW__SET_MARK);
}

int64_t htw__database_get_mark(struct htw__database *self, void *buffer) {
    char text[HTW__SCHEMA_TEXT];
    struct sqlite3_stmt *statement;
    int result = sqlite3_prepare_v2(
        self->connection,
        htw__schema_text("SELECT mark FROM meta WHERE one = 1", self->is_guest, text), -1,
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
