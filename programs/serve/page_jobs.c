/* SPDX-License-Identifier: MIT */
/* page_jobs.c - jobs of a journal over HTTP: the first ones of a queue in a state, and one job. */
#include "page.h"

#include "../kit/job.h"

#define SLICE 100u
#define PREVIEW_SIZE 200
#define SHOWN_SIZE 65536

static bool write_job(void *context, const struct htw_job_info *job) {
    htw__job_write(context, job, PREVIEW_SIZE);
    return true;
}

/* Shows up to `limit` jobs of the queue. Returns 0 or an error. */
static int list_jobs(struct htw__page_ask *ask) {
    struct htw_list_place place = { { 0 } };
    for (size_t left = ask->limit, got = SLICE; left > 0 && got == SLICE; left -= got) {
        uint32_t wanted = left < SLICE ? (uint32_t)left : SLICE;
        int result = htw_journal_list(ask->journal, ask->queue, (enum htw_job_state)ask->state,
                                      &place, wanted, write_job, &ask->json);
        if (result < 0 || htw__http_is_unwanted())
            return result < 0 ? result : 0;
        got = (size_t)result;
    }
    return 0;
}

int htw__page_jobs(struct htw__page_ask *ask) {
    htw__json_begin(&ask->json, NULL, '{');
    htw__json_begin(&ask->json, "jobs", '[');
    int error = list_jobs(ask);
    htw__json_end(&ask->json, ']');
    htw__json_end(&ask->json, '}');
    return error;
}

static bool write_whole(void *context, const struct htw_job_info *job) {
    htw__job_write(context, job, SHOWN_SIZE);
    return true;
}

int htw__page_job(struct htw__page_ask *ask) {
    return htw_journal_peek(ask->journal, ask->id, write_whole, &ask->json);
}
