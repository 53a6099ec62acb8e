/* SPDX-License-Identifier: MIT */
/* rows.c - the rows of jobs, of those that were moved, and of the inbox. */
#include "rows.h"

#include "error.h"
#include "blocks.h"
#include "statements.h"

#include <errno.h>

/* ---- jobs as they were put */

struct htw__whereabouts htw__database_where_put(const struct htw__job_row *row) {
    return (struct htw__whereabouts) {
        .place = row->put_us != 0 && !row->is_to_come
                     ? htw__place_ready(row->queue, row->priority)
                     : htw__place_delayed(row->deadline_ns, row->queue),
        .rank = row->put_us,
        .deadline_ns = row->deadline_ns,
        .priority = row->priority,
    };
}

/* What is 0 stays NULL, which takes a byte. */
static void bind_number(struct sqlite3_stmt *statement, int index, int64_t number) {
    if (number != 0)
        sqlite3_bind_int64(statement, index, number);
}

static int insert_row(struct htw__database *self, uint64_t id, const struct htw__job_row *row) {
    struct sqlite3_stmt *statement = self->sqlite->statements[HTW__INSERT];
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    sqlite3_bind_int64(statement, 2, row->deadline_ns);
    sqlite3_bind_blob64(statement, 3, row->key, row->key_size, SQLITE_STATIC);
    htw__statement_bind_blob(statement, 4, row->payload, row->payload_size);
    bind_number(statement, 5, row->queue);
    bind_number(statement, 6, row->priority);
    bind_number(statement, 7, row->is_to_come ? ~row->put_us : row->put_us);
    bind_number(statement, 8, row->lease_ns);
    int error = htw__statement_step(self, HTW__INSERT);
    if (row->queue != 0 || row->priority != 0 || row->put_us != 0 || row->lease_ns != 0)
        sqlite3_clear_bindings(statement);
    return error;
}

/* Numbers of the order of putting and of burying rise over all opens. */
static void note_put(struct htw__database *self, int64_t put_us) {
    if (self->sqlite->added.last_put_us < put_us)
        self->sqlite->added.last_put_us = put_us;
}

/* ---- reading a job */

/* By a statement whose columns are those of FETCH; that is to be reset if this returns 0. */
static int read_row(struct htw__database *self, enum htw__statement which, uint64_t id,
                    struct htw__job_row *ret_row) {
    struct sqlite3_stmt *statement = self->sqlite->statements[which];
    int result = htw__statement_run(self, which, HTW__NUMBERS((int64_t)id));
    if (result != 1)
        return result == 0 ? -ENOENT : result;
    int64_t put = sqlite3_column_int64(statement, 5);
    bool has_key = sqlite3_column_type(statement, 1) != SQLITE_NULL;
    const void *key = sqlite3_column_blob(statement, 1);
    *ret_row = (struct htw__job_row) {
        .deadline_ns = sqlite3_column_int64(statement, 0),
        .key = has_key && key == NULL ? "" : key,
        .key_size = (size_t)sqlite3_column_bytes(statement, 1),
        .payload = sqlite3_column_blob(statement, 2),
        .payload_size = (size_t)sqlite3_column_bytes(statement, 2),
        .queue = (uint32_t)sqlite3_column_int64(statement, 3),
        .priority = (uint32_t)sqlite3_column_int64(statement, 4),
        .put_us = put < 0 ? ~put : put,
        .is_to_come = put < 0,
        .lease_ns = sqlite3_column_int64(statement, 6),
    };
    /* A blob of which no copy could be made looks like an empty one. */
    bool no_memory = ret_row->payload == NULL || (has_key && key == NULL);
    if (!no_memory || (sqlite3_errcode(self->sqlite->connection) & 0xff) != SQLITE_NOMEM)
        return 0;
    sqlite3_reset(statement);
    return htw__database_fail(self, SQLITE_NOMEM);
}

/* ---- jobs that were moved */

/* -ENOENT: the job was not moved. */
static int fetch_moved(struct htw__database *self, uint64_t id, struct htw__whereabouts *ret) {
    if (!self->sqlite->has_moved)
        return -ENOENT;
    struct sqlite3_stmt *statement = self->sqlite->statements[HTW__FETCH_MOVED];
    int result = htw__statement_run(self, HTW__FETCH_MOVED, HTW__NUMBERS((int64_t)id));
    if (result != 1)
        return result == 0 ? -ENOENT : result;
    *ret = (struct htw__whereabouts) {
        .place = (uint64_t)sqlite3_column_int64(statement, 0),
        .rank = sqlite3_column_int64(statement, 1),
        .deadline_ns = sqlite3_column_int64(statement, 2),
        .priority = (uint32_t)sqlite3_column_int64(statement, 3),
        .is_leased = sqlite3_column_int64(statement, 4) != 0,
        .counters = { .attempts = (uint32_t)sqlite3_column_int64(statement, 5),
                      .releases = (uint32_t)sqlite3_column_int64(statement, 6),
                      .timeouts = (uint32_t)sqlite3_column_int64(statement, 7),
                      .buries = (uint32_t)sqlite3_column_int64(statement, 8),
                      .kicks = (uint32_t)sqlite3_column_int64(statement, 9) },
    };
    sqlite3_reset(statement);
    return htw__place_class_of(ret->place) <= HTW__PLACE_BURIED
               ? 0
               : htw__database_distrust(self, "the place of a job is damaged");
}

static int store_moved(struct htw__database *self, uint64_t id, const struct htw__whereabouts *to) {
    const struct htw__counters *counters = &to->counters;
    self->sqlite->has_moved = true;
    return htw__statement_run(self, HTW__STORE_MOVED,
                              HTW__NUMBERS((int64_t)id, (int64_t)to->place, to->rank,
                                           to->deadline_ns, to->priority, to->is_leased,
                                           counters->attempts, counters->releases,
                                           counters->timeouts, counters->buries, counters->kicks));
}

/* Where a job was put, which has not been moved. */
static int read_place(struct htw__database *self, uint64_t id, uint64_t *ret_place) {
    struct htw__job_row row;
    int error = read_row(self, HTW__PUT_AS, id, &row);
    sqlite3_reset(self->sqlite->statements[HTW__PUT_AS]);
    if (error == 0)
        *ret_place = htw__database_where_put(&row).place;
    return error;
}

int htw__database_insert(struct htw__database *self, uint64_t id, const struct htw__job_row *row) {
    const struct htw__whereabouts where = htw__database_where_put(row);
    int error = insert_row(self, id, row);
    if (error != 0)
        return error;
    self->sqlite->added.jobs++;
    note_put(self, row->put_us);
    return id < self->ids_end ? htw__blocks_use(self, id, where.place)
                              : store_moved(self, id, &where);
}

int htw__database_move(struct htw__database *self, uint64_t id, const struct htw__whereabouts *to) {
    struct htw__whereabouts from;
    int error = fetch_moved(self, id, &from);
    bool is_first = error == -ENOENT;
    if (is_first)
        error = read_place(self, id, &from.place);
    if (error == 0)
        error = store_moved(self, id, to);
    if (error == 0 && htw__place_class_of(to->place) == HTW__PLACE_BURIED)
        note_put(self, to->rank);
    return error != 0 || !is_first ? error : htw__blocks_leave(self, id, from.place);
}

/* ---- keys and ends */

/* By its id, which alone it binds. -ENOENT: it is not there. */
static int delete_row(struct htw__database *self, enum htw__statement which, uint64_t id) {
    int error = htw__statement_run(self, which, HTW__NUMBERS((int64_t)id));
    return error == 0 && sqlite3_changes(self->sqlite->connection) == 0 ? -ENOENT : error;
}

/* The place where it was put is asked for if its block is perhaps empty then, and not known as such. */
int htw__database_remove(struct htw__database *self, uint64_t id) {
    uint64_t place = HTW__PLACE_NONE;
    int error = htw__blocks_know(&self->sqlite->blocks, id) ? 0 : read_place(self, id, &place);
    if (error == 0)
        error = delete_row(self, HTW__DELETE, id);
    if (error != 0)
        return error;
    self->sqlite->added.jobs--;
    if (self->sqlite->has_moved)
        error = htw__statement_run(self, HTW__DELETE_MOVED, HTW__NUMBERS((int64_t)id));
    return error == 0 ? htw__blocks_leave(self, id, place) : error;
}

static int find_key(struct htw__database *self, enum htw__statement which, const void *key,
                    size_t key_size, uint64_t *ret_id) {
    *ret_id = 0;
    htw__statement_bind_blob(self->sqlite->statements[which], 1, key, key_size);
    int result = htw__statement_number(self, which, NULL, 0, ret_id);
    return result < 0 ? result : 0;
}

int htw__database_find_key(struct htw__database *self, const void *key, size_t key_size,
                           uint64_t *ret_id) {
    return find_key(self, HTW__FIND_KEY, key, key_size, ret_id);
}

/* ---- reading a job and where it is */

int htw__database_fetch(struct htw__database *self, uint64_t id, struct htw__job_row *ret_row,
                        struct htw__whereabouts *ret_where) {
    int error = read_row(self, HTW__FETCH, id, ret_row);
    if (error != 0)
        return error;
    error = fetch_moved(self, id, ret_where);
    if (error == -ENOENT) {
        *ret_where = htw__database_where_put(ret_row);
        error = 0;
    }
    if (error != 0)
        htw__database_fetch_end(self);
    return error;
}

void htw__database_fetch_end(struct htw__database *self) {
    sqlite3_reset(self->sqlite->statements[HTW__FETCH]);
}

/* ---- the inbox: putting into it, in a transaction of the caller */

/* To prepare it is most of the cost, so it is as short as it can be. */
#define INTO_INBOX \
    "INSERT OR REPLACE INTO main.htw_inbox (deadline, key, payload, queue, priority, lease) "
#define PUT INTO_INBOX "VALUES (?1, ?2, ?3, ?4, ?5, ?6)"
#define PUT_IF_ABSENT                                                           \
    INTO_INBOX "SELECT ?1, ?2, ?3, ?4, ?5, ?6 WHERE NOT EXISTS (SELECT 1 FROM " \
               "main.htw_job WHERE key = ?2) AND NOT EXISTS (SELECT 1 FROM "    \
               "main.htw_inbox WHERE key = ?2)"

static int fail_put(struct sqlite3 *connection, int result) {
    int error = htw__journal_errno(connection, result);
    return htw__journal_fail(error == -EBADMSG ? -EINVAL : error, "%s",
                             htw__journal_why(connection, result, error));
}

static void bind_job(struct sqlite3_stmt *statement, const struct htw_job *job) {
    sqlite3_bind_int64(statement, 1, job->deadline_ns);
    if (job->key != NULL)
        htw__statement_bind_blob(statement, 2, job->key, job->key_size);
    htw__statement_bind_blob(statement, 3, job->payload, job->payload_size);
    sqlite3_bind_text(statement, 4, job->queue, -1, SQLITE_STATIC);
    sqlite3_bind_int64(statement, 5, job->priority);
    sqlite3_bind_int64(statement, 6, job->lease_ns);
}

int htw__inbox_put(struct sqlite3 *connection, struct htw_job *job) {
    struct sqlite3_stmt *statement;
    errno = 0; /* htw__journal_errno() */
    bool is_if_absent = job->key != NULL && (job->flags & HTW_JOB_IF_ABSENT) != 0;
    int result =
        sqlite3_prepare_v2(connection, is_if_absent ? PUT_IF_ABSENT : PUT, -1, &statement, NULL);
    if (result != SQLITE_OK)
        return fail_put(connection, result);
    bind_job(statement, job);
    (void)sqlite3_step(statement);
    result = sqlite3_finalize(statement);
    if (result != SQLITE_OK)
        return fail_put(connection, result);
    if (sqlite3_changes(connection) == 0)
        return htw__journal_fail_as(-EEXIST, "another job has the key");
    job->id = (uint64_t)sqlite3_last_insert_rowid(connection);
    return 0;
}

/* ---- the inbox: what is there */

int htw__inbox_next(struct htw__database *database, uint64_t after, struct htw__job_row *ret_row,
                    uint64_t *ret_id, const char **ret_queue) {
    enum { QUEUE = 7, ID = 8 };
    struct sqlite3_stmt *statement = database->sqlite->statements[HTW__NEXT_INBOX];
    int error = read_row(database, HTW__NEXT_INBOX, after, ret_row);
    if (error != 0)
        return error;
    bool has_queue = sqlite3_column_type(statement, QUEUE) != SQLITE_NULL;
    *ret_id = (uint64_t)sqlite3_column_int64(statement, ID);
    *ret_queue = has_queue ? (const char *)sqlite3_column_text(statement, QUEUE) : NULL;
    if (!has_queue || *ret_queue != NULL)
        return 0;
    sqlite3_reset(statement);
    return htw__database_fail(database, SQLITE_NOMEM);
}

void htw__inbox_next_end(struct htw__database *database) {
    sqlite3_reset(database->sqlite->statements[HTW__NEXT_INBOX]);
}

int htw__inbox_leave(struct htw__database *database, uint64_t id) {
    return delete_row(database, HTW__DELETE_INBOX, id);
}

int htw__inbox_remove(struct htw__database *database, uint64_t id) {
    int error = database->is_guest ? htw__inbox_leave(database, id) : -ENOENT;
    database->sqlite->added.inbox += error == 0;
    return error;
}

int htw__inbox_find_key(struct htw__database *database, const void *key, size_t key_size,
                        uint64_t *ret_id) {
    *ret_id = 0;
    return database->is_guest ? find_key(database, HTW__FIND_KEY_INBOX, key, key_size, ret_id) : 0;
}

int htw__inbox_take_key(struct htw__database *database, const void *key, size_t key_size,
                        bool is_if_absent) {
    uint64_t id;
    int error = htw__inbox_find_key(database, key, key_size, &id);
    if (error != 0 || id == 0)
        return error;
    return is_if_absent ? -EEXIST : htw__inbox_leave(database, id);
}
