/* SPDX-License-Identifier: MIT */
/* page_change.c - changes of jobs and queues over HTTP. What is answered is durable. */
#include "page.h"

#include <errno.h>
#include <inttypes.h>

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
    if (ask->action == HTW__PAGE_BURY && refuse_leased(ask) != 0)
        return;
    int error = htw_journal_update(ask->page->journal, &update);
    if (error != 0)
        htw__page_fail(ask, error);
    else
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
    (void)htw_journal_get_queue(ask->page->journal, ask->queue, &stats);
    fprintf(ask->http->out, "{\"kicked\":%d,\"buried\":%" PRIu64 "}\n", kicked, stats.buried);
}

/* A queue that does not exist must not come into being by a mistake in its name. A RESUME is a pause until the past. */
void htw__page_pause(const struct htw__page_ask *ask) {
    struct htw_queue_stats stats = HTW_QUEUE_STATS_INIT;
    int error = htw_journal_get_queue(ask->page->journal, ask->queue, &stats);
    if (error == 0)
        error = htw_journal_pause(ask->page->journal, ask->queue, ask->until_ns);
    if (error != 0)
        htw__page_fail(ask, error);
    else
        fprintf(ask->http->out, "{\"done\":\"%s\"}\n",
                ask->action == HTW__PAGE_PAUSE ? "paused" : "resumed");
}
