/* SPDX-License-Identifier: MIT */
/* jobs.c - what is in the tables of a journal's file. */
#include "jobs.h"

#include "../terminal.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

static const char job_query[] = "SELECT deadline, key, payload FROM job WHERE id = ?1";

/* One job of a prepared `job_query`. `ret_continues` is what `visit` returns. */
static bool visit_one(struct htw__journal_file *file, struct sqlite3_stmt *statement, uint64_t id,
                      htw__journal_visit *visit, void *context, bool *ret_exists,
                      bool *ret_continues) {
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    int result = sqlite3_step(statement);
    *ret_exists = result == SQLITE_ROW;
    *ret_continues = true;
    if (result == SQLITE_ROW) {
        struct htw__journal_job job = { .id = id,
                                        .deadline_ns = sqlite3_column_int64(statement, 0),
                                        .key = htw__journal_file_column(statement, 1),
                                        .payload = htw__journal_file_column(statement, 2) };
        *ret_continues = visit(context, &job);
    } else if (result != SQLITE_DONE) {
        htw__journal_file_failed(file);
    }
    sqlite3_reset(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

bool htw__journal_job_visit(struct htw__journal_file *file, uint64_t id, htw__journal_visit *visit,
                            void *context, bool *ret_exists) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, job_query);
    if (statement == NULL)
        return false;
    bool continues;
    bool success = visit_one(file, statement, id, visit, context, ret_exists, &continues);
    sqlite3_finalize(statement);
    return success;
}

/* ---- all */

/* The last id of a minute. */
static int64_t last_id(uint64_t bucket) {
    return (int64_t)(((bucket + 1) << HTW__JOURNAL_SEQUENCE_BITS) - 1);
}

/* The ids of the jobs of one minute, in order of deadline. */
struct minute {
    uint64_t *ids;
    size_t count, capacity;
};

static bool add(struct minute *minute, uint64_t id) {
    if (minute->count == minute->capacity) {
        size_t capacity = minute->capacity == 0 ? 1024 : minute->capacity * 2;
        uint64_t *ids = realloc(minute->ids, capacity * sizeof(*ids));
        if (ids == NULL) {
            htw__terminal_error("%s", strerror(ENOMEM));
            return false;
        }
        minute->ids = ids;
        minute->capacity = capacity;
    }
    minute->ids[minute->count++] = id;
    return true;
}

/* Reads the ids of the first minute that has jobs with an id of at least `first`. */
static bool read_minute(struct htw__journal_file *file, struct sqlite3_stmt *next,
                        struct sqlite3_stmt *rows, uint64_t first, struct minute *minute) {
    minute->count = 0;
    sqlite3_bind_int64(next, 1, (int64_t)first);
    int result = sqlite3_step(next);
    uint64_t bucket = result == SQLITE_ROW
                          ? (uint64_t)sqlite3_column_int64(next, 0) >> HTW__JOURNAL_SEQUENCE_BITS
                          : 0;
    sqlite3_reset(next);
    if (result == SQLITE_DONE)
        return true;
    if (result != SQLITE_ROW)
        return htw__journal_file_failed(file);
    sqlite3_bind_int64(rows, 1, (int64_t)(bucket << HTW__JOURNAL_SEQUENCE_BITS));
    sqlite3_bind_int64(rows, 2, last_id(bucket));
    bool has_memory = true;
    while (has_memory && (result = sqlite3_step(rows)) == SQLITE_ROW)
        has_memory = add(minute, (uint64_t)sqlite3_column_int64(rows, 0));
    if (has_memory && result != SQLITE_DONE)
        htw__journal_file_failed(file);
    sqlite3_reset(rows);
    return has_memory && result == SQLITE_DONE;
}

bool htw__journal_jobs_visit(struct htw__journal_file *file, htw__journal_visit *visit,
                             void *context) {
    struct minute minute = { NULL, 0, 0 };
    struct sqlite3_stmt *next =
        htw__journal_file_prepare(file, "SELECT id FROM job WHERE id >= ?1 ORDER BY id LIMIT 1");
    struct sqlite3_stmt *rows = htw__journal_file_prepare(
        file, "SELECT id FROM job WHERE id BETWEEN ?1 AND ?2 ORDER BY deadline, id");
    struct sqlite3_stmt *job = htw__journal_file_prepare(file, job_query);
    bool success = next != NULL && rows != NULL && job != NULL, continues = true, exists;
    uint64_t first = 0;
    while (success && continues) {
        success = read_minute(file, next, rows, first, &minute);
        if (!success || minute.count == 0)
            break;
        first = ((minute.ids[0] >> HTW__JOURNAL_SEQUENCE_BITS) + 1) << HTW__JOURNAL_SEQUENCE_BITS;
        for (size_t i = 0; i < minute.count && success && continues; i++)
            success = visit_one(file, job, minute.ids[i], visit, context, &exists, &continues);
    }
    sqlite3_finalize(next);
    sqlite3_finalize(rows);
    sqlite3_finalize(job);
    free(minute.ids);
    return success;
}

/* ---- numbers */

/* Overdue jobs are in minutes of the past, and in the present one. */
bool htw__journal_jobs_overdue(struct htw__journal_file *file, int64_t now_ns,
                               uint64_t *ret_count) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(
        file, "SELECT count(*) FROM job WHERE id <= ?1 AND deadline <= ?2");
    if (statement == NULL)
        return false;
    sqlite3_bind_int64(statement, 1, last_id((uint64_t)(now_ns / HTW_MINUTE)));
    sqlite3_bind_int64(statement, 2, now_ns);
    bool has_row = sqlite3_step(statement) == SQLITE_ROW;
    if (has_row)
        *ret_count = (uint64_t)sqlite3_column_int64(statement, 0);
    sqlite3_finalize(statement);
    return has_row || htw__journal_file_failed(file);
}

bool htw__journal_counters_visit(struct htw__journal_file *file,
                                 void (*visit)(void *context,
                                               const struct htw__journal_counters *counters),
                                 void *context) {
    struct sqlite3_stmt *statement =
        htw__journal_file_prepare(file, "SELECT jobs, keyed, mark FROM meta");
    if (statement == NULL)
        return false;
    bool has_row = sqlite3_step(statement) == SQLITE_ROW;
    if (has_row) {
        const struct htw__journal_counters counters = {
            .jobs = (uint64_t)sqlite3_column_int64(statement, 0),
            .keyed = (uint64_t)sqlite3_column_int64(statement, 1),
            .mark = htw__journal_file_column(statement, 2),
        };
        visit(context, &counters);
    } else {
        htw__terminal_error("%s: the journal has lost its counters", file->path);
    }
    sqlite3_finalize(statement);
    return has_row;
}
