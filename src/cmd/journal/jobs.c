/* SPDX-License-Identifier: MIT */
/* jobs.c - what is in the tables of a journal's file. */
#include "jobs.h"

#include "../../journal/place.h"
#include "../terminal.h"

#include <htw/scheduler.h>

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

/*
 * The same questions to either format. A place of format 1 is the minute in the upper bits of an id, made to look
 * like the place of format 2 for the default queue.
 */
static const struct {
    const char *job;  /* ?1: id */
    const char *next; /* the first place from ?1 on */
    const char *rows; /* the ids of the places from ?1 to ?2, in order of deadline and of putting */
    const char *overdue; /* how many of the places up to ?1 have a deadline of at most ?2 */
} queries[] = {
    {
        "SELECT deadline, key, payload FROM job WHERE id = ?1",
        "SELECT id >> 35 << 32 FROM job WHERE id >= (?1 >> 32) << 35 ORDER BY id LIMIT 1",
        "SELECT id FROM job WHERE id BETWEEN ?1 >> 32 << 35 AND (((?2 >> 32) + 1) << 35) - 1 "
        "ORDER BY deadline, id",
        "SELECT count(*) FROM job WHERE id < ((?1 >> 32) + 1) << 35 AND deadline <= ?2",
    },
    {
        "SELECT ifnull((SELECT deadline FROM moved m WHERE m.id = job.id), deadline), key, "
        "payload FROM job WHERE id = ?1",
        "SELECT place FROM (SELECT min(place) AS place FROM block WHERE place >= ?1 UNION ALL "
        "SELECT min(place) FROM moved_place WHERE place >= ?1) WHERE place NOT NULL ORDER BY place",
        "SELECT id FROM (SELECT j.id AS id, j.deadline AS deadline, ifnull(j.put, 0) AS rank "
        "FROM block b CROSS JOIN job j ON j.id BETWEEN b.first AND b.last "
        "WHERE b.place BETWEEN ?1 AND ?2 AND NOT EXISTS (SELECT 1 FROM moved m WHERE m.id = j.id) "
        "UNION ALL SELECT p.id, m.deadline, p.rank FROM moved_place p CROSS JOIN moved m "
        "ON m.id = p.id WHERE p.place BETWEEN ?1 AND ?2) "
        "ORDER BY CASE WHEN ?1 < 1 << 61 THEN deadline END, rank, id < 1 << 53, id",
        "SELECT (SELECT count(*) FROM block b CROSS JOIN job j ON j.id BETWEEN b.first AND b.last "
        "WHERE b.place <= ?1 AND j.deadline <= ?2 AND NOT EXISTS (SELECT 1 FROM moved m WHERE "
        "m.id = j.id)) + (SELECT count(*) FROM moved_place p CROSS JOIN moved m ON m.id = p.id "
        "WHERE p.place <= ?1 AND m.deadline <= ?2)",
    },
};

#define QUERY(file, which) (queries[(file)->version - 1].which)

/* One job of a prepared query for it. `ret_continues` is what `visit` returns. */
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
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, QUERY(file, job));
    if (statement == NULL)
        return false;
    bool continues;
    bool success = visit_one(file, statement, id, visit, context, ret_exists, &continues);
    sqlite3_finalize(statement);
    return success;
}

/* ---- all */

/* The ids of some places that are listed together, in order: of a minute, or of one place that has none. */
struct places {
    uint64_t first, last;
    uint64_t *ids;
    size_t count, capacity;
};

static bool add(struct places *places, uint64_t id) {
    if (places->count == places->capacity) {
        size_t capacity = places->capacity == 0 ? 1024 : places->capacity * 2;
        uint64_t *ids = realloc(places->ids, capacity * sizeof(*ids));
        if (ids == NULL) {
            htw__terminal_error("%s", strerror(ENOMEM));
            return false;
        }
        places->ids = ids;
        places->capacity = capacity;
    }
    places->ids[places->count++] = id;
    return true;
}

/* Finds the first places from `first` on that may have jobs; none: `ret_exist` is false. */
static bool find_places(struct htw__journal_file *file, struct sqlite3_stmt *next, uint64_t first,
                        struct places *places, bool *ret_exist) {
    sqlite3_bind_int64(next, 1, (int64_t)first);
    int result = sqlite3_step(next);
    *ret_exist = result == SQLITE_ROW;
    if (result == SQLITE_ROW) {
        places->first = places->last = (uint64_t)sqlite3_column_int64(next, 0);
        if (htw__place_class_of(places->first) == HTW__PLACE_DELAYED)
            places->last |= UINT32_MAX; /* all queues */
    }
    sqlite3_reset(next);
    return result == SQLITE_ROW || result == SQLITE_DONE || htw__journal_file_failed(file);
}

static bool read_places(struct htw__journal_file *file, struct sqlite3_stmt *rows,
                        struct places *places) {
    int result = SQLITE_DONE;
    bool has_memory = true;
    places->count = 0;
    sqlite3_bind_int64(rows, 1, (int64_t)places->first);
    sqlite3_bind_int64(rows, 2, (int64_t)places->last);
    while (has_memory && (result = sqlite3_step(rows)) == SQLITE_ROW)
        has_memory = add(places, (uint64_t)sqlite3_column_int64(rows, 0));
    if (has_memory && result != SQLITE_DONE)
        htw__journal_file_failed(file);
    sqlite3_reset(rows);
    return has_memory && result == SQLITE_DONE;
}

bool htw__journal_jobs_visit(struct htw__journal_file *file, htw__journal_visit *visit,
                             void *context) {
    struct places places = { .ids = NULL };
    struct sqlite3_stmt *next = htw__journal_file_prepare(file, QUERY(file, next));
    struct sqlite3_stmt *rows = htw__journal_file_prepare(file, QUERY(file, rows));
    struct sqlite3_stmt *job = htw__journal_file_prepare(file, QUERY(file, job));
    bool success = next != NULL && rows != NULL && job != NULL, continues = true, exists = true;
    uint64_t first = 0;
    while (success && continues) {
        success = find_places(file, next, first, &places, &exists);
        if (!success || !exists)
            break;
        success = read_places(file, rows, &places);
        first = places.last + 1;
        for (size_t i = 0; i < places.count && success && continues; i++)
            success = visit_one(file, job, places.ids[i], visit, context, &exists, &continues);
    }
    sqlite3_finalize(next);
    sqlite3_finalize(rows);
    sqlite3_finalize(job);
    free(places.ids);
    return success;
}

/* ---- numbers */

/* Overdue jobs are in minutes of the past, and in the present one. */
bool htw__journal_jobs_overdue(struct htw__journal_file *file, int64_t now_ns,
                               uint64_t *ret_count) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, QUERY(file, overdue));
    if (statement == NULL)
        return false;
    sqlite3_bind_int64(statement, 1, (int64_t)htw__place_delayed(now_ns, UINT32_MAX));
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
