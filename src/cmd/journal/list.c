/* SPDX-License-Identifier: MIT */
/* list.c - `htw journal list` and `htw journal show`. */
#include "actions.h"

#include "../../base/clock.h"
#include "../status.h"
#include "../terminal.h"
#include "../text.h"
#include "../times.h"
#include "jobs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Of a payload in the table. */
#define PAYLOAD_COLUMNS 40
#define ALL_COLUMNS SIZE_MAX

static void print_json_job(const struct htw__journal_job *job) {
    printf("{\"id\":\"%" PRIu64 "\",", job->id);
    htw__text_print_json_deadline(job->deadline_ns);
    putchar(',');
    htw__text_print_json(stdout, "key", job->key.bytes, job->key.size);
    printf(",\"size\":%zu,", job->payload.size);
    htw__text_print_json(stdout, "payload", job->payload.bytes, job->payload.size);
    fputs("}\n", stdout);
}

/* ---- list */

struct list {
    const struct htw__journal_request *request;
    uint64_t count;
};

static bool print_row(void *context, const struct htw__journal_job *job) {
    struct list *list = context;
    char deadline[HTW__TEXT_DEADLINE_SIZE];
    if (list->count++ == list->request->limit)
        return false;
    if (list->request->json) {
        print_json_job(job);
        return !ferror(stdout);
    }
    printf("%-19" PRIu64 "  %-27s %9zu  ", job->id, htw__text_deadline(job->deadline_ns, deadline),
           job->payload.size);
    if (job->key.bytes != NULL) {
        putchar('[');
        htw__text_print(job->key.bytes, job->key.size, PAYLOAD_COLUMNS / 2);
        fputs("] ", stdout);
    }
    htw__text_print(job->payload.bytes, job->payload.size, PAYLOAD_COLUMNS);
    putchar('\n');
    return !ferror(stdout);
}

int htw__journal_list(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    struct list list = { request, 0 };
    bool success = htw__journal_file_open(&file, request->path);
    if (success) {
        if (!request->json)
            printf("%-19s  %-27s %9s  %s\n", "ID", "DEADLINE", "BYTES", "[KEY] PAYLOAD");
        success = htw__journal_jobs_visit(&file, print_row, &list);
    }
    htw__journal_file_close(&file);
    return htw__text_flush() && success ? 0 : HTW__EXIT_FAILED;
}

/* ---- show: jobs */

static bool print_job(void *context, const struct htw__journal_job *job) {
    const struct htw__journal_request *request = context;
    char deadline[HTW__TEXT_DEADLINE_SIZE];
    if (request->json) {
        print_json_job(job);
    } else if (request->payload) {
        fwrite(job->payload.bytes, 1, job->payload.size, stdout);
    } else {
        printf("id        %" PRIu64 "\ndeadline  %s\n", job->id,
               htw__text_deadline(job->deadline_ns, deadline));
        if (job->key.bytes != NULL) {
            fputs("key       ", stdout);
            htw__text_print(job->key.bytes, job->key.size, ALL_COLUMNS);
            putchar('\n');
        }
        printf("bytes     %zu\npayload   ", job->payload.size);
        htw__text_print(job->payload.bytes, job->payload.size, ALL_COLUMNS);
        putchar('\n');
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

static bool take_first(void *context, const struct htw__journal_job *job) {
    struct summary *summary = context;
    summary->has_next = true;
    summary->next_ns = job->deadline_ns;
    return false;
}

static void print_summary(const struct summary *summary) {
    const struct htw__journal_counters *counters = &summary->counters;
    char next[HTW__TEXT_DEADLINE_SIZE] = "-";
    if (summary->request->json) {
        printf("{\"jobs\":%" PRIu64 ",\"keyed\":%" PRIu64 ",\"overdue\":%" PRIu64 ",\"next\":%s",
               counters->jobs, counters->keyed, summary->overdue, summary->has_next ? "{" : "null");
        if (summary->has_next)
            htw__text_print_json_deadline(summary->next_ns);
        printf("%s,\"file_bytes\":%" PRIu64 ",\"log_bytes\":%" PRIu64 ",",
               summary->has_next ? "}" : "", summary->file_bytes, summary->log_bytes);
        htw__text_print_json(stdout, "mark", counters->mark.bytes, counters->mark.size);
        fputs("}\n", stdout);
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
    return htw__journal_jobs_visit(file, take_first, &summary) &&
           htw__journal_jobs_overdue(file, htw__clock_realtime_ns(), &summary.overdue) &&
           htw__journal_counters_visit(file, take_counters, &summary);
}

int htw__journal_show(const struct htw__journal_request *request) {
    struct htw__journal_file file;
    bool success =
        htw__journal_file_open(&file, request->path) &&
        (request->id_count > 0 ? show_jobs(&file, request) : show_journal(&file, request));
    htw__journal_file_close(&file);
    return htw__text_flush() && success ? 0 : HTW__EXIT_FAILED;
}
