/* SPDX-License-Identifier: MIT */
/* page_jobs.c - jobs of a journal over HTTP: the first ones of a queue in a state, all that are leased, and one job. */
#include "page.h"

#include "../kit/job.h"

#define SLICE 100u
#define PREVIEW_SIZE 200
#define SHOWN_SIZE 65536
#define LEASES_MAX 10000

/* ---- a list */

static bool write_job(void *context, const struct htw_job_info *job) {
    htw__job_write(context, job, PREVIEW_SIZE);
    return true;
}

/* Shows up to `limit` jobs of the queue. Returns how many, or an error. */
static int list_jobs(const struct htw__page_ask *ask, const char *queue, enum htw_job_state state,
                     size_t limit, htw_job_visit *visit, void *context) {
    struct htw_list_place place = { { 0 } };
    for (size_t shown = 0; shown < limit;) {
        uint32_t wanted = limit - shown < SLICE ? (uint32_t)(limit - shown) : SLICE;
        int got = htw_journal_list(ask->journal, queue, state, &place, wanted, visit, context);
        if (got < 0)
            return got;
        shown += (size_t)got;
        if ((uint32_t)got < wanted || htw__http_is_unwanted())
            return (int)shown;
    }
    return (int)limit;
}

int htw__page_jobs(struct htw__page_ask *ask) {
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_begin(&ask->json, "jobs", '[');
    int got = list_jobs(ask, ask->queue, (enum htw_job_state)ask->state, ask->limit, write_job,
                        &ask->json);
    htw__json_end(&ask->json, ']');
    htw__json_end(&ask->json, '}');
    return got < 0 ? got : 0;
}

/* ---- all that are leased */

static bool write_id(void *context, const struct htw_job_info *job) {
    htw__json_exact(context, NULL, (int64_t)job->id);
    return true;
}

/* How many, or an error. */
static int write_leases(struct htw__page_ask *ask, const struct htw__page_selection *queues) {
    int count = 0;
    for (size_t i = 0; i < queues->count && count >= 0 && count < LEASES_MAX; i++) {
        const struct htw__page_row *row = queues->order[i];
        if (row->of[HTW__SORT_LEASED] == 0)
            break;
        int got = list_jobs(ask, *row->name == '\0' ? NULL : row->name, HTW_JOB_LEASED,
                            (size_t)(LEASES_MAX - count), write_id, &ask->json);
        count = got < 0 ? got : count + got;
    }
    return count;
}

/* Of the queues with the most of them first. */
int htw__page_leases(struct htw__page_ask *ask) {
    struct htw__page_selection queues = { .sort = HTW__SORT_LEASED, .limit = LEASES_MAX };
    int count = htw__page_select(ask->journal, &queues);
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_begin(&ask->json, "leased", '[');
    if (count == 0)
        count = write_leases(ask, &queues);
    htw__json_end(&ask->json, ']');
    htw__json_bool(&ask->json, "more", count == LEASES_MAX);
    htw__json_end(&ask->json, '}');
    htw__page_end_selection(&queues);
    return count < 0 ? count : 0;
}

/* ---- one job */

static bool write_whole(void *context, const struct htw_job_info *job) {
    htw__job_write(context, job, SHOWN_SIZE);
    return true;
}

int htw__page_job(struct htw__page_ask *ask) {
    return htw_journal_peek(ask->journal, ask->id, write_whole, &ask->json);
}
