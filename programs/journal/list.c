/* SPDX-License-Identifier: MIT */
/* list.c - the actions of `htw journal` that look: list, show, stats and check. They change nothing. */
#include "actions.h"

#include "../kit/command_line.h"
#include "../kit/figures.h"
#include "../kit/job.h"
#include "../kit/terminal.h"
#include "../kit/times.h"
#include "../kit/visible.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Of a payload in the table. */
#define PAYLOAD_COLUMNS 40
#define ALL_COLUMNS SIZE_MAX

/* Between so many jobs the file is free. */
#define SLICE 256u

static const char *const states[] = { HTW__JOB_STATES };

/* What an action looks at. */
struct view {
    const struct htw__journal_request *request;
    struct htw_journal *journal;
    uint64_t left; /* list: so many more jobs are wanted */
    struct htw__json json;
};

static bool begin(struct view *view, const struct htw__journal_request *request) {
    *view = (struct view) { .request = request, .left = request->limit, .json = { .out = stdout } };
    return htw__journal_succeeds(htw_journal_open_to_read(&view->journal, request->path, NULL));
}

static int end(struct view *view, bool success) {
    htw_journal_close(view->journal);
    return htw__terminal_flush() && success ? 0 : HTW__EXIT_FAILED;
}

static void print_word(const char *word) {
    htw__text_print_or_dash(word, word == NULL ? 0 : strlen(word), ALL_COLUMNS);
}

/* An object in a line of its own. */
static void write_job(const struct htw_job_info *job) {
    htw__job_write(&(struct htw__json) { .out = stdout }, job, SIZE_MAX);
    putchar('\n');
}

static void end_json(struct view *view) {
    htw__json_end(&view->json, '}');
    putchar('\n');
}

/* ---- queues */

struct queue {
    struct htw_queue_stats stats;
    char name[HTW_QUEUE_NAME_MAX + 1]; /* empty: the default queue */
};

struct queues {
    struct queue *of;
    size_t count;
    bool has_memory;
};

static bool keep_queue(void *context, const struct htw_queue_stats *stats) {
    struct queues *self = context;
    if ((self->count & (self->count - 1)) == 0) {
        size_t room = self->count == 0 ? 1 : 2 * self->count;
        struct queue *more = realloc(self->of, room * sizeof(*more));
        self->has_memory = more != NULL;
        if (more == NULL)
            return false;
        self->of = more;
    }
    struct queue *kept = &self->of[self->count++];
    kept->stats = *stats;
    snprintf(kept->name, sizeof(kept->name), "%s", stats->name == NULL ? "" : stats->name);
    return true;
}

static int compare(const void *a, const void *b) {
    const struct queue *left = a, *right = b;
    return strcmp(left->name, right->name);
}

/* By name, the default queue first. */
static bool read_queues(const struct view *view, struct queues *queues) {
    *queues = (struct queues) { .has_memory = true };
    int error = htw_journal_list_queues(view->journal, keep_queue, queues);
    if (error == 0 && !queues->has_memory)
        htw__terminal_error("%s", strerror(ENOMEM));
    if (queues->count > 0)
        qsort(queues->of, queues->count, sizeof(*queues->of), compare);
    for (size_t i = 0; i < queues->count; i++)
        queues->of[i].stats.name = queues->of[i].name[0] == '\0' ? NULL : queues->of[i].name;
    return htw__journal_succeeds(error) && queues->has_memory;
}

/* ---- list */

static bool is_wanted(const struct view *view, const char *queue, enum htw_job_state state) {
    const struct htw__journal_request *request = view->request;
    bool is_of_state = request->state == HTW__STATE_ANY || request->state == (uint32_t)state;
    return is_of_state &&
           (request->queue == NULL || strcmp(request->queue, queue == NULL ? "" : queue) == 0);
}

static bool print_row(void *context, const struct htw_job_info *job) {
    struct view *view = context;
    char text[HTW__INSTANT_FORMAT_SIZE];
    int64_t deadline_ns = htw__job_deadline(job);
    if (view->request->json) {
        write_job(job);
    } else {
        printf("%-19" PRIu64 "  %-27s %9zu  %-7s  ", job->id,
               deadline_ns == HTW__JOB_NO_DEADLINE ? "-" : htw__instant_or_never(deadline_ns, text),
               job->payload_size, states[job->state]);
        print_word(job->queue);
        fputs("  ", stdout);
        if (job->key != NULL) {
            putchar('[');
            htw__text_print(stdout, job->key, job->key_size, PAYLOAD_COLUMNS / 2);
            fputs("] ", stdout);
        }
        htw__text_print(stdout, job->payload, job->payload_size, PAYLOAD_COLUMNS);
        putchar('\n');
    }
    return --view->left > 0 && !ferror(stdout);
}

static bool list_queue(struct view *view, const char *queue) {
    int got = 0;
    for (int state = HTW_JOB_DELAYED; state <= HTW_JOB_BURIED && got >= 0; state++) {
        struct htw_list_place place = { { 0 } };
        if (!is_wanted(view, queue, (enum htw_job_state)state))
            continue;
        do
            got = view->left == 0 || ferror(stdout)
                      ? 0
                      : htw_journal_list(view->journal, queue, (enum htw_job_state)state, &place,
                                         SLICE, print_row, view);
        while (got == (int)SLICE);
    }
    return htw__journal_succeeds(got);
}

int htw__journal_list(const struct htw__journal_request *request) {
    struct view view;
    struct queues queues = { .count = 0 };
    bool success = begin(&view, request) && read_queues(&view, &queues);
    if (success && !request->json)
        printf("%-19s  %-27s %9s  %-7s  %s  %s\n", "ID", "DEADLINE", "BYTES", "STATE", "QUEUE",
               "[KEY] PAYLOAD");
    for (size_t i = 0; i < queues.count && success; i++)
        success = list_queue(&view, queues.of[i].stats.name);
    free(queues.of);
    return end(&view, success);
}

/* ---- show */

static void print_all(const struct htw_job_info *job) {
    char text[HTW__INSTANT_FORMAT_SIZE], lease[HTW__FIGURE_SIZE];
    printf("id        %" PRIu64 "\nstate     %s\nqueue     ", job->id, states[job->state]);
    print_word(job->queue);
    printf("\npriority  %" PRIu32 "\n", job->priority);
    if (htw__job_deadline(job) != HTW__JOB_NO_DEADLINE)
        printf("deadline  %s\n", htw__instant_or_never(job->deadline_ns, text));
    if (job->put_ns != INT64_MIN)
        printf("put       %s\n", htw__instant_or_never(job->put_ns, text));
    if (job->lease_ns > 0)
        printf("lease     %s\n", htw__figure_duration((uint64_t)job->lease_ns, lease));
    printf("attempts  %" PRIu32 ", %" PRIu32 " released, %" PRIu32 " timed out, %" PRIu32
           " buried, %" PRIu32 " kicked\n",
           job->attempts, job->releases, job->timeouts, job->buries, job->kicks);
    if (job->key != NULL) {
        fputs("key       ", stdout);
        htw__text_print(stdout, job->key, job->key_size, ALL_COLUMNS);
        putchar('\n');
    }
    printf("bytes     %zu\npayload   ", job->payload_size);
    htw__text_print(stdout, job->payload, job->payload_size, ALL_COLUMNS);
    putchar('\n');
}

static bool print_job(void *context, const struct htw_job_info *job) {
    const struct view *view = context;
    if (view->request->json) {
        write_job(job);
    } else if (view->request->payload) {
        fwrite(job->payload, 1, job->payload_size, stdout);
    } else {
        print_all(job);
    }
    return true;
}

int htw__journal_show(const struct htw__journal_request *request) {
    struct view view;
    bool success = begin(&view, request);
    for (size_t i = 0; i < request->id_count && view.journal != NULL; i++)
        success = htw__journal_succeeds(
                      htw_journal_peek(view.journal, request->ids[i], print_job, &view)) &&
                  success;
    return end(&view, success);
}

/* ---- stats */

static void print_numbers(struct view *view, const struct htw_queue_stats *stats) {
    struct htw__json *json = &view->json;
    if (view->request->json) {
        htw__json_begin(json, NULL, '{');
        htw__json_text(json, "queue", stats->name);
        htw__json_number(json, "delayed", stats->delayed);
        htw__json_number(json, "ready", stats->ready);
        htw__json_number(json, "leased", stats->leased);
        htw__json_number(json, "buried", stats->buried);
        htw__json_end(json, '}');
        return;
    }
    printf("%9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 "  ", stats->delayed, stats->ready,
           stats->leased, stats->buried);
    print_word(stats->name);
    putchar('\n');
}

static bool take_deadline(void *context, const struct htw_job_info *job) {
    int64_t *next_ns = context;
    if (job->deadline_ns < *next_ns)
        *next_ns = job->deadline_ns;
    return false;
}

/* When the next job is due. Returns an error of the journal. */
static int find_next(const struct view *view, const struct queues *queues, int64_t *ret_ns) {
    int got = 0;
    *ret_ns = HTW_NEVER_NS;
    for (size_t i = 0; i < queues->count && got >= 0; i++) {
        struct htw_list_place place = { { 0 } };
        got = htw_journal_list(view->journal, queues->of[i].stats.name, HTW_JOB_DELAYED, &place, 1,
                               take_deadline, ret_ns);
    }
    return got;
}

static void print_all_numbers(struct view *view, const struct queues *queues, uint64_t log_bytes,
                              int64_t next_ns) {
    char next[HTW__INSTANT_FORMAT_SIZE];
    uint64_t bytes = htw__journal_file_bytes(view->request->path);
    struct htw__json *json = &view->json;
    bool is_json = view->request->json;
    if (is_json) {
        htw__json_begin(json, NULL, '{');
        htw__json_begin(json, "queues", '[');
    } else {
        printf("%9s %9s %9s %9s  %s\n", "DELAYED", "READY", "LEASED", "BURIED", "QUEUE");
    }
    for (size_t i = 0; i < queues->count; i++)
        print_numbers(view, &queues->of[i].stats);
    if (is_json) {
        htw__json_end(json, ']');
        htw__json_instant(json, "next", next_ns, HTW_NEVER_NS);
        htw__json_number(json, "file_bytes", bytes);
        htw__json_number(json, "log_bytes", log_bytes);
        end_json(view);
    } else {
        printf("next   %s\nbytes  %" PRIu64 ", and %" PRIu64 " in the log\n",
               next_ns == HTW_NEVER_NS ? "-" : htw__instant_or_never(next_ns, next), bytes,
               log_bytes);
    }
}

int htw__journal_stats(const struct htw__journal_request *request) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    struct view view;
    struct queues queues = { .count = 0 };
    int64_t next_ns = HTW_NEVER_NS;
    bool success = begin(&view, request) && read_queues(&view, &queues) &&
                   htw__journal_succeeds(htw_journal_get_stats(view.journal, &stats)) &&
                   htw__journal_succeeds(find_next(&view, &queues, &next_ns));
    if (success)
        print_all_numbers(&view, &queues, stats.log_bytes, next_ns);
    free(queues.of);
    return end(&view, success);
}

/* ---- check */

struct problems {
    struct view view;
    uint64_t count;
};

static void print_problem(void *context, const char *text) {
    struct problems *problems = context;
    char visible[1024];
    bool is_cut;
    size_t size = htw__visible_format(text, strlen(text), visible, sizeof(visible), &is_cut);
    if (problems->view.request->json)
        htw__json_bytes(&problems->view.json, NULL, visible, size);
    else
        puts(visible);
    problems->count++;
}

int htw__journal_check(const struct htw__journal_request *request) {
    struct htw_journal_stats stats = HTW_JOURNAL_STATS_INIT;
    struct problems problems = { .count = 0 };
    struct view *view = &problems.view;
    bool is_open = begin(view, request);
    if (is_open && request->json) {
        htw__json_begin(&view->json, NULL, '{');
        htw__json_begin(&view->json, "problems", '[');
    }
    bool is_complete =
        is_open &&
        htw__journal_succeeds(htw_journal_check(view->journal, print_problem, &problems)) &&
        htw__journal_succeeds(htw_journal_get_stats(view->journal, &stats));
    uint64_t jobs = stats.jobs;
    bool is_good = is_complete && problems.count == 0;
    if (is_open && request->json) {
        htw__json_end(&view->json, ']');
        htw__json_bool(&view->json, "complete", is_complete);
        htw__json_number(&view->json, "jobs", jobs);
        end_json(view);
    } else if (is_good) {
        htw__terminal_print("%s: no problem found, %" PRIu64 " job%s", request->path, jobs,
                            jobs == 1 ? "" : "s");
    }
    return end(view, is_good);
}
