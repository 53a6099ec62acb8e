/* SPDX-License-Identifier: MIT */
/* page_ask.c - the parameters of requests to a journal over HTTP, and its errors as answers. */
#include "page.h"

#include "../../base/clock.h"
#include "../count.h"
#include "../instant.h"
#include "../job.h"

#include <errno.h>
#include <string.h>

enum parameter {
    QUEUE = 1,
    TEXT = 2,
    SORT = 4,
    AFTER = 8,
    LIMIT_BIT = 16,
    STATE = 32,
    COUNT = 64,
    AT = 128,
    UNTIL = 256,
    KEY = 512,
    PRIORITY = 1024
};

static const struct {
    unsigned allowed, needed;
} takes[] = {
    [HTW__PAGE_QUEUES] = { TEXT | SORT | AFTER | LIMIT_BIT, 0 },
    [HTW__PAGE_QUEUE] = { QUEUE, 0 },
    [HTW__PAGE_TIMES] = { QUEUE, 0 },
    [HTW__PAGE_JOBS] = { QUEUE | STATE | AFTER | LIMIT_BIT, STATE },
    [HTW__PAGE_KICK] = { QUEUE | COUNT, COUNT },
    [HTW__PAGE_PAUSE] = { QUEUE | UNTIL, UNTIL },
    [HTW__PAGE_RESUME] = { QUEUE, 0 },
    [HTW__PAGE_PUT] = { QUEUE | AT | KEY | PRIORITY, 0 },
    [HTW__PAGE_MOVE] = { AT | PRIORITY, AT },
    [HTW__PAGE_DELETE] = { 0, 0 },
};

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
    static const char *const sorts[] = {
        "name", "delayed", "ready", "leased", "buried", "waiting"
    };
    switch (parameter) {
    case QUEUE:
        return set_queue(ask, value);
    case SORT:
        return set_word(&ask->sort, sorts, sizeof(sorts) / sizeof(*sorts), value,
                        "sort: name, delayed, ready, leased, buried or waiting");
    case STATE:
        return set_word(&ask->state, states, sizeof(states) / sizeof(*states), value,
                        "state: delayed, ready, leased or buried");
    case LIMIT_BIT:
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
    case TEXT:
        ask->text = value;
        return NULL;
    default:
        ask->after = value;
        return NULL;
    }
}

static const char *set(void *context, const char *name, const char *value) {
    static const char *const names[] = { "queue", "text", "sort",  "after", "limit",   "state",
                                         "count", "at",   "until", "key",   "priority" };
    struct htw__page_ask *ask = context;
    uint32_t number;
    if (set_word(&number, names, sizeof(names) / sizeof(*names), name, name) != NULL ||
        (takes[ask->action].allowed & 1U << number) == 0)
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

bool htw__page_read(struct htw__page_ask *ask) {
    if (!read_id(ask) || !htw__http_read(ask->http, set, ask))
        return false;
    unsigned missing = takes[ask->action].needed & ~ask->given;
    if (missing != 0)
        htw__http_refuse(ask->http, 400,
                         missing == STATE   ? "state is missing"
                         : missing == COUNT ? "count is missing"
                         : missing == AT    ? "at is missing"
                                            : "until is missing");
    return missing == 0;
}

void htw__page_fail(const struct htw__page_ask *ask, int error) {
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
