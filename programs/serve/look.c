/* SPDX-License-Identifier: MIT */
/* look.c - commands that look at jobs or tubes: what a reader does for them. */
#include "look.h"

#include "reader.h"
#include "survey.h"
#include "tube.h"

#include <errno.h>

/* ---- in a reader */

static bool keep(void *context, const struct htw_job_info *info) {
    struct htw__operation *operation = context;
    operation->found = htw__found_copy(info);
    return true;
}

static void peek(struct htw__operation *operation) {
    int result = htw_journal_peek(operation->server->journal, operation->id, keep, operation);
    htw__reader_post(operation, result == 0 && operation->found == NULL ? -ENOMEM : result);
}

static void peek_first(struct htw__operation *operation) {
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

static void end_cancel(void *arg, int result) {
    htw__operation_post(arg, result);
}

/* The job is looked at first: its tube counts that. */
static void cancel(struct htw__operation *operation) {
    struct htw_journal *journal = operation->server->journal;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = operation->id;
    update.step = HTW_JOB_CANCEL;
    int result = htw_journal_peek(journal, operation->id, keep_tube, operation);
    if (result == 0)
        result = htw_journal_update_later(journal, &update, end_cancel, operation);
    if (result != 0)
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

static const struct {
    void (*read)(struct htw__operation *operation);
    bool is_of_tubes;
} looks[HTW__VERBS] = {
    [HTW__VERB_PEEK] = { peek, false },
    [HTW__VERB_PEEK_READY] = { peek_first, false },
    [HTW__VERB_PEEK_DELAYED] = { peek_first, false },
    [HTW__VERB_PEEK_BURIED] = { peek_first, false },
    [HTW__VERB_STATS_JOB] = { peek, false },
    [HTW__VERB_DELETE] = { cancel, false },
    [HTW__VERB_STATS_TUBE] = { htw__survey_read_tube, true },
    [HTW__VERB_STATS] = { htw__survey_read, true },
    [HTW__VERB_LIST_TUBES] = { htw__survey_read, true },
};

/* What this connection has changed was answered, so it is in the file. Jobs that the server gives back by itself are
   answered to nobody: where some are under way, the look begins behind them. */
bool htw__look(struct htw__operation *operation) {
    const struct htw_journal_change nothing = HTW_JOURNAL_CHANGE_INIT;
    struct htw__server *server = operation->server;
    operation->reader = looks[operation->verb].is_of_tubes ? &server->of_tubes : &server->of_jobs;
    operation->read = looks[operation->verb].read;
    /* order: Where it is 0, the commits of the jobs that were given back come before the snapshot of
       the look. [relaxed: not played, as a scene has no server] */
    return htw__operation_is_under_way(
        operation, atomic_load_explicit(&server->given_back, memory_order_acquire) == 0
                       ? htw__reader_add(operation)
                       : htw_journal_apply_later(server->journal, &nothing, begin_look, operation));
}
