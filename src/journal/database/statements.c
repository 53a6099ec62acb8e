/* SPDX-License-Identifier: MIT */
/* statements.c - the statements, and what their results mean for the database. */
#include "statements.h"

#include "error.h"

#include <errno.h>
#include <string.h>

/* ---- results */

int htw__journal_errno(struct sqlite3 *database, int result) {
    if (result == SQLITE_IOERR_NOMEM)
        return -ENOMEM;
    /* Also for lack of space: what is on the disk is unknown. */
    if (result == SQLITE_IOERR_FSYNC || result == SQLITE_IOERR_DIR_FSYNC)
        return -EIO;
    switch (result & 0xff) {
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_NOTADB:
    case SQLITE_CORRUPT:
    case SQLITE_SCHEMA:
    case SQLITE_ERROR: /* a table or column is missing */
    case SQLITE_MISMATCH:
    case SQLITE_CONSTRAINT: /* an id, a block or a place is there already */
        return -EBADMSG;
    case SQLITE_READONLY:
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    case SQLITE_TOOBIG:
        return -EMSGSIZE;
    default:
        break;
    }
    int system_error = database == NULL ? 0 : sqlite3_system_errno(database);
    if (system_error == 0) /* SQLite does not keep it when a commit fails */
        system_error = errno;
    if (htw__journal_is_full(system_error))
        return -ENOSPC;
    if ((result & 0xff) == SQLITE_CANTOPEN && system_error != 0)
        return -system_error;
    return -EIO;
}

/* Of a quota SQLite says only that a write has failed. */
const char *htw__journal_why(struct sqlite3 *database, int result, int error) {
    if (error == -ENOSPC || error == -ENOMEM)
        return sqlite3_errstr(error == -ENOSPC ? SQLITE_FULL : SQLITE_NOMEM);
    return database == NULL ? sqlite3_errstr(result) : sqlite3_errmsg(database);
}

/*
 * After a failed fsync, what is on the disk is unknown: the kernel may have dropped the pages, and
 * the next fsync then succeeds without them. So nothing more is written.
 */
int htw__database_fail(struct htw__database *self, int result) {
    int primary = result & 0xff;
    if (result == SQLITE_IOERR_FSYNC || result == SQLITE_IOERR_DIR_FSYNC ||
        primary == SQLITE_CORRUPT || primary == SQLITE_NOTADB || primary == SQLITE_CONSTRAINT)
        self->is_distrusted = true;
    if (primary == SQLITE_INTERRUPT)
        return htw__database_distrust(self, "damaged: to read it would not end");
    int error = htw__journal_errno(self->sqlite->connection, result);
    self->lacks_space = self->lacks_space || (error == -ENOSPC && !self->is_guest);
    /* Once it is open, only these are about a change, or about the moment. */
    if (self->sqlite->is_open && error != -ENOMEM && error != -ENOSPC && error != -EBUSY &&
        error != -EMSGSIZE)
        error = -EIO;
    return htw__journal_fail(error, "%s: %s", self->name,
                             htw__journal_why(self->sqlite->connection, result, error));
}

int htw__database_distrust(struct htw__database *self, const char *why) {
    self->is_distrusted = true;
    return htw__journal_fail(-EIO, "%s: %s", self->name, why);
}

/* ---- statements */

static const char *const texts[] = {
#define TEXT(name, text) text,
    HTW__STATEMENTS_OF(TEXT)
#undef TEXT
};

int htw__statements_prepare(struct htw__database *self) {
    size_t count = self->is_guest ? HTW__STATEMENTS : HTW__NEXT_INBOX;
    for (size_t i = 0; i < count; i++) {
        int result =
            sqlite3_prepare_v3(self->sqlite->connection, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &self->sqlite->statements[i], NULL);
        if (result != SQLITE_OK)
            return htw__database_fail(self, result);
    }
    return 0;
}

void htw__statements_finalize(struct htw__database *self) {
    for (size_t i = 0; i < HTW__STATEMENTS; i++)
        sqlite3_finalize(self->sqlite->statements[i]);
}

void htw__statement_bind(struct htw__database *self, enum htw__statement which,
                         const int64_t *numbers, size_t count) {
    for (size_t i = 0; i < count; i++)
        sqlite3_bind_int64(self->sqlite->statements[which], (int)i + 1, numbers[i]);
}

int htw__statement_step(struct htw__database *self, enum htw__statement which) {
    errno = 0; /* htw__journal_errno() */
    int result = sqlite3_step(self->sqlite->statements[which]);
    if (result == SQLITE_ROW)
        return 1;
    int again = sqlite3_reset(self->sqlite->statements[which]);
    return result == SQLITE_DONE ? 0 : htw__database_fail(self, again);
}

int htw__statement_run(struct htw__database *self, enum htw__statement which,
                       const int64_t *numbers, size_t count) {
    htw__statement_bind(self, which, numbers, count);
    return htw__statement_step(self, which);
}

int htw__statement_number(struct htw__database *self, enum htw__statement which,
                          const int64_t *numbers, size_t count, uint64_t *ret_number) {
    int result = htw__statement_run(self, which, numbers, count);
    if (result == 1)
        *ret_number = (uint64_t)sqlite3_column_int64(self->sqlite->statements[which], 0);
    sqlite3_reset(self->sqlite->statements[which]);
    return result;
}
