/* SPDX-License-Identifier: MIT */
/* page_change.c - changes of jobs and queues over HTTP. What is answered is durable, and is in the log, except what is put. */
#include "page.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

static bool take_state(void *context, const struct htw_job_info *job) {
    *(enum htw_job_state *)context = job->state;
    return true;
}

/* A job that is leased is for its worker to end. BURY takes it in any state, so a lease that begins in between ends. */
static int refuse_leased(const struct htw__page_ask *ask) {
    enum htw_job_state state = HTW_JOB_DELAYED;
    int error = htw_journal_peek(ask->page->journal, ask->id, take_state, &state);
    if (error == 0 && state == HTW_JOB_LEASED) {
        htw__http_refuse(ask->http, 409, "the job is leased, so its worker has it");
        return -EALREADY;
    }
    if (error != 0)
        htw__page_fail(ask, error);
    return error;
}

static bool is_draining(const struct htw__page *page) {
    struct htw__page_numbers numbers = { .is_draining = false };
    if (page->count != NULL)
        page->count(page->context, &numbers);
    return numbers.is_draining;
}

void htw__page_put(const struct htw__page_ask *ask) {
    struct htw_journal_change change = HTW_JOURNAL_CHANGE_INIT;
    struct htw_job job = HTW_JOB_INIT;
    if (is_draining(ask->page)) {
        htw__http_refuse(ask->http, 409, "the server takes no more jobs: it is draining");
        return;
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
    int error = htw_journal_apply(ask->page->journal, &change);
    if (error != 0)
        htw__page_fail(ask, error);
    else
        fprintf(ask->http->out, "{\"put\":\"%" PRIu64 "\"}\n", job.id);
}

void htw__page_change(const struct htw__page_ask *ask) {
    static const struct {
        enum htw_job_step step;
        const char *done;
    } changes[] = {
        [HTW__PAGE_KICK_JOB] = { HTW_JOB_KICK, "kicked" },
        [HTW__PAGE_BURY] = { HTW_JOB_BURY, "buried" },
        [HTW__PAGE_MOVE] = { HTW_JOB_MOVE, "moved" },
        [HTW__PAGE_DELETE] = { HTW_JOB_CANCEL, "deleted" },
    };
    struct htw_job_update update = HTW_JOB_UPDATE_INIT;
    update.id = ask->id;
    update.step = changes[ask->action].step;
    update.deadline_ns = ask->until_ns;
    update.has_priority = ask->has_priority;
    update.priority = ask->priority;
    if (refuse_leased(ask) != 0)
        return;
    int error = htw_journal_update(ask->page->journal, &update);
    if (error != 0) {
        htw__page_fail(ask, error);
        return;
    }
    htw__page_log(ask, changes[ask->action].done, ask->id, 0);
    fprintf(ask->http->out, "{\"id\":\"%" PRIu64 "\",\"done\":\"%s\"}\n", ask->id,
            changes[ask->action].done);
}

void htw__page_kick(const struct htw__page_ask *ask) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int kicked = htw_journal_kick(ask->page->journal, ask->queue, (uint32_t)ask->count);
    if (kicked < 0) {
        htw__page_fail(ask, kicked);
        return;
    }
    if (kicked > 0)
        htw__page_log(ask, "kicked", 0, (uint64_t)kicked);
    (void)htw_journal_get_queue(ask->page->journal, ask->queue, &stats);
    fprintf(ask->http->out, "{\"kicked\":%d,\"buried\":%" PRIu64 "}\n", kicked, stats.buried);
}

/* A queue that does not exist must not come into being by a mistake in its name. A RESUME is a pause until the past. */
void htw__page_pause(const struct htw__page_ask *ask) {
    const char *done = ask->action == HTW__PAGE_PAUSE ? "paused" : "resumed";
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int error = htw_journal_get_queue(ask->page->journal, ask->queue, &stats);
    if (error == 0)
        error = htw_journal_pause(ask->page->journal, ask->queue, ask->until_ns);
    if (error != 0) {
        htw__page_fail(ask, error);
        return;
    }
    htw__page_log(ask, done, 0, 0);
    fprintf(ask->http->out, "{\"done\":\"%s\"}\n", done);
}
