/* SPDX-License-Identifier: MIT */
/* page.c - an open journal over HTTP: which requests there are, with which parameters. */
#include "page.h"

#include "../../src/base/bitmap.h"
#include "../../src/base/clock.h"
#include "../kit/count.h"
#include "../kit/times.h"
#include "../kit/job.h"
#include "../kit/page_parts.h"

#include <errno.h>
#include <string.h>

#define LIMIT_DEFAULT 50
#define AT_ONCE 4

/* The parameters, by their bits. */
static const char *const names[] = { "queue", "text", "sort",  "limit", "state",
                                     "count", "at",   "until", "key",   "priority" };
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

#define GET(path, right) \
    { "GET", path, right, 0, false }
#define POST(path, takes_payload) \
    { "POST", path, HTW__HTTP_CHANGE, 0, takes_payload }

static const struct htw__page_action actions[] = {
    { GET("/health", HTW__HTTP_HEALTH), .answer = NULL },
    { GET("/", HTW__HTTP_PAGE), .answer = NULL },
    { GET("/queues", HTW__HTTP_READ), htw__page_queues, .allowed = TEXT | SORT | LIMIT },
    { GET("/queue", HTW__HTTP_READ), htw__page_queue, .allowed = QUEUE },
    { POST("/queue/kick", false), htw__page_kick, QUEUE | COUNT, .needed = COUNT },
    { POST("/queue/pause", false), htw__page_pause, QUEUE | UNTIL, UNTIL, .done = "paused" },
    { POST("/queue/resume", false), htw__page_pause, QUEUE, .done = "resumed" },
    { GET("/jobs", HTW__HTTP_READ), htw__page_jobs, QUEUE | STATE | LIMIT, .needed = STATE },
    { POST("/jobs", true), htw__page_put, .allowed = QUEUE | AT | KEY | PRIORITY },
    { POST("/jobs/*/kick", false), htw__page_change, 0, 0, HTW_JOB_KICK, "kicked" },
    { POST("/jobs/*/bury", false), htw__page_change, 0, 0, HTW_JOB_BURY, "buried" },
    { POST("/jobs/*/move", false), htw__page_change, AT | PRIORITY, AT, HTW_JOB_MOVE, "moved" },
    { POST("/jobs/*/delete", false), htw__page_change, 0, 0, HTW_JOB_CANCEL, "deleted" },
    { GET("/jobs/*", HTW__HTTP_READ), .answer = htw__page_job },
    { GET("/metrics", HTW__HTTP_READ), .answer = htw__page_metrics },
};
enum { ACTIONS = sizeof(actions) / sizeof(*actions) };
static struct htw__http_route routes[ACTIONS]; /* those of the actions */

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
    struct htw__page_ask *ask = context;
    uint32_t number;
    if (set_word(&number, names, sizeof(names) / sizeof(*names), name, name) != NULL ||
        (ask->action->allowed & 1U << number) == 0)
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
    unsigned missing = ask->action->needed & ~ask->given;
    char why[32];
    if (missing == 0)
        return true;
    snprintf(why, sizeof(why), "%s is missing", names[htw__lowest_bit(missing)]);
    htw__http_refuse(ask->http, 400, why);
    return false;
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
    const struct htw__http_page *page = context;
    struct htw__page_ask ask = { .page = page,
                                 .journal = page->server->journal,
                                 .http = http,
                                 .json = { .out = http->out },
                                 .action = &actions[http->target->route - routes],
                                 .until_ns = INT64_MIN,
                                 .limit = LIMIT_DEFAULT };
    if (!read_parameters(&ask))
        return;
    int error = ask.action->answer(&ask);
    if (error != 0)
        fail(&ask, error);
    else if (ask.json.needs_comma) /* the metrics have their own end */
        putc('\n', http->out);
}

void htw__page_serve(const struct htw__http_page *page, struct htw__http_service *service) {
    for (size_t i = 0; i < ACTIONS; i++)
        routes[i] = actions[i].route;
    service->routes =
        (struct htw__http_routes) { routes, ACTIONS,
                                    "there are /, /queues, /queue, /jobs, /jobs/ID and /metrics" };
    service->page = htw__page_before;
    service->at_once = AT_ONCE;
    service->answer = answer;
    service->context = (void *)(uintptr_t)page;
}
