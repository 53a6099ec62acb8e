/* SPDX-License-Identifier: MIT */
/* inbox.c - the rows of the inbox. */
#include "inbox.h"

#include "error.h"

#include <errno.h>
#include <sqlite3.h>

/* Fewer are listed if they have more bytes. */
#define SOME_BYTES (4u << 20)

int64_t htw__inbox_list(struct htw__database *database, uint64_t *after,
                        uint64_t ids[HTW__INBOX_SOME]) {
    struct sqlite3_stmt *statement = database->statements[HTW__LIST_INBOX];
    size_t count = 0;
    int64_t bytes = 0;
    int result = 1;
    htw__statement_bind(database, HTW__LIST_INBOX, HTW__NUMBERS((int64_t)*after, HTW__INBOX_SOME));
    while (bytes < SOME_BYTES && (result = htw__statement_step(database, HTW__LIST_INBOX)) == 1) {
        ids[count++] = (uint64_t)sqlite3_column_int64(statement, 0);
        bytes += sqlite3_column_int64(statement, 1);
    }
    if (result < 0)
        return result;
    sqlite3_reset(statement);
    *after = result == 1 || count == HTW__INBOX_SOME ? ids[count - 1] : 0;
    return (int64_t)count;
}

int htw__inbox_fetch(struct htw__database *database, uint64_t id, struct htw__job_row *ret_row,
                     const char **ret_queue) {
    enum { QUEUE = 7 };
    struct sqlite3_stmt *statement = database->statements[HTW__FETCH_INBOX];
    int error = htw__database_read(database, HTW__FETCH_INBOX, id, ret_row);
    if (error != 0)
        return error;
    bool has_queue = sqlite3_column_type(statement, QUEUE) != SQLITE_NULL;
    *ret_queue = has_queue ? (const char *)sqlite3_column_text(statement, QUEUE) : NULL;
    if (!has_queue || *ret_queue != NULL)
        return 0;
    sqlite3_reset(statement);
    return htw__database_fail(database, SQLITE_NOMEM);
}

void htw__inbox_fetch_end(struct htw__database *database) {
    sqlite3_reset(database->statements[HTW__FETCH_INBOX]);
}

static int remove_row(struct htw__database *database, uint64_t id) {
    int error = htw__statement_run(database, HTW__DELETE_INBOX, HTW__NUMBERS((int64_t)id));
    return error == 0 && sqlite3_changes(database->connection) == 0 ? -ENOENT : error;
}

int htw__inbox_remove(struct htw__database *database, uint64_t id) {
    int error = database->is_guest ? remove_row(database, id) : -ENOENT;
    database->added.inbox += error == 0;
    return error;
}

int htw__inbox_find_key(struct htw__database *database, const void *key, size_t key_size,
                        uint64_t *ret_id) {
    *ret_id = 0;
    return database->is_guest
               ? htw__database_find_as(database, HTW__FIND_KEY_INBOX, key, key_size, ret_id)
               : 0;
}

int htw__inbox_take_key(struct htw__database *database, const void *key, size_t key_size,
                        bool is_if_absent) {
    uint64_t id;
    int error = htw__inbox_find_key(database, key, key_size, &id);
    if (error != 0 || id == 0)
        return error;
    return is_if_absent ? -EEXIST : remove_row(database, id);
}
