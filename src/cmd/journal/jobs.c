/* SPDX-License-Identifier: MIT */
/* jobs.c - what is in the tables of a journal's file. */
#include "jobs.h"

#include "../../journal/place.h"
#include "../terminal.h"
#include "tables.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * The same questions to either format. A place of format 1 is the minute in the upper bits of an id, made to look
 * like the place of format 2 for the default queue.
 */
static const struct {
    const char *job;  /* ?1: id */
    const char *next; /* the first place from ?1 on */
    /* The places of a list: the id, moment and rank of jobs in the places from ?1 to ?2, with a deadline from ?3 to ?4; ?5: 0,
       not leased, 1: leased, NULL: either; behind moment ?6, rank ?7 and id ?8, at most ?9. */
    const char *rows;
} queries[] = {
    {
        .job = "SELECT deadline, key, payload, NULL, 0, 0, 0, NULL FROM @job WHERE id = ?1",
        .next = "SELECT id >> 35 << 32 FROM @job WHERE id >= (?1 >> 32) << 35 ORDER BY id LIMIT 1",
        .rows =
            "SELECT id, deadline, 0 FROM @job WHERE id BETWEEN ?1 >> 32 << 35 AND (((?2 >> 32) + 1) << "
            "35) - 1 AND deadline BETWEEN ?3 AND ?4 AND ifnull(?5, 0) = 0 AND "
            "(deadline, 0, id) > (?6, ?7, ?8) ORDER BY deadline, id LIMIT ?9",
    },
    {
        .job =
            "SELECT ifnull(m.deadline, j.deadline), key, payload, (SELECT name FROM @queue q WHERE "
            "q.number = j.queue), ifnull(m.priority, ifnull(j.priority, 0)), ifnull(put, 0), "
            "ifnull(lease, 0), m.place, m.state, attempts, releases, timeouts, buries, kicks "
            "FROM @job j LEFT JOIN @moved m ON m.id = j.id WHERE j.id = ?1",
        .next =
            "SELECT place FROM (SELECT (SELECT place FROM @block WHERE place >= ?1 ORDER BY place LIMIT 1) "
            "AS place UNION ALL SELECT (SELECT place FROM @moved_place WHERE place >= ?1 ORDER BY place "
            "LIMIT 1)) WHERE place NOT NULL ORDER BY place",
        .rows =
            "SELECT * FROM (SELECT id, CASE WHEN ?1 < 1 << 61 THEN deadline ELSE 0 END AS moment, rank "
            "FROM (SELECT j.id AS id, deadline, ifnull(put, 0) AS rank " PUT_IN
            "b.place BETWEEN ?1 AND ?2 AND deadline BETWEEN ?3 AND ?4 AND ifnull(?5, 0) = 0 AND " NOT_MOVED
            "UNION ALL SELECT p.id, deadline, p.rank " MOVED_TO
            "p.place BETWEEN ?1 AND ?2 AND deadline BETWEEN ?3 AND ?4 AND "
            "ifnull((state = 1) = ?5, 1))) WHERE (moment, rank, id < 1 << 53, id) > "
            "(?6, ?7, ?8 < 1 << 53, ?8) ORDER BY moment, rank, id < 1 << 53, id LIMIT ?9",
    },
};

#define QUERY(file, which) (queries[(file)->version - 1].which)

/* ---- one job */

static uint32_t count_of(struct sqlite3_stmt *row, int column) {
    return (uint32_t)sqlite3_column_int64(row, column);
}

/* A job of the query for it. */
static struct htw_job_info job_of(const struct htw__journal_file *file, struct sqlite3_stmt *row,
                                  uint64_t id) {
    enum {
        DEADLINE,
        KEY,
        PAYLOAD,
        QUEUE,
        PRIORITY,
        PUT,
        LEASE,
        PLACE,
        STATE,
        ATTEMPTS,
        RELEASES,
        TIMEOUTS,
        BURIES,
        KICKS
    };
    struct htw__file_bytes key = htw__journal_file_column(row, KEY);
    struct htw__file_bytes payload = htw__journal_file_column(row, PAYLOAD);
    int64_t put_us = sqlite3_column_int64(row, PUT);
    bool was_moved = sqlite3_column_type(row, PLACE) != SQLITE_NULL;
    struct htw_job_info job = {
        .id = id,
        .queue = (const char *)sqlite3_column_text(row, QUEUE),
        .payload = payload.bytes,
        .payload_size = payload.size,
        .key = key.bytes,
        .key_size = key.size,
        .deadline_ns = sqlite3_column_int64(row, DEADLINE),
        .put_ns = put_us <= 0 || put_us > INT64_MAX / HTW_MICROSECOND ? INT64_MIN
                                                                      : put_us * HTW_MICROSECOND,
        .lease_ns = sqlite3_column_int64(row, LEASE),
        .priority = count_of(row, PRIORITY),
    };
    enum htw__place_class class =
        htw__place_is_put_ready(job.deadline_ns, put_us) ? HTW__PLACE_READY : HTW__PLACE_DELAYED;
    bool is_leased = false;
    if (was_moved) {
        class = htw__place_class_of((uint64_t)sqlite3_column_int64(row, PLACE));
        is_leased = sqlite3_column_int64(row, STATE) != 0;
        job.attempts = count_of(row, ATTEMPTS);
        job.releases = count_of(row, RELEASES);
        job.timeouts = count_of(row, TIMEOUTS);
        job.buries = count_of(row, BURIES);
        job.kicks = count_of(row, KICKS);
    }
    job.state = htw__place_state(class, is_leased, job.deadline_ns, file->now_ns);
    if (job.state == HTW_JOB_READY && htw__leases_have(&file->leases, id)) {
        job.state = HTW_JOB_LEASED;
        job.deadline_ns = HTW_NEVER_NS; /* until its connection ends */
    }
    return job;
}

static bool is_wanted(const struct htw__journal_filter *filter, const struct htw_job_info *job) {
    return (filter->state == HTW__STATE_ANY || job->state == (enum htw_job_state)filter->state) &&
           (filter->queue == NULL ||
            strcmp(filter->queue, job->queue == NULL ? "" : job->queue) == 0);
}

/* One job of a prepared query for it, if the filter wants it; NULL: any. `ret_continues` is what `visit` returns. */
static bool visit_one(struct htw__journal_file *file, struct sqlite3_stmt *statement, uint64_t id,
                      const struct htw__journal_filter *filter, htw_job_visit *visit, void *context,
                      bool *ret_exists, bool *ret_continues) {
    sqlite3_bind_int64(statement, 1, (int64_t)id);
    int result = sqlite3_step(statement);
    *ret_exists = result == SQLITE_ROW;
    *ret_continues = true;
    if (result == SQLITE_ROW) {
        struct htw_job_info job = job_of(file, statement, id);
        *ret_exists = filter == NULL || is_wanted(filter, &job);
        if (*ret_exists)
            *ret_continues = visit(context, &job);
    } else if (result != SQLITE_DONE) {
        htw__journal_file_failed(file);
    }
    sqlite3_reset(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

bool htw__journal_job_visit(struct htw__journal_file *file, uint64_t id, htw_job_visit *visit,
                            void *context, bool *ret_exists) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, QUERY(file, job));
    if (statement == NULL)
        return false;
    bool continues;
    bool success = visit_one(file, statement, id, NULL, visit, context, ret_exists, &continues);
    sqlite3_finalize(statement);
    return success;
}

/* ---- the order of lists */

/* In a cursor, behind all places of the file. */
#define LEASES HTW__PLACE_NONE

void htw__journal_cursor_format(const struct htw__journal_cursor *cursor,
                                char text[HTW__CURSOR_SIZE]) {
    snprintf(text, HTW__CURSOR_SIZE, "%" PRIx64 ".%" PRIx64 ".%" PRIx64 ".%" PRIx64, cursor->place,
             (uint64_t)cursor->moment, (uint64_t)cursor->rank, cursor->id);
}

bool htw__journal_cursor_parse(const char *text, struct htw__journal_cursor *ret_cursor) {
    char again[HTW__CURSOR_SIZE], *end = (char *)(uintptr_t)text;
    uint64_t numbers[4] = { 0 };
    for (size_t i = 0; i < 4 && (i == 0 || *end == '.'); i++)
        numbers[i] = strtoull(i == 0 ? end : end + 1, &end, 16);
    *ret_cursor = (struct htw__journal_cursor) { numbers[0], (int64_t)numbers[1],
                                                 (int64_t)numbers[2], numbers[3] };
    htw__journal_cursor_format(ret_cursor, again);
    return strcmp(text, again) == 0;
}

/* Some places that are listed together: of a minute, or one that has none. */
struct places {
    uint64_t first, last;
    struct htw__journal_cursor *rows; /* their jobs, in order */
    size_t count, capacity;
};

struct walk {
    struct htw__journal_file *file;
    const struct htw__journal_filter *filter;
    int64_t queue; /* its number; -1: all */
    struct sqlite3_stmt *next, *rows, *job;
    struct places places;
    htw_job_visit *visit;
    void *context;
    struct htw__journal_cursor last;
    uint64_t count;
    bool is_ended, has_more;
};

static bool add(struct places *places, struct htw__journal_cursor row) {
    if (places->count == places->capacity) {
        size_t capacity = places->capacity == 0 ? 1024 : places->capacity * 2;
        struct htw__journal_cursor *rows = realloc(places->rows, capacity * sizeof(*rows));
        if (rows == NULL) {
            htw__terminal_error("%s", strerror(ENOMEM));
            return false;
        }
        places->rows = rows;
        places->capacity = capacity;
    }
    places->rows[places->count++] = row;
    return true;
}

static bool is_by_minute(uint64_t place) {
    enum htw__place_class class = htw__place_class_of(place);
    return class == HTW__PLACE_DELAYED || class == HTW__PLACE_DONE;
}

/* Finds the first places from `first` on that may have jobs; none up to `last`: `ret_exist` is false. */
static bool find_places(struct walk *walk, uint64_t first, uint64_t last, bool *ret_exist) {
    struct places *places = &walk->places;
    sqlite3_bind_int64(walk->next, 1, (int64_t)first);
    int result = sqlite3_step(walk->next);
    *ret_exist = false;
    if (result == SQLITE_ROW) {
        places->first = places->last = (uint64_t)sqlite3_column_int64(walk->next, 0);
        *ret_exist = places->first <= last;
        if (is_by_minute(places->first)) { /* all queues */
            places->first &= ~(uint64_t)UINT32_MAX;
            places->last |= UINT32_MAX;
        }
    }
    sqlite3_reset(walk->next);
    return result == SQLITE_ROW || result == SQLITE_DONE || htw__journal_file_failed(walk->file);
}

static void bind_rows(const struct walk *walk) {
    const struct places *places = &walk->places;
    const struct htw__journal_cursor first = HTW__CURSOR_FIRST, *after = &walk->filter->after;
    uint64_t wanted =
        walk->filter->limit - walk->count; /* and one more, and those that do not fit */
    uint32_t state = walk->filter->state;
    int64_t now = walk->file->now_ns, deadline_min = INT64_MIN, deadline_max = INT64_MAX;
    bool by_clock = htw__place_class_of(places->first) == HTW__PLACE_DELAYED;
    bool is_of_queue = walk->queue >= 0 && is_by_minute(places->first);
    uint64_t queue = is_of_queue ? (uint64_t)walk->queue : 0;
    if (after->place != places->first)
        after = &first;
    if (by_clock && state == HTW_JOB_READY)
        deadline_max = now;
    else if (by_clock && state != HTW__STATE_ANY && now < INT64_MAX)
        deadline_min = now + 1;
    sqlite3_clear_bindings(walk->rows);
    sqlite3_bind_int64(walk->rows, 1, (int64_t)(places->first + queue));
    sqlite3_bind_int64(walk->rows, 2,
                       (int64_t)(is_of_queue ? places->first + queue : places->last));
    sqlite3_bind_int64(walk->rows, 3, deadline_min);
    sqlite3_bind_int64(walk->rows, 4, deadline_max);
    if (by_clock && (state == HTW_JOB_DELAYED || state == HTW_JOB_LEASED))
        sqlite3_bind_int64(walk->rows, 5, state == HTW_JOB_LEASED);
    sqlite3_bind_int64(walk->rows, 6, after->moment);
    sqlite3_bind_int64(walk->rows, 7, after->rank);
    sqlite3_bind_int64(walk->rows, 8, (int64_t)after->id);
    sqlite3_bind_int64(walk->rows, 9,
                       wanted >= INT64_MAX / 2 ? -1
                                               : (int64_t)(wanted + 1 + walk->file->leases.count));
}

static bool read_places(struct walk *walk) {
    struct places *places = &walk->places;
    int result = SQLITE_DONE;
    bool has_memory = true;
    places->count = 0;
    bind_rows(walk);
    while (has_memory && (result = sqlite3_step(walk->rows)) == SQLITE_ROW)
        has_memory =
            add(places,
                (struct htw__journal_cursor) { places->first, sqlite3_column_int64(walk->rows, 1),
                                               sqlite3_column_int64(walk->rows, 2),
                                               (uint64_t)sqlite3_column_int64(walk->rows, 0) });
    if (has_memory && result != SQLITE_DONE)
        htw__journal_file_failed(walk->file);
    sqlite3_reset(walk->rows);
    return has_memory && result == SQLITE_DONE;
}

static bool visit_places(struct walk *walk) {
    const struct places *places = &walk->places;
    /* What is read of the file fits already, except for the leases of a server. */
    const struct htw__journal_filter *filter = walk->file->leases.count > 0 ? walk->filter : NULL;
    bool success = true, exists, continues;
    for (size_t i = 0; i < places->count && success && !walk->is_ended; i++) {
        if (walk->count == walk->filter->limit) {
            walk->is_ended = walk->has_more = true;
            break;
        }
        success = visit_one(walk->file, walk->job, places->rows[i].id, filter, walk->visit,
                            walk->context, &exists, &continues);
        walk->is_ended = !continues;
        if (success && exists) {
            walk->count++;
            walk->last = places->rows[i];
        }
    }
    return success;
}

static bool visit_range(struct walk *walk, uint64_t first, uint64_t last) {
    bool success = true, exist;
    if (first < walk->filter->after.place)
        first = walk->filter->after.place;
    while (success && first <= last && !walk->is_ended) {
        success = find_places(walk, first, last, &exist);
        if (!success || !exist)
            break;
        success = read_places(walk) && visit_places(walk);
        first = walk->places.last + 1;
    }
    return success;
}

static bool visit_delayed(struct walk *walk) {
    const struct htw__journal_filter *filter = walk->filter;
    uint64_t first = 0, last = htw__place(HTW__PLACE_READY, 0, 0) - 1;
    if (filter->state == HTW_JOB_READY)
        last = htw__place_delayed(walk->file->now_ns, UINT32_MAX);
    else if (filter->state != HTW__STATE_ANY)
        first = htw__place_delayed(walk->file->now_ns, 0);
    return visit_range(walk, first, last);
}

/* The jobs of READY or BURIED, which have no minute. Format 1 has none. */
static bool visit_class(struct walk *walk, enum htw__place_class class) {
    uint64_t first = htw__place(class, 0, 0), last = htw__place(class + 1, 0, 0) - 1;
    if (walk->file->version == 1)
        return true;
    if (walk->queue >= 0) {
        first = htw__place(class, (uint64_t)walk->queue, 0);
        last = first + UINT32_MAX;
    }
    return visit_range(walk, first, last);
}

/* What a server has leased, by id. */
static bool visit_leases(struct walk *walk) {
    const struct htw__leases *leases = &walk->file->leases;
    const struct htw__journal_cursor *after = &walk->filter->after;
    bool success = true;
    walk->places.count = 0;
    for (size_t i = 0; i < leases->count && success; i++)
        if (after->place != LEASES || leases->ids[i] > after->id)
            success =
                add(&walk->places, (struct htw__journal_cursor) { LEASES, 0, 0, leases->ids[i] });
    return success && visit_places(walk);
}

static bool visit_all(struct walk *walk) {
    uint32_t state = walk->filter->state;
    bool is_any = state == HTW__STATE_ANY;
    if (state == HTW_JOB_DONE)
        return walk->file->version == 1 ||
               visit_range(walk, htw__place(HTW__PLACE_DONE, 0, 0), INT64_MAX);
    return (state == HTW_JOB_BURIED || visit_delayed(walk)) &&
           (state != HTW_JOB_LEASED || walk->is_ended || visit_leases(walk)) &&
           (!(is_any || state == HTW_JOB_READY) || visit_class(walk, HTW__PLACE_READY)) &&
           (!(is_any || state == HTW_JOB_BURIED) || visit_class(walk, HTW__PLACE_BURIED));
}

/* `ret_number`: -1: there is no such queue. */
static bool find_queue(struct htw__journal_file *file, const char *name, int64_t *ret_number) {
    *ret_number = *name == '\0' ? 0 : -1;
    if (*name == '\0' || file->version == 1)
        return true;
    struct sqlite3_stmt *statement =
        htw__journal_file_prepare(file, "SELECT number FROM @queue WHERE name = ?1");
    if (statement == NULL)
        return false;
    sqlite3_bind_blob64(statement, 1, name, strlen(name), SQLITE_STATIC);
    int result = sqlite3_step(statement);
    if (result == SQLITE_ROW)
        *ret_number = sqlite3_column_int64(statement, 0) & HTW__QUEUE_MAX;
    else if (result != SQLITE_DONE)
        htw__journal_file_failed(file);
    sqlite3_finalize(statement);
    return result == SQLITE_ROW || result == SQLITE_DONE;
}

bool htw__journal_jobs_visit(struct htw__journal_file *file,
                             const struct htw__journal_filter *filter, htw_job_visit *visit,
                             void *context, struct htw__journal_cursor *ret_last,
                             bool *ret_has_more) {
    struct walk walk = { .file = file,
                         .filter = filter,
                         .queue = -1,
                         .visit = visit,
                         .context = context,
                         .last = filter->after };
    bool success = filter->queue == NULL || find_queue(file, filter->queue, &walk.queue);
    if (success && (filter->queue == NULL || walk.queue >= 0)) {
        walk.next = htw__journal_file_prepare(file, QUERY(file, next));
        walk.rows = htw__journal_file_prepare(file, QUERY(file, rows));
        walk.job = htw__journal_file_prepare(file, QUERY(file, job));
        success = walk.next != NULL && walk.rows != NULL && walk.job != NULL && visit_all(&walk);
    }
    sqlite3_finalize(walk.next);
    sqlite3_finalize(walk.rows);
    sqlite3_finalize(walk.job);
    free(walk.places.rows);
    *ret_last = walk.last;
    *ret_has_more = walk.has_more;
    return success;
}
