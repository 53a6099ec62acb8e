/* SPDX-License-Identifier: MIT */
/* look.c - commands that look at jobs or tubes: what a reader does for them. */
#include "look.h"

#include "reader.h"
#include "tube.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Jobs with a smaller priority are urgent, and so many of them are counted. */
#define URGENT_BELOW 1024u
#define URGENT_COUNTED 1024u

/* ---- one job */

static bool keep(void *context, const struct htw_job_info *info) {
    struct htw__operation *operation = context;
    operation->found = htw__found_copy(info);
    return true;
}

void htw__look_at_job(struct htw__operation *operation) {
    int result = htw_journal_peek(operation->server->journal, operation->id, keep, operation);
    htw__reader_post(operation, result == 0 && operation->found == NULL ? -ENOMEM : result);
}

void htw__look_at_first(struct htw__operation *operation) {
    struct htw_list_place place = { { 0 } };
    enum htw_job_state state = operation->verb == HTW__VERB_PEEK_READY     ? HTW_JOB_READY
                               : operation->verb == HTW__VERB_PEEK_DELAYED ? HTW_JOB_DELAYED
                                                                           : HTW_JOB_BURIED;
    int result = htw_journal_list(operation->server->journal, operation->tube->name, state, &place,
                                  1, keep, operation);
    htw__reader_post(operation, result < 0                 ? result
                                : result == 0              ? -ENOENT
                                : operation->found == NULL ? -ENOMEM
                                                           : 0);
}

static bool keep_tube(void *context, const struct htw_job_info *info) {
    struct htw_job_info without_body = *info;
    without_body.payload_size = 0;
    return keep(context, &without_body);
}

/* The job is looked at first: its tube counts that. */
void htw__look_and_cancel(struct htw__operation *operation) {
    struct htw_journal *journal = operation->server->journal;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = operation->id;
    update.step = HTW_JOB_CANCEL;
    int result = htw_journal_peek(journal, operation->id, keep_tube, operation);
    if (result == 0)
        result = htw_journal_update_later(journal, &update, htw__operation_post, operation);
    if (result != 0)
        htw__operation_post(operation, result);
}

/* ---- the queues */

struct survey {
    struct htw__operation *operation;
    struct htw__buffer names; /* of the tubes that are in use, each with its NUL */
    const char **in_use;      /* these, in order */
    size_t count;
};

static int compare(const void *a, const void *b) {
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static bool sort(struct survey *survey) {
    const char *name = survey->names.bytes, *end = name + survey->names.size;
    survey->in_use = calloc(survey->names.size / 2 + 1, sizeof(*survey->in_use));
    if (survey->in_use == NULL)
        return false;
    for (; name < end; name += strlen(name) + 1)
        survey->in_use[survey->count++] = name;
    qsort(survey->in_use, survey->count, sizeof(*survey->in_use), compare);
    return true;
}

static void add_item(struct htw__operation *operation, const char *name) {
    if (operation->verb == HTW__VERB_LIST_TUBES)
        htw__buffer_print(&operation->tubes, "- %s\n", name);
    operation->tube_count++;
}

static bool add_queue(void *context, const struct htw_queue_stats *stats) {
    struct survey *survey = context;
    struct htw__operation *operation = survey->operation;
    if (stats->name == NULL) /* no tube has this name */
        return true;
    operation->sum.delayed += stats->delayed;
    operation->sum.ready += stats->ready;
    operation->sum.leased += stats->leased;
    operation->sum.buried += stats->buried;
    if (operation->verb == HTW__VERB_STATS && stats->ready > 0)
        htw__buffer_append(&operation->tubes, stats->name, strlen(stats->name) + 1);
    if (bsearch(&stats->name, survey->in_use, survey->count, sizeof(*survey->in_use), compare) ==
        NULL)
        add_item(operation, stats->name);
    return !operation->tubes.failed;
}

/* ---- urgent jobs */

static bool is_urgent(void *context, const struct htw_job_info *info) {
    struct htw__operation *operation = context;
    operation->urgent += info->priority < URGENT_BELOW;
    return info->priority < URGENT_BELOW;
}

/* 0 or an error. */
static int count_urgent_of(struct htw__operation *operation, const char *tube) {
    struct htw_list_place place = { { 0 } };
    if (operation->urgent >= URGENT_COUNTED)
        return 0;
    int result =
        htw_journal_list(operation->server->journal, tube, HTW_JOB_READY, &place,
                         (uint32_t)(URGENT_COUNTED - operation->urgent), is_urgent, operation);
    return result < 0 ? result : 0;
}

static int count_urgent(struct htw__operation *operation) {
    const struct htw__buffer *tubes = &operation->tubes;
    int result = 0;
    for (size_t at = 0; at < tubes->size && result == 0; at += strlen(tubes->bytes + at) + 1)
        result = count_urgent_of(operation, tubes->bytes + at);
    return result;
}

void htw__look_at_tube(struct htw__operation *operation) {
    htw__operation_post(operation, count_urgent(operation));
}

/* ---- all */

void htw__look_at_all(struct htw__operation *operation) {
    struct survey survey = { .operation = operation, .names = operation->tubes };
    operation->tubes = (struct htw__buffer) { .bytes = NULL };
    int result = sort(&survey) ? 0 : -ENOMEM;
    for (size_t i = 0; i < survey.count && result == 0; i++)
        add_item(operation, survey.in_use[i]);
    if (result == 0)
        result = htw_journal_list_queues(operation->server->journal, add_queue, &survey);
    if (operation->tubes.failed)
        result = -ENOMEM;
    free(survey.in_use);
    htw__buffer_fini(&survey.names);
    if (result == 0 && operation->verb == HTW__VERB_STATS)
        result = count_urgent(operation);
    htw__operation_post(operation, result);
}

/* ---- in the loop */

static void begin_look(void *arg, int result) {
    struct htw__operation *operation = arg;
    if (result == 0)
        result = htw__reader_add(operation);
    if (result != 0)
        htw__operation_post(operation, result);
}

/* What this connection has changed was answered, so it is in the file. Jobs that the server gives back by itself are
   answered to no client: where some are under way, the look begins behind them. */
bool htw__look(struct htw__operation *operation, htw__look_fn *read) {
    const struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;
    struct htw__server *server = operation->server;
    bool is_of_tubes = read == htw__look_at_tube || read == htw__look_at_all;
    operation->reader = is_of_tubes ? &server->of_tubes : &server->of_jobs;
    operation->read = read;
    if (read == htw__look_at_all)
        htw__tubes_in_use(server, &operation->tubes);
    if (operation->tubes.failed)
        return htw__operation_is_under_way(operation, -ENOMEM);
    /* order: Where it is 0, the commits of the jobs that were given back come before the snapshot of
       the look. [relaxed: not played, as a scene has no server] */
    return htw__operation_is_under_way(
        operation, atomic_load_explicit(&server->given_back, memory_order_acquire) == 0
                       ? htw__reader_add(operation)
                       : htw_journal_apply_later(server->journal, &nothing, begin_look, operation));
}
