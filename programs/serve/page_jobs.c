/* SPDX-License-Identifier: MIT */
/* page_jobs.c - jobs of a journal over HTTP: the first ones of a queue in a state, and one job. */
#include "page.h"

#include "../kit/job.h"

#define PREVIEW_SIZE 200
#define SHOWN_SIZE 65536

static bool write_job(void *context, const struct htw_job_info *job) {
    htw__job_write(context, job, PREVIEW_SIZE);
    return true;
}

int htw__page_jobs(struct htw__page_ask *ask) {
    struct htw_list_place place = { { 0 } };
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_begin(&ask->json, "jobs", '[');
    int result = htw_journal_list(ask->journal, ask->queue, (enum htw_job_state)ask->state, &place,
                                  (uint32_t)ask->limit, write_job, &ask->json);
    htw__json_end(&ask->json, ']');
    htw__json_end(&ask->json, '}');
    return result < 0 ? result : 0;
}

static bool write_whole(void *context, const struct htw_job_info *job) {
    htw__job_write(context, job, SHOWN_SIZE);
    return true;
}

int htw__page_job(struct htw__page_ask *ask) {
    return htw_journal_peek(ask->journal, ask->id, write_whole, &ask->json);
}
