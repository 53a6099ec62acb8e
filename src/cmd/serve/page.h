/* SPDX-License-Identifier: MIT */
/*
 * page.h - an open journal over HTTP: its queues and jobs as JSON, a page, and metrics. It uses the public calls of the journal alone.
 *
 * COST. An answer is bounded whatever the journal holds: lists come in pages; queues are passed once, and of them a page is kept; jobs are read SLICE at a time, and others may write between two slices.
 */
#ifndef HTW_SRC_CMD_SERVE_PAGE_H
#define HTW_SRC_CMD_SERVE_PAGE_H

#include "../http/server.h"

#include "numbers.h"

#include <htw/journal.h>

struct htw__page {
    struct htw_journal *journal;
    /* Called in any thread. NULL: nothing else is known. */
    void (*count)(void *context, struct htw__page_numbers *ret_numbers);
    void *context;
    const char *
        path; /* of the journal, resolved: its errors begin with it, and clients are not told; NULL: none */
};

/* Sets the routes, the page and what answers. `page` must stay. */
void htw__page_serve(const struct htw__page *page, struct htw__http_service *service);

/* ---- what its files share */

#define HTW__PAGE_SLICE 100

enum htw__page_action {
    HTW__PAGE_SHOW,
    HTW__PAGE_QUEUES,
    HTW__PAGE_QUEUE,
    HTW__PAGE_JOBS,
    HTW__PAGE_JOB,
    HTW__PAGE_TIMES,
    HTW__PAGE_METRICS,
    HTW__PAGE_LEASES,
    HTW__PAGE_CHANGES,
    HTW__PAGE_PUT,
    HTW__PAGE_KICK_JOB,
    HTW__PAGE_BURY,
    HTW__PAGE_MOVE,
    HTW__PAGE_DELETE,
    HTW__PAGE_KICK,
    HTW__PAGE_PAUSE,
    HTW__PAGE_RESUME
};

/* A request, with its parameters. */
struct htw__page_ask {
    const struct htw__page *page;
    struct htw__http_request *http;
    enum htw__page_action action;
    unsigned given;    /* the parameters that it has, as bits */
    const char *queue; /* NULL: the default queue */
    const char *text, *after, *key;
    uint32_t sort, state; /* enum htw__page_sort, enum htw_job_state */
    size_t limit;
    uint64_t id, count;
    bool has_priority;
    uint32_t priority;
    int64_t until_ns; /* or at */
};

enum htw__page_sort {
    HTW__SORT_NAME,
    HTW__SORT_DELAYED,
    HTW__SORT_READY,
    HTW__SORT_LEASED,
    HTW__SORT_BURIED,
    HTW__SORT_WAITING
};

/* Reads the parameters. False: it has refused the request. */
bool htw__page_read(struct htw__page_ask *ask);

/* Refuses the request because a call of the journal has failed. */
void htw__page_fail(const struct htw__page_ask *ask, int error);

void htw__page_queues(const struct htw__page_ask *ask);
void htw__page_queue(const struct htw__page_ask *ask);
void htw__page_metrics(const struct htw__page_ask *ask);
void htw__page_jobs(const struct htw__page_ask *ask);
void htw__page_job(const struct htw__page_ask *ask);
void htw__page_times(const struct htw__page_ask *ask);
void htw__page_leases(const struct htw__page_ask *ask);
void htw__page_put(const struct htw__page_ask *ask);
void htw__page_change(const struct htw__page_ask *ask); /* of a job */
void htw__page_kick(const struct htw__page_ask *ask);
void htw__page_pause(const struct htw__page_ask *ask); /* or resume */

/* Keeps that something was changed, of `id` or, if that is 0, of the queue, and prints a line. `count` 0: it has none. */
void htw__page_log(const struct htw__page_ask *ask, const char *done, uint64_t id, uint64_t count);
void htw__page_changes(const struct htw__page_ask *ask); /* what was kept */

#endif /* HTW_SRC_CMD_SERVE_PAGE_H */
