/* SPDX-License-Identifier: MIT */
/* numbers.c - how much is in a journal's file. */
#include "numbers.h"

#include "../../journal/place.h"
#include "../terminal.h"
#include "jobs.h"
#include "tables.h"

#include <errno.h>
#include <sqlite3.h>
#include <stdlib.h>
#include <string.h>

#define READY_PLACES \
    "place BETWEEN (1 << 61) + (q.number << 32) AND (1 << 61) + (q.number << 32) + 4294967295"

/* To either format: jobs.c. ?1: the last place of the present minute, ?2: the present instant. */
static const struct {
    const char *overdue, *counters, *queues;
} queries[] = {
    {
        .overdue = "SELECT count(*) FROM @job WHERE id < ((?1 >> 32) + 1) << 35 AND deadline <= ?2",
        .counters = "SELECT jobs, keyed, mark FROM @meta",
        .queues =
            "SELECT NULL, jobs - count, count, 0, 0, 0, first FROM @meta, (SELECT count(*) AS count, "
            "min(deadline) AS first FROM @job WHERE id < ((?1 >> 32) + 1) << 35 AND deadline <= ?2)",
    },
    {
        .overdue =
            "SELECT (SELECT count(*) " PUT_IN "b.place <= ?1 AND deadline <= ?2 AND " NOT_MOVED
            ") + (SELECT count(*) " MOVED_TO "p.place <= ?1 AND deadline <= ?2)",
        .counters =
            "SELECT jobs - (SELECT ifnull(sum(done), 0) FROM @queue), keyed, mark FROM @meta",
        .queues =
            "WITH part (queue, is_leased, count, first) AS (SELECT place & 4294967295, 0, count(*), "
            "min(deadline) " PUT_IN "place <= ?1 AND deadline <= ?2 AND " NOT_MOVED
            "GROUP BY 1 UNION ALL SELECT p.place & 4294967295, state = 1, count(*), min(deadline) " MOVED_TO
            "p.place <= ?1 AND deadline <= ?2 GROUP BY 1, 2), "
            "due (queue, count, leased, first) AS (SELECT queue, sum(count), sum(count * is_leased), "
            "min(first) FROM part GROUP BY queue), "
            /* Delayed jobs of the default queue are what is left of all. */
            "q (number, name, delayed, ready, leased, buried, done) AS (SELECT 0, NULL, jobs - (SELECT "
            "ifnull(sum(delayed + ready + leased + buried + done), 0) FROM @queue) + ifnull(delayed, 0), "
            "ifnull(ready, 0), ifnull(leased, 0), ifnull(buried, 0), ifnull(done, 0) FROM @meta LEFT JOIN "
            "@queue ON number = 0 UNION ALL SELECT number, name, delayed, ready, leased, buried, done FROM @queue "
            "WHERE number != 0), "
            /* Ids of a block rise with the time of putting. */
            "r (number, first) AS (SELECT number, (SELECT min((SELECT put * 1000 FROM @job j WHERE j.id "
            "BETWEEN b.first AND b.last AND " NOT_MOVED
            "ORDER BY j.id LIMIT 1)) FROM @block b WHERE " READY_PLACES
            ") FROM q UNION ALL SELECT number, (SELECT min(rank) * 1000 FROM @moved_place WHERE " READY_PLACES
            ") FROM q UNION ALL SELECT queue, first FROM due) "
            "SELECT name, delayed - ifnull(due.count - due.leased, 0), ready + ifnull(due.count, 0), "
            "q.leased - ifnull(due.leased, 0), buried, done, (SELECT min(first) FROM r WHERE r.number = q.number) "
            "FROM q LEFT JOIN due ON due.queue = q.number "
            "ORDER BY name",
    },
};

#define QUERY(file, which) (queries[(file)->version - 1].which)

/* Overdue jobs are in minutes of the past, and in the present one. */
static struct sqlite3_stmt *prepare_overdue(struct htw__journal_file *file, const char *query) {
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, query);
    if (statement != NULL) {
        sqlite3_bind_int64(statement, 1, (int64_t)htw__place_delayed(file->now_ns, UINT32_MAX));
        sqlite3_bind_int64(statement, 2, file->now_ns);
    }
    return statement;
}

bool htw__journal_jobs_overdue(struct htw__journal_file *file, uint64_t *ret_count) {
    struct sqlite3_stmt *statement = prepare_overdue(file, QUERY(file, overdue));
    if (statement == NULL)
        return false;
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
    struct sqlite3_stmt *statement = htw__journal_file_prepare(file, QUERY(file, counters));
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

/* ---- what a server has leased, which the file says is ready */

struct names {
    char (*of)[HTW_QUEUE_NAME_MAX + 1]; /* of the queue of each; "": the default one. In order */
    size_t count, next;
};

static bool take_name(void *context, const struct htw_job_info *job) {
    struct names *names = context;
    if (job->state == HTW_JOB_LEASED)
        strcpy(names->of[names->count++], job->queue == NULL ? "" : job->queue);
    return true;
}

static int compare(const void *a, const void *b) {
    return strcmp(a, b);
}

static bool read_names(struct htw__journal_file *file, struct names *names) {
    bool exists, success = true;
    names->of = calloc(file->leases.count + 1, sizeof(*names->of));
    if (names->of == NULL) {
        htw__terminal_error("%s", strerror(ENOMEM));
        return false;
    }
    for (size_t i = 0; i < file->leases.count && success; i++)
        success = htw__journal_job_visit(file, file->leases.ids[i], take_name, names, &exists);
    qsort(names->of, names->count, sizeof(*names->of), compare);
    return success;
}

/* The queues come in the order of the names. */
static void move_leases(struct names *names, struct htw__journal_queue *queue) {
    const char *name = queue->name.bytes == NULL ? "" : queue->name.bytes;
    for (int order; names->next < names->count; names->next++) {
        order = strncmp(names->of[names->next], name, queue->name.size);
        order = order != 0 ? order : names->of[names->next][queue->name.size] != '\0';
        if (order > 0)
            return;
        if (order == 0 && queue->ready > 0) {
            queue->ready--;
            queue->leased++;
        }
    }
}

/* ---- queues */

static bool visit_queues(struct htw__journal_file *file, struct names *names,
                         void (*visit)(void *context, const struct htw__journal_queue *queue),
                         void *context) {
    struct sqlite3_stmt *statement = prepare_overdue(file, QUERY(file, queues));
    if (statement == NULL)
        return false;
    int result;
    while ((result = sqlite3_step(statement)) == SQLITE_ROW) {
        struct htw__journal_queue queue = {
            .name = htw__journal_file_column(statement, 0),
            .delayed = (uint64_t)sqlite3_column_int64(statement, 1),
            .ready = (uint64_t)sqlite3_column_int64(statement, 2),
            .leased = (uint64_t)sqlite3_column_int64(statement, 3),
            .buried = (uint64_t)sqlite3_column_int64(statement, 4),
            .done = (uint64_t)sqlite3_column_int64(statement, 5),
            .oldest_ns = sqlite3_column_type(statement, 6) == SQLITE_NULL
                             ? HTW_NEVER_NS
                             : sqlite3_column_int64(statement, 6),
        };
        move_leases(names, &queue);
        visit(context, &queue);
    }
    if (result != SQLITE_DONE)
        htw__journal_file_failed(file);
    sqlite3_finalize(statement);
    return result == SQLITE_DONE;
}

bool htw__journal_queues_visit(struct htw__journal_file *file,
                               void (*visit)(void *context, const struct htw__journal_queue *queue),
                               void *context) {
    struct names names = { NULL, 0, 0 };
    bool success = read_names(file, &names) && visit_queues(file, &names, visit, context);
    free(names.of);
    return success;
}
