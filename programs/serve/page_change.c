/* SPDX-License-Identifier: MIT */
/* page_change.c - changes of jobs and queues over HTTP. What is answered is durable, and is a line of standard error, except what is put. */
#include "page.h"

#include "../kit/terminal.h"

#include <inttypes.h>
#include <string.h>

static void log_change(const struct htw__page_ask *ask, const char *done) {
    if (ask->id != 0)
        htw__terminal_error("%s job %" PRIu64, done, ask->id);
    else
        htw__terminal_error("%s queue %s", done, ask->queue == NULL ? "" : ask->queue);
}

static void answer_done(struct htw__page_ask *ask) {
    log_change(ask, ask->action->done);
    htw__json_begin(&ask->json, NULL, '{');
    if (ask->id != 0)
        htw__json_exact(&ask->json, "id", (int64_t)ask->id);
    htw__json_word(&ask->json, "done", ask->action->done);
    htw__json_end(&ask->json, '}');
}

static bool take_state(void *context, const struct htw_job_info *job) {
    *(enum htw_job_state *)context = job->state;
    return true;
}

int htw__page_put(struct htw__page_ask *ask) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct htw_job job = HTW_JOB_INIT;
    if (htw__server_numbers(ask->page->server).is_draining) {
        htw__http_refuse(ask->http, 409, "the server takes no more jobs: it is draining");
        return 0;
    }
    job.payload = ask->http->body;
    job.payload_size = ask->http->body_size;
    job.key = ask->key;
    job.key_size = ask->key == NULL ? 0 : strlen(ask->key);
    job.queue = ask->queue;
    job.priority = ask->priority;
    if (ask->until_ns != INT64_MIN)
        job.deadline_ns = ask->until_ns;
    change.jobs = &job;
    change.job_count = 1;
    int error = htw_journal_apply(ask->journal, &change);
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_exact(&ask->json, "put", (int64_t)job.id);
    htw__json_end(&ask->json, '}');
    return error;
}

/* A job that is leased is for its worker to end. BURY takes it in any state, so a lease that begins in between ends. */
int htw__page_change(struct htw__page_ask *ask) {
    enum htw_job_state state = HTW_JOB_DELAYED;
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = ask->id;
    update.step = ask->action->step;
    update.deadline_ns = ask->until_ns;
    update.has_priority = ask->has_priority;
    update.priority = ask->priority;
    int error = htw_journal_peek(ask->journal, ask->id, take_state, &state);
    if (error == 0 && state == HTW_JOB_LEASED) {
        htw__http_refuse(ask->http, 409, "the job is leased, so its worker has it");
        return 0;
    }
    if (error == 0)
        error = htw_journal_update(ask->journal, &update);
    if (error == 0)
        answer_done(ask);
    return error;
}

int htw__page_kick(struct htw__page_ask *ask) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int kicked = htw_journal_kick(ask->journal, ask->queue, (uint32_t)ask->count);
    if (kicked < 0)
        return kicked;
    if (kicked > 0)
        log_change(ask, "kicked");
    (void)htw_journal_get_queue(ask->journal, ask->queue, &stats);
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_number(&ask->json, "kicked", (uint64_t)kicked);
    htw__json_number(&ask->json, "buried", stats.buried);
    htw__json_end(&ask->json, '}');
    return 0;
}

/* A queue that does not exist must not come into being by a mistake in its name. A RESUME is a pause until the past. */
int htw__page_pause(struct htw__page_ask *ask) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int error = htw_journal_get_queue(ask->journal, ask->queue, &stats);
    if (error == 0)
        error = htw_journal_pause(ask->journal, ask->queue, ask->until_ns);
    if (error == 0)
        answer_done(ask);
    return error;
}
