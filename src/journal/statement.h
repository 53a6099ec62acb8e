/* SPDX-License-Identifier: MIT */
/* statement.h - the statements on the tables of a journal, which are prepared once. */
#ifndef HTW_SRC_JOURNAL_STATEMENT_H
#define HTW_SRC_JOURNAL_STATEMENT_H

#include <sqlite3.h>
#include <stddef.h>

struct htw__database;

enum htw__statement {
    HTW__BEGIN,
    HTW__COMMIT,
    HTW__ROLLBACK,
    HTW__SAVEPOINT,
    HTW__RELEASE,
    HTW__ROLLBACK_TO,
    HTW__SET_META,
    HTW__SET_MARK,
    /* jobs */
    HTW__INSERT,
    HTW__DELETE,
    HTW__PUT_AS,
    HTW__FETCH,
    HTW__FIND_KEY,
    HTW__SET_KEY,
    HTW__DELETE_KEY,
    HTW__FETCH_MOVED,
    HTW__STORE_MOVED,
    HTW__DELETE_MOVED,
    HTW__STORE_MOVED_PLACE,
    HTW__DELETE_MOVED_PLACE,
    /* places */
    HTW__STORE_BLOCK,
    HTW__BLOCK_OF,
    HTW__DELETE_BLOCK,
    HTW__NEXT_BLOCK,
    HTW__NEXT_PLACE,
    HTW__NEXT_MOVED_PLACE,
    HTW__SCAN,
    HTW__SCAN_UNMOVED,
    HTW__SCAN_MOVED,
    /* queues */
    HTW__VISIT_QUEUES,
    HTW__STORE_QUEUE,
    HTW__COUNT_QUEUE,
    HTW__DELETE_QUEUE,
    HTW__STATEMENTS
};

/* Prepares them all. 0 or an error. */
int htw__statements_prepare(struct htw__database *self);
void htw__statements_finalize(struct htw__database *self);

static inline void htw__statement_bind_blob(struct sqlite3_stmt *statement, int index,
                                            const void *bytes, size_t size) {
    /* A NULL pointer would be the value NULL. */
    sqlite3_bind_blob64(statement, index, bytes == NULL ? "" : bytes, size, SQLITE_STATIC);
}

/* SQLITE_ROW, SQLITE_DONE, or the failure, with the statement reset. */
int htw__statement_step(struct htw__database *self, enum htw__statement which);

/* Runs a statement that returns no row. 0 or an error. */
int htw__statement_run(struct htw__database *self, enum htw__statement which);

#endif /* HTW_SRC_JOURNAL_STATEMENT_H */
