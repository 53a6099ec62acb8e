/* SPDX-License-Identifier: MIT */
/* page.c - an open journal over HTTP: which requests there are, with which parameters. */
#include "page.h"

#include "../../src/base/clock.h"
#include "../kit/count.h"
#include "../kit/times.h"
#include "../kit/job.h"
#include "../kit/page_parts.h"

#include <errno.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define AT_ONCE 4

static const struct htw__http_route routes[] = {
    { "GET", "/health", HTW__HTTP_HEALTH, HTW__PAGE_NONE, false },
    { "GET", "/", HTW__HTTP_PAGE, HTW__PAGE_NONE, false },
    { "GET", "/queues", HTW__HTTP_READ, HTW__PAGE_QUEUES, false },
    { "GET", "/queue", HTW__HTTP_READ, HTW__PAGE_QUEUE, false },
    { "POST", "/queue/kick", HTW__HTTP_CHANGE, HTW__PAGE_KICK, false },
    { "POST", "/queue/pause", HTW__HTTP_CHANGE, HTW__PAGE_PAUSE, false },
    { "POST", "/queue/resume", HTW__HTTP_CHANGE, HTW__PAGE_RESUME, false },
    { "GET", "/jobs", HTW__HTTP_READ, HTW__PAGE_JOBS, false },
    { "POST", "/jobs", HTW__HTTP_CHANGE, HTW__PAGE_PUT, true },
    { "POST", "/jobs/*/kick", HTW__HTTP_CHANGE, HTW__PAGE_KICK_JOB, false },
    { "POST", "/jobs/*/bury", HTW__HTTP_CHANGE, HTW__PAGE_BURY, false },
    { "POST", "/jobs/*/move", HTW__HTTP_CHANGE, HTW__PAGE_MOVE, false },
    { "POST", "/jobs/*/delete", HTW__HTTP_CHANGE, HTW__PAGE_DELETE, false },
    { "GET", "/jobs/*", HTW__HTTP_READ, HTW__PAGE_JOB, false },
    { "GET", "/metrics", HTW__HTTP_READ, HTW__PAGE_METRICS, false },
};

enum parameter {
    QUEUE = 1,
    TEXT = 2,
    SORT = 4,
    LIMIT = 8,
    STATE = 16,
    COUNT = 32,
    AT = 64,
    UNTIL = 128,
    KEY = 256,
    PRIORITY = 512
};

static const struct {
    htw__page_answer *answer;
    unsigned allowed, needed; /* parameters */
} actions[] = {
    [HTW__PAGE_QUEUES] = { htw__page_queues, TEXT | SORT | LIMIT, 0 },
    [HTW__PAGE_QUEUE] = { htw__page_queue, QUEUE, 0 },
    [HTW__PAGE_JOBS] = { htw__page_jobs, QUEUE | STATE | LIMIT, STATE },
    [HTW__PAGE_JOB] = { htw__page_job, 0, 0 },
    [HTW__PAGE_METRICS] = { htw__page_metrics, 0, 0 },
    [HTW__PAGE_PUT] = { htw__page_put, QUEUE | AT | KEY | PRIORITY, 0 },
    [HTW__PAGE_KICK_JOB] = { htw__page_change, 0, 0 },
    [HTW__PAGE_BURY] = { htw__page_change, 0, 0 },
    [HTW__PAGE_MOVE] = { htw__page_change, AT | PRIORITY, AT },
    [HTW__PAGE_DELETE] = { htw__page_change, 0, 0 },
    [HTW__PAGE_KICK] = { htw__page_kick, QUEUE | COUNT, COUNT },
    [HTW__PAGE_PAUSE] = { htw__page_pause, QUEUE | UNTIL, UNTIL },
    [HTW__PAGE_RESUME] = { htw__page_pause, QUEUE, 0 },
};

/* ---- parameters */

static const char *set_word(uint32_t *word, const char *const *words, size_t count,
                            const char *value, const char *why) {
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(words[i], value) != 0)
            continue;
        *word = i;
        return NULL;
    }
    return why;
}

static const char *set_queue(struct htw__page_ask *ask, const char *value) {
    ask->queue = *value == '\0' ? NULL : value;
    return strlen(value) > HTW_QUEUE_NAME_MAX ? "queue: a name has up to 255 bytes" : NULL;
}

static const char *set_count(struct htw__page_ask *ask, const char *value) {
    return htw__count_parse(value, &ask->count) && ask->count > 0 && ask->count <= HTW_KICK_MAX
               ? NULL
               : "count: not a number from 1 to 65536";
}

static const char *set_priority(struct htw__page_ask *ask, const char *value) {
    uint64_t priority;
    if (!htw__count_parse(value, &priority) || priority > UINT32_MAX)
        return "priority: not a number from 0 to 4294967295";
    ask->priority = (uint32_t)priority;
    ask->has_priority = true;
    return NULL;
}

static const char *set_instant(struct htw__page_ask *ask, const char *value, const char *why) {
    return htw__instant_parse_after(value, htw__clock_realtime_ns(), &ask->until_ns) == NULL ? NULL
                                                                                             : why;
}

static const char *set_value(struct htw__page_ask *ask, unsigned parameter, const char *value) {
    static const char *const states[] = { HTW__JOB_STATES };
    static const char *const sorts[] = { HTW__PAGE_SORTS };
    switch (parameter) {
    case QUEUE:
        return set_queue(ask, value);
    case SORT:
        return set_word(&ask->sort, sorts, sizeof(sorts) / sizeof(*sorts), value,
                        "sort: name, delayed, ready, leased, buried or waiting");
    case STATE:
        return set_word(&ask->state, states, sizeof(states) / sizeof(*states), value,
                        "state: delayed, ready, leased or buried");
    case LIMIT:
        return htw__http_set_limit(&ask->limit, value);
    case COUNT:
        return set_count(ask, value);
    case AT:
        return set_instant(ask, value, "at: neither an instant nor +DURATION (in a URL %2B1h)");
    case UNTIL:
        return set_instant(ask, value, "until: neither an instant nor +DURATION (in a URL %2B1h)");
    case PRIORITY:
        return set_priority(ask, value);
    case KEY:
        ask->key = value;
        return NULL;
    default: /* TEXT */
        ask->text = value;
        return NULL;
    }
}

static const char *set(void *context, const char *name, const char *value) {
    static const char *const names[] = { "queue", "text", "sort",  "limit", "state",
                                         "count", "at",   "until", "key",   "priority" };
    struct htw__page_ask *ask = context;
    uint32_t number;
    if (set_word(&number, names, sizeof(names) / sizeof(*names), name, name) != NULL ||
        (actions[ask->action].allowed & 1U << number) == 0)
        return "there is no such parameter here";
    ask->given |= 1U << number;
    return set_value(ask, 1U << number, value);
}

/* Without a name there is nothing to read. */
static bool read_id(struct htw__page_ask *ask) {
    const struct htw__http_target *target = ask->http->target;
    char digits[24] = "";
    if (target->name == NULL)
        return true;
    if (target->name_size < sizeof(digits))
        memcpy(digits, target->name, target->name_size);
    if (htw__count_parse(digits, &ask->id))
        return true;
    htw__http_refuse(ask->http, 404, "the id of a job is a number");
    return false;
}

/* False: it has refused the request. */
static bool read_parameters(struct htw__page_ask *ask) {
    if (!read_id(ask) || !htw__http_read(ask->http, set, ask))
        return false;
    unsigned missing = actions[ask->action].needed & ~ask->given;
    if (missing != 0)
        htw__http_refuse(ask->http, 400,
                         missing == STATE   ? "state is missing"
                         : missing == COUNT ? "count is missing"
                         : missing == AT    ? "at is missing"
                                            : "until is missing");
    return missing == 0;
}

/* ---- answers */

/* A call of the journal has failed. */
static void fail(const struct htw__page_ask *ask, int error) {
    static const struct {
        int error;
        unsigned status;
    } statuses[] = {
        { -ENOENT, 404 }, { -EALREADY, 409 },  { -ESTALE, 409 }, { -EINVAL, 400 }, { -EAGAIN, 503 },
        { -EBUSY, 503 },  { -ESHUTDOWN, 503 }, { -ENOMEM, 503 }, { -ENOSPC, 507 },
    };
    unsigned status = 500;
    for (size_t i = 0; i < sizeof(statuses) / sizeof(*statuses); i++)
        if (statuses[i].error == error)
            status = statuses[i].status;
    const char *why = htw_journal_error(), *path = ask->page->path;
    size_t size = path == NULL ? 0 : strlen(path);
    if (size > 0 && strncmp(why, path, size) == 0 && strncmp(why + size, ": ", 2) == 0)
        why += size + 2;
    htw__http_refuse(ask->http, status, *why != '\0' ? why : strerror(-error));
}

static void answer(void *context, struct htw__http_request *http) {
    const struct htw__page *page = context;
    struct htw__page_ask ask = { .page = page,
                                 .journal = page->server->journal,
                                 .http = http,
                                 .json = { .out = http->out },
                                 .action = (enum htw__page_action)http->target->route->action,
                                 .until_ns = INT64_MIN,
                                 .limit = LIMIT_DEFAULT };
    if (!read_parameters(&ask))
        return;
    int error = actions[ask.action].answer(&ask);
    if (error != 0)
        fail(&ask, error);
    else if (ask.json.needs_comma) /* the metrics have their own end */
        putc('\n', http->out);
}

void htw__page_serve(const struct htw__page *page, struct htw__http_service *service) {
    service->routes =
        (struct htw__http_routes) { routes, sizeof(routes) / sizeof(*routes),
                                    "there are /, /queues, /queue, /jobs, /jobs/ID and /metrics" };
    service->page = htw__page_before;
    service->at_once = AT_ONCE;
    service->answer = answer;
    service->context = (void *)(uintptr_t)page;
}
