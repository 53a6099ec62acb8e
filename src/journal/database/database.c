/* SPDX-License-Identifier: MIT */
/* database.c - the file of a journal: its statements. */
#include "database.h"

#include "error.h"

#include <errno.h>
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
    if (primary == SQLITE_INTERRUPT)
        return htw__database_distrust(self, "damaged: to read it would not end");
    int error = htw__journal_errno(self->connection, result);
    self->lacks_space = self->lacks_space || (error == -ENOSPC && !self->is_guest);
    /* Once it is open, only these are about a change, or about the moment. */
    if (self->is_open && error != -ENOMEM && error != -ENOSPC && error != -EBUSY &&
        error != -EMSGSIZE)
        error = -EIO;
    return htw__journal_fail(error, "%s: %s", self->name,
                             htw__journal_why(self->connection, result, error));
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
        int result = sqlite3_prepare_v3(self->connection, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                                        &self->statements[i], NULL);
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

int htw__statement_run(struct htw__database *self, enum htw__statement which,
                       const int64_t *numbers, size_t count) {
    htw__statement_bind(self, which, numbers, count);
    return htw__statement_step(self, which);
}

/* ---- transactions that read: as long as the statement has its row */

int htw__database_begin_snapshot(struct htw__database *self, uint64_t *ret_generation) {
    struct sqlite3_stmt *statement = self->statements[HTW__READ_META];
    int result = htw__statement_step(self, HTW__READ_META);
    if (result != 1)
        return result < 0 ? result
                          : htw__database_distrust(self, "the journal has lost its counters");
    *ret_generation = (uint64_t)sqlite3_column_int64(statement, 0);
    self->has_moved = sqlite3_column_int64(statement, 1) != 0;
    return 0;
}

void htw__database_end_snapshot(struct htw__database *self) {
    sqlite3_reset(self->statements[HTW__READ_META]);
}
