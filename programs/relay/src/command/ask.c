/* SPDX-License-Identifier: MIT */
/* ask.c - requests to `htw relay http`: what they ask for. */
#include "ask.h"

#include <string.h>

#define SPACE " \t\r\n"
#define BODY "the body is {\"at\": \"WHEN\"}"

static const struct htw__http_route routes[] = {
    { "GET", "/health", HTW__HTTP_HEALTH, HTW__RELAY_NO_ACTION, NULL },
    { "GET", "/", HTW__HTTP_PAGE, HTW__RELAY_NO_ACTION, NULL },
    { "GET", "/waiting", HTW__HTTP_READ, HTW__RELAY_LIST, NULL },
    { "GET", "/waiting/*", HTW__HTTP_READ, HTW__RELAY_SHOW, NULL },
    { "DELETE", "/waiting/*", HTW__HTTP_CHANGE, HTW__RELAY_CANCEL, NULL },
    { "PATCH", "/waiting/*", HTW__HTTP_CHANGE, HTW__RELAY_MOVE, BODY ", as application/json" },
};
const struct htw__http_routes htw__ask_routes = {
    routes, sizeof(routes) / sizeof(routes[0]), "there are /, /health, /waiting and /waiting/ID"
};

const char *htw__ask_set(void *context, const char *name, const char *value) {
    struct htw__relay_command *command = context;
    struct htw__waiting_filter *filter = &command->filter;
    if (strcmp(name, "to") == 0)
        filter->to = value;
    else if (strcmp(name, "key") == 0)
        filter->key = value;
    else if (strcmp(name, "grep") == 0)
        filter->text = value;
    else if (strcmp(name, "from") == 0)
        return htw__relay_moment(value, &filter->from_ms) != NULL ? "from: not a time" : NULL;
    else if (strcmp(name, "until") == 0)
        return htw__relay_moment(value, &filter->until_ms) != NULL ? "until: not a time" : NULL;
    else if (strcmp(name, "after") == 0)
        return htw__waiting_key_parse(value, &filter->after) ? NULL : "after: not of another page";
    else if (strcmp(name, "limit") == 0)
        return htw__http_set_limit(&command->limit, value);
    else
        return "the parameters are to, key, from, until, grep, after and limit";
    return NULL;
}

/* Goes on after `text`, which comes after white space; NULL: it does not come. */
static char *skip(char *at, const char *text) {
    if (at == NULL)
        return NULL;
    at += strspn(at, SPACE);
    return strncmp(at, text, strlen(text)) == 0 ? at + strlen(text) : NULL;
}

const char *htw__ask_when(char *body, int64_t *ret_ms) {
    char *when = skip(skip(skip(skip(body, "{"), "\"at\""), ":"), "\"");
    if (when == NULL)
        return BODY ", WHEN an instant or +DURATION";
    size_t length = strcspn(when, "\"\\");
    char *end = skip(skip(when + length, "\""), "}");
    if (end == NULL || end[strspn(end, SPACE)] != '\0')
        return BODY ", WHEN an instant or +DURATION";
    when[length] = '\0';
    return htw__relay_moment(when, ret_ms);
}
