/* SPDX-License-Identifier: MIT */
/*
 * page.h - an open journal over HTTP: its queues and jobs as JSON, a page, and metrics.
 *
 * COST. An answer is bounded whatever the journal holds: lists have at most `limit` members; queues are passed once, and of them
 * so many are kept; jobs are read some at a time, and others may write in between.
 */
#ifndef HTW_SERVE_PAGE_H
#define HTW_SERVE_PAGE_H

#include "../kit/http/server.h"
#include "../kit/json.h"
#include "server.h"

struct htw__http_page {
    struct htw__server *server;
    /* Of the journal, resolved: its errors begin with it, and clients are not told; NULL: none. */
    const char *path;
};

/* Sets the routes, the page and what answers. `page` must stay. */
void htw__page_serve(const struct htw__http_page *page, struct htw__http_service *service);

/* ---- what its files share */

/* A request, with its parameters. */
struct htw__page_ask {
    const struct htw__http_page *page;
    struct htw_journal *journal;
    struct htw__http_request *http;
    struct htw__json json; /* the answer */
    const struct htw__page_action *action;
    unsigned given;    /* the parameters that it has, as bits */
    const char *queue; /* NULL: the default queue */
    const char *text, *key;
    uint32_t sort, state; /* by HTW__PAGE_SORTS; enum htw_job_state */
    size_t limit;
    uint64_t id, count;
    bool has_priority;
    uint32_t priority;
    int64_t until_ns; /* or at */
};

#define HTW__PAGE_SORTS "name", "delayed", "ready", "leased", "buried", "waiting"

/* Answers, or refuses the request and returns 0, or returns an error of the journal. */
typedef int htw__page_answer(struct htw__page_ask *ask);

struct htw__page_action {
    struct htw__http_route route;
    htw__page_answer *answer; /* NULL: the page itself, and /health */
    unsigned allowed, needed; /* parameters, as bits */
    enum htw_job_step step;   /* of a change, */
    const char *done;         /* ... and what is answered */
};

htw__page_answer htw__page_queues, htw__page_queue, htw__page_metrics;
htw__page_answer htw__page_jobs, htw__page_job;
htw__page_answer htw__page_put, htw__page_change, htw__page_kick, htw__page_pause;

#endif /* HTW_SERVE_PAGE_H */
