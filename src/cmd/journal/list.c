/* SPDX-License-Identifier: MIT */
/* list.c - `htw journal list`, `show`, `stats` and `recurring`. */
#include "actions.h"

#include "../../base/clock.h"
#include "../duration.h"
#include "../job.h"
#include "../status.h"
#include "../terminal.h"
#include "../text.h"
#include "../times.h"
#include "jobs.h"
#include "numbers.h"

#include <errno.h>
#include <inttypes.h>
#include <sqlite3.h>
#include <stdio.h>
#include <string.h>

/* Of a payload in the table. */
#define PAYLOAD_COLUMNS 40
#define ALL_COLUMNS SIZE_MAX

static const char *const states[] = { HTW__JOB_STATES };

static void print_queue(const char *name) {
    if (name == NULL)
        putchar('-');
    else
        htw__text_print(name, strlen(name), ALL_COLUMNS);
}

/* ---- list */

static bool print_row(void *context, const struct htw_job_info *job) {
    const struct htw__journal_request *request = context;
    char text[HTW__TEXT_DEADLINE_SIZE];
    int64_t deadline_ns = htw__job_deadline(job);
    if (request->json) {
        htw__job_write(&(struct htw__json) { .out = stdout }, job, SIZE_MAX);
        putchar('\n');
        return !ferror(stdout);
    }
    printf("%-19" PRIu64 "  %-27s %9zu  %-7s  ", job->id,
           deadline_ns == HTW__JOB_NO_DEADLINE ? "-" : htw__text_deadline(deadline_ns, text),
           job->payload_size, states[job->state]);
    print_queue(job->queue);
    fputs("  ", stdout);
    if (job->key != NULL) {
        putchar('[');
        htw__text_print(job->key, job->key_size, PAYLOAD_COLUMNS / 2);
        fputs("] ", stdout);
    }
    htw__text_print(job->payload, job->payload_size, PAYLOAD_COLUMNS);
    putchar('\n');
    return !ferror(stdout);
}

static bool list(struct htw__journal_file *file, const struct htw__journal_request *request) {
    struct htw__journal_cursor last;
    char after[HTW__CURSOR_SIZE];
    bool has_more;
    if (!request->json)
        printf("%-19s  %-27s %9s  %-7s  %s  %s\n", "ID", "DEADLINE", "BYTES", "STATE", "QUEUE",
               "[KEY] PAYLOAD");
    if (!htw__journal_jobs_visit(file, &request->filter, print_row, (void *)(uintptr_t)request,
                                 &last, &has_more))
        return false;
    htw__journal_cursor_format(&last, after);
    if (has_more)
        printf(request->json ? "{\"after\":\"%s\"}\n" : "more: --after %s\n", after);
    return true;
}

int htw__journal_list(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    bool success = htw__journal_file_open_live(&file, request->path) && list(&file, request);
    htw__journal_file_close(&file);
    return htw__text_flush() && success ? 0 : HTW__EXIT_FAILED;
}

/* ---- show: jobs */

static void print_age(const struct htw_job_info *job) {
    char put[HTW__TEXT_DEADLINE_SIZE], age[HTW__DURATION_FORMAT_SIZE];
    int64_t now_ns = htw__clock_realtime_ns();
    if (job->put_ns == INT64_MIN)
        return;
    htw__duration_format(now_ns > job->put_ns ? (uint64_t)(now_ns - job->put_ns) : 0, age);
    printf("put       %s, %s ago\n", htw__text_deadline(job->put_ns, put), age);
}

static void print_all(const struct htw_job_info *job) {
    char deadline[HTW__TEXT_DEADLINE_SIZE], lease[HTW__DURATION_FORMAT_SIZE];
    printf("id        %" PRIu64 "\nstate     %s\nqueue     ", job->id, states[job->state]);
    print_queue(job->queue);
    printf("\npriority  %" PRIu32 "\n", job->priority);
    if (htw__job_deadline(job) != HTW__JOB_NO_DEADLINE)
        printf("%s  %s\n", job->state == HTW_JOB_DONE ? "ended   " : "deadline",
               htw__text_deadline(job->deadline_ns, deadline));
    print_age(job);
    if (job->lease_ns > 0) {
        htw__duration_format((uint64_t)job->lease_ns, lease);
        printf("lease     %s\n", lease);
    }
    printf("attempts  %" PRIu32 ", %" PRIu32 " released, %" PRIu32 " timed out, %" PRIu32
           " buried, %" PRIu32 " kicked\n",
           job->attempts, job->releases, job->timeouts, job->buries, job->kicks);
    if (job->key != NULL) {
        fputs("key       ", stdout);
        htw__text_print(job->key, job->key_size, ALL_COLUMNS);
        putchar('\n');
    }
    printf("bytes     %zu\npayload   ", job->payload_size);
    htw__text_print(job->payload, job->payload_size, ALL_COLUMNS);
    putchar('\n');
}

static bool print_job(void *context, const struct htw_job_info *job) {
    const struct htw__journal_request *request = context;
    if (request->json) {
        htw__job_write(&(struct htw__json) { .out = stdout }, job, SIZE_MAX);
        putchar('\n');
    } else if (request->payload) {
        fwrite(job->payload, 1, job->payload_size, stdout);
    } else {
        print_all(job);
    }
    return !ferror(stdout);
}

static bool show_jobs(struct htw__journal_file *file, const struct htw__journal_request *request) {
    bool all_exist = true;
    for (size_t i = 0; i < request->id_count; i++) {
        bool exists = false;
        if (!htw__journal_job_visit(file, request->ids[i], print_job, (void *)request, &exists))
            return false;
        if (!exists)
            htw__terminal_error("%s: there is no job %" PRIu64, request->path, request->ids[i]);
        all_exist = all_exist && exists;
    }
    return all_exist;
}

/* ---- show: the journal */

struct summary {
    const struct htw__journal_request *request;
    struct htw__journal_counters counters;
    uint64_t overdue;
    bool has_next;
    int64_t next_ns;
    uint64_t file_bytes, log_bytes;
};

/* BURIED jobs come last. */
static bool take_first(void *context, const struct htw_job_info *job) {
    struct summary *summary = context;
    summary->next_ns = htw__job_deadline(job);
    summary->has_next = summary->next_ns != HTW__JOB_NO_DEADLINE;
    return false;
}

static void print_summary(const struct summary *summary) {
    const struct htw__journal_counters *counters = &summary->counters;
    char next[HTW__TEXT_DEADLINE_SIZE] = "-";
    if (summary->request->json) {
        struct htw__json json = { .out = stdout };
        htw__json_begin(&json, NULL, '{');
        htw__json_number(&json, "jobs", counters->jobs);
        htw__json_number(&json, "keyed", counters->keyed);
        htw__json_number(&json, "overdue", summary->overdue);
        if (summary->has_next) {
            htw__json_begin(&json, "next", '{');
            htw__json_instant(&json, "deadline", summary->next_ns, INT64_MIN);
            htw__json_end(&json, '}');
        } else
            htw__json_null(&json, "next");
        htw__json_number(&json, "file_bytes", summary->file_bytes);
        htw__json_number(&json, "log_bytes", summary->log_bytes);
        htw__json_bytes(&json, "mark", counters->mark.bytes, counters->mark.size);
        htw__json_end(&json, '}');
        putchar('\n');
        return;
    }
    if (summary->has_next)
        htw__text_deadline(summary->next_ns, next);
    printf("jobs     %" PRIu64 "\nkeyed    %" PRIu64 "\noverdue  %" PRIu64 "\nnext     %s\n",
           counters->jobs, counters->keyed, summary->overdue, next);
    printf("bytes    %" PRIu64 ", and %" PRIu64 " in the log\nmark     ", summary->file_bytes,
           summary->log_bytes);
    if (counters->mark.bytes == NULL)
        putchar('-');
    else
        htw__text_print(counters->mark.bytes, counters->mark.size, ALL_COLUMNS);
    putchar('\n');
}

static void take_counters(void *context, const struct htw__journal_counters *counters) {
    struct summary *summary = context;
    summary->counters = *counters;
    print_summary(summary);
}

static bool show_journal(struct htw__journal_file *file,
                         const struct htw__journal_request *request) {
    struct summary summary = { .request = request,
                               .file_bytes = htw__journal_file_bytes(file),
                               .log_bytes = htw__journal_file_log_bytes(file) };
    struct htw__journal_filter first = HTW__JOBS_ALL;
    struct htw__journal_cursor last;
    bool has_more;
    first.limit = 1;
    return htw__journal_jobs_visit(file, &first, take_first, &summary, &last, &has_more) &&
           htw__journal_jobs_overdue(file, &summary.overdue) &&
           htw__journal_counters_visit(file, take_counters, &summary);
}

int htw__journal_show(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    bool success =
        htw__journal_file_open_live(&file, request->path) &&
        (request->id_count > 0 ? show_jobs(&file, request) : show_journal(&file, request));
    htw__journal_file_close(&file);
    return htw__text_flush() && success ? 0 : HTW__EXIT_FAILED;
}

/* ---- stats */

struct stats {
    bool is_json;
    struct htw__json json;
};

static void print_numbers(void *context, const struct htw__journal_queue *queue) {
    struct stats *stats = context;
    char oldest[HTW__TEXT_DEADLINE_SIZE] = "-";
    if (stats->is_json) {
        struct htw__json *json = &stats->json;
        htw__json_begin(json, NULL, '{');
        htw__json_bytes(json, "queue", queue->name.bytes, queue->name.size);
        htw__json_number(json, "delayed", queue->delayed);
        htw__json_number(json, "ready", queue->ready);
        htw__json_number(json, "leased", queue->leased);
        htw__json_number(json, "buried", queue->buried);
        htw__json_number(json, "done", queue->done);
        htw__json_instant(json, "oldest", queue->oldest_ns, HTW_NEVER_NS);
        htw__json_end(json, '}');
        return;
    }
    if (queue->oldest_ns != HTW_NEVER_NS)
        htw__text_deadline(queue->oldest_ns, oldest);
    printf("%9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "  %-27s  ",
           queue->delayed, queue->ready, queue->leased, queue->buried, queue->done, oldest);
    if (queue->name.bytes == NULL)
        putchar('-');
    else
        htw__text_print(queue->name.bytes, queue->name.size, ALL_COLUMNS);
    putchar('\n');
}

int htw__journal_stats(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    struct stats stats = { request->json, { .out = stdout } };
    bool success = htw__journal_file_open_live(&file, request->path);
    if (success) {
        if (request->json) {
            htw__json_begin(&stats.json, NULL, '{');
            htw__json_begin(&stats.json, "queues", '[');
        } else
            printf("%9s %9s %9s %9s %9s  %-27s  %s\n", "DELAYED", "READY", "LEASED", "BURIED",
                   "DONE", "OLDEST READY", "QUEUE");
        success = htw__journal_queues_visit(&file, print_numbers, &stats);
    }
    if (success && request->json) {
        htw__json_end(&stats.json, ']');
        htw__json_number(&stats.json, "file_bytes", htw__journal_file_bytes(&file));
        htw__json_number(&stats.json, "log_bytes", htw__journal_file_log_bytes(&file));
        htw__json_end(&stats.json, '}');
        putchar('\n');
    } else if (success)
        printf("%" PRIu64 " bytes, and %" PRIu64 " in the log\n", htw__journal_file_bytes(&file),
               htw__journal_file_log_bytes(&file));
    htw__journal_file_close(&file);
    return htw__text_flush() && success ? 0 : HTW__EXIT_FAILED;
}

/* ---- recurring jobs */

enum { NAME, NEXT, SCHEDULE, ZONE, CATCH_UP, PRIORITY, QUEUE, KEY, PAYLOAD };

static void print_json_recurring(struct sqlite3_stmt *row) {
    static const char *const names[] = {
        [NAME] = "name", [SCHEDULE] = "schedule", [ZONE] = "zone",         [QUEUE] = "queue",
        [KEY] = "key",   [PAYLOAD] = "payload",   [CATCH_UP] = "catch_up", [PRIORITY] = "priority"
    };
    struct htw__json json = { .out = stdout };
    htw__json_begin(&json, NULL, '{');
    htw__json_instant(&json, "next", sqlite3_column_int64(row, NEXT), INT64_MIN);
    for (int i = NAME; i <= PAYLOAD; i++) {
        struct htw__file_bytes bytes = htw__journal_file_column(row, i);
        if (i == CATCH_UP || i == PRIORITY)
            htw__json_number(&json, names[i], (uint64_t)sqlite3_column_int64(row, i));
        else if (i != NEXT)
            htw__json_bytes(&json, names[i], bytes.bytes, bytes.size);
    }
    htw__json_end(&json, '}');
    putchar('\n');
}

static void print_recurring(struct sqlite3_stmt *row) {
    char next[HTW__TEXT_DEADLINE_SIZE];
    int64_t next_ns = sqlite3_column_int64(row, NEXT);
    printf("%-27s", next_ns == INT64_MIN ? "-" : htw__text_deadline(next_ns, next));
    for (int i = NAME; i <= PAYLOAD; i++) {
        struct htw__file_bytes bytes = htw__journal_file_column(row, i);
        if (i == NEXT || i == CATCH_UP || i == PRIORITY || (i == KEY && bytes.bytes == NULL))
            continue;
        fputs(i == KEY ? "  [" : "  ", stdout);
        if (bytes.bytes == NULL)
            putchar('-');
        else
            htw__text_print(bytes.bytes, bytes.size, i < KEY ? ALL_COLUMNS : PAYLOAD_COLUMNS);
        fputs(i == KEY ? "]" : "", stdout);
    }
    putchar('\n');
}

static bool list_recurring(struct htw__journal_file *file, bool json) {
    struct sqlite3_stmt *statement = NULL;
    int result = SQLITE_DONE;
    if (!json)
        printf("%-27s  %s\n", "NEXT", "NAME  SCHEDULE  ZONE  QUEUE  [KEY]  PAYLOAD");
    if (file->version == 1)
        return true;
    statement = htw__journal_file_prepare(
        file, "SELECT name, next, schedule, zone, catch_up, priority, queue, key, payload FROM "
              "@recurring ORDER BY name");
    while (statement != NULL && !ferror(stdout) &&
           (result = sqlite3_step(statement)) == SQLITE_ROW) {
        if (json)
            print_json_recurring(statement);
        else
            print_recurring(statement);
    }
    if (result != SQLITE_DONE && result != SQLITE_ROW)
        htw__journal_file_failed(file);
    sqlite3_finalize(statement);
    return statement != NULL && result == SQLITE_DONE;
}

int htw__journal_recurring(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    bool success =
        htw__journal_file_open(&file, request->path) && list_recurring(&file, request->json);
    htw__journal_file_close(&file);
    return htw__text_flush() && success ? 0 : HTW__EXIT_FAILED;
}
