/* SPDX-License-Identifier: MIT */
/* page.c - an open journal over HTTP: which requests there are. */
#include "page.h"

#include "../page_parts.h"

#define LIMIT 50
#define AT_ONCE 4

static const struct htw__http_route routes[] = {
    { "GET", "/health", HTW__HTTP_HEALTH, HTW__PAGE_SHOW, NULL },
    { "GET", "/", HTW__HTTP_PAGE, HTW__PAGE_SHOW, NULL },
    { "GET", "/queues", HTW__HTTP_READ, HTW__PAGE_QUEUES, NULL },
    { "GET", "/queue", HTW__HTTP_READ, HTW__PAGE_QUEUE, NULL },
    { "GET", "/queue/times", HTW__HTTP_READ, HTW__PAGE_TIMES, NULL },
    { "POST", "/queue/kick", HTW__HTTP_CHANGE, HTW__PAGE_KICK, NULL },
    { "POST", "/queue/pause", HTW__HTTP_CHANGE, HTW__PAGE_PAUSE, NULL },
    { "POST", "/queue/resume", HTW__HTTP_CHANGE, HTW__PAGE_RESUME, NULL },
    { "GET", "/jobs", HTW__HTTP_READ, HTW__PAGE_JOBS, NULL },
    { "POST", "/jobs", HTW__HTTP_CHANGE, HTW__PAGE_PUT, "" },
    { "POST", "/jobs/*/kick", HTW__HTTP_CHANGE, HTW__PAGE_KICK_JOB, NULL },
    { "POST", "/jobs/*/bury", HTW__HTTP_CHANGE, HTW__PAGE_BURY, NULL },
    { "POST", "/jobs/*/move", HTW__HTTP_CHANGE, HTW__PAGE_MOVE, NULL },
    { "POST", "/jobs/*/delete", HTW__HTTP_CHANGE, HTW__PAGE_DELETE, NULL },
    { "GET", "/jobs/*", HTW__HTTP_READ, HTW__PAGE_JOB, NULL },
    { "GET", "/leases", HTW__HTTP_READ, HTW__PAGE_LEASES, NULL },
    { "GET", "/changes", HTW__HTTP_READ, HTW__PAGE_CHANGES, NULL },
    { "GET", "/metrics", HTW__HTTP_READ, HTW__PAGE_METRICS, NULL },
};

static void answer(void *context, struct htw__http_request *http) {
    static void (*const answers[])(const struct htw__page_ask *) = {
        [HTW__PAGE_QUEUES] = htw__page_queues,   [HTW__PAGE_QUEUE] = htw__page_queue,
        [HTW__PAGE_JOBS] = htw__page_jobs,       [HTW__PAGE_JOB] = htw__page_job,
        [HTW__PAGE_TIMES] = htw__page_times,     [HTW__PAGE_METRICS] = htw__page_metrics,
        [HTW__PAGE_KICK_JOB] = htw__page_change, [HTW__PAGE_BURY] = htw__page_change,
        [HTW__PAGE_MOVE] = htw__page_change,     [HTW__PAGE_DELETE] = htw__page_change,
        [HTW__PAGE_KICK] = htw__page_kick,       [HTW__PAGE_PAUSE] = htw__page_pause,
        [HTW__PAGE_RESUME] = htw__page_pause,    [HTW__PAGE_PUT] = htw__page_put,
        [HTW__PAGE_LEASES] = htw__page_leases,   [HTW__PAGE_CHANGES] = htw__page_changes,
    };
    struct htw__page_ask ask = { .page = context,
                                 .http = http,
                                 .action = (enum htw__page_action)http->target->route->action,
                                 .until_ns = INT64_MIN,
                                 .limit = LIMIT };
    if (htw__page_read(&ask))
        answers[ask.action](&ask);
}

void htw__page_serve(const struct htw__page *page, struct htw__http_service *service) {
    service->routes = (struct htw__http_routes) {
        routes, sizeof(routes) / sizeof(*routes),
        "there are /, /queues, /queue, /queue/times, /jobs, /jobs/ID, /leases, /changes and /metrics"
    };
    service->page = htw__page_parts[0].text;
    service->at_once = AT_ONCE;
    service->answer = answer;
    service->context = (void *)(uintptr_t)page;
}
