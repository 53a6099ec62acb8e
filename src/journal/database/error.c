/* SPDX-License-Identifier: MIT */
/* error.c - the sentence of the last failure in this thread, and what results of SQLite mean. */
#include "error.h"

#include <htw/journal.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static _Thread_local char sentence[HTW__JOURNAL_SENTENCE];

const char *htw_journal_error(void) {
    return sentence;
}

int htw__journal_fail(int error, const char *format, ...) {
    va_list args;
    va_start(args, format);
    vsnprintf(sentence, sizeof(sentence), format, args);
    va_end(args);
    return error;
}

int htw__journal_fail_as(int error, const char *text) {
    return htw__journal_fail(error, "%s", text);
}

bool htw__journal_is_full(int system_error) {
    return system_error == ENOSPC || system_error == EDQUOT || system_error == EFBIG;
}

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
