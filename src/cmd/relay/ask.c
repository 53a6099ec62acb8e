/* SPDX-License-Identifier: MIT */
/* ask.c - requests over HTTP: what they ask for, and whether they may. */
#include "ask.h"

#include "../count.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

#define SPACE " \t\r\n"

/* ---- who may */

/* In a time that does not tell how much of it is right. */
static bool is_token(const char *token, const char *text) {
    size_t size = strlen(token), length = strlen(text);
    unsigned difference = size != length;
    for (size_t i = 0; i < length; i++)
        difference |= (unsigned char)(text[i] ^ token[size == 0 ? 0 : i % size]);
    return difference == 0 && size > 0;
}

static bool has_token(const struct htw__ask *ask, const struct htw__ask_guard *guard) {
    static const char scheme[] = "Bearer ";
    const size_t length = sizeof(scheme) - 1;
    return ask->authorization != NULL && strncasecmp(ask->authorization, scheme, length) == 0 &&
           is_token(guard->token, ask->authorization + length);
}

/* Whether a host, which may have a port, is no name that somebody else could lead here. */
static bool is_own_host(const char *host) {
    static const char name[] = "localhost";
    const size_t length = sizeof(name) - 1;
    if (*host == '[') /* IPv6 */
        return strspn(host + 1, "0123456789abcdefABCDEF:.]") == strlen(host + 1);
    if (strncasecmp(host, name, length) == 0)
        host += length;
    else if (strspn(host, "0123456789.") == 0)
        return false;
    host += strspn(host, "0123456789.");
    return *host == '\0' || (*host == ':' && strspn(host + 1, "0123456789") == strlen(host + 1));
}

/* Whether the page that asks, if one does, came from here. */
static bool is_own_page(const struct htw__ask *ask) {
    if (ask->site != NULL && strcmp(ask->site, "same-origin") != 0 &&
        strcmp(ask->site, "none") != 0)
        return false;
    if (ask->origin == NULL)
        return true;
    const char *slashes = strstr(ask->origin, "://");
    return slashes != NULL && ask->host != NULL && strcasecmp(slashes + 3, ask->host) == 0;
}

static struct htw__ask_target refuse(unsigned status, const char *why) {
    return (struct htw__ask_target) { .status = status, .why = why };
}

/* ---- what it asks for */

static const struct {
    const char *method;
    bool has_id;
    enum htw__relay_action action;
} routes[] = {
    { "GET", false, HTW__RELAY_LIST },
    { "GET", true, HTW__RELAY_SHOW },
    { "DELETE", true, HTW__RELAY_CANCEL },
    { "PATCH", true, HTW__RELAY_MOVE },
};

static struct htw__ask_target refuse_method(const char *methods) {
    struct htw__ask_target target = refuse(405, "this path has no such method");
    target.methods = methods;
    return target;
}

static struct htw__ask_target find(const struct htw__ask *ask) {
    static const char path[] = "/waiting";
    const size_t length = sizeof(path) - 1;
    if (strcmp(ask->path, "/") == 0)
        return strcmp(ask->method, "GET") == 0 ? refuse(0, NULL) : refuse_method("GET");
    if (strncmp(ask->path, path, length) != 0 ||
        (ask->path[length] != '\0' && (ask->path[length] != '/' || ask->path[length + 1] == '\0')))
        return refuse(404, "there are /, /waiting and /waiting/ID");
    bool has_id = ask->path[length] == '/';
    for (size_t i = 0; i < sizeof(routes) / sizeof(routes[0]); i++)
        if (routes[i].has_id == has_id && strcmp(routes[i].method, ask->method) == 0)
            return (struct htw__ask_target) { .action = routes[i].action,
                                              .id = has_id ? ask->path + length + 1 : NULL };
    return refuse_method(has_id ? "GET, DELETE, PATCH" : "GET");
}

struct htw__ask_target htw__ask_route(const struct htw__ask *ask,
                                      const struct htw__ask_guard *guard) {
    struct htw__ask_target target = find(ask);
    if (guard->is_local && (ask->host == NULL || !is_own_host(ask->host)))
        return refuse(403, "the Host of the request is neither localhost nor an address");
    if (target.status != 0 || target.action == HTW__RELAY_NO_ACTION)
        return target;
    if (!is_own_page(ask))
        return refuse(403, "another page asks, which may not");
    bool changes = target.action == HTW__RELAY_CANCEL || target.action == HTW__RELAY_MOVE;
    if (changes && guard->token[0] == '\0')
        return refuse(403, "this server has no token, so nothing can be changed");
    if ((changes || !guard->is_local) && !has_token(ask, guard))
        return refuse(401, "the token is missing, or it is wrong");
    if (target.action == HTW__RELAY_MOVE &&
        (ask->type == NULL || strncasecmp(ask->type, "application/json", 16) != 0))
        return refuse(415, "the body is {\"at\": \"WHEN\"}, as application/json");
    return target;
}

/* ---- its parts */

static const char *set_limit(size_t *limit, const char *value) {
    uint64_t count;
    if (!htw__count_parse(value, &count) || count == 0 || count > HTW__ASK_LIMIT_MAX)
        return "limit: not a number from 1 to 1000";
    *limit = (size_t)count;
    return NULL;
}

const char *htw__ask_set(struct htw__relay_command *command, const char *name, const char *value) {
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
        return set_limit(&command->limit, value);
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
    static const char wrong[] = "the body is {\"at\": \"WHEN\"}, WHEN an instant or +DURATION";
    char *when = skip(skip(skip(skip(body, "{"), "\"at\""), ":"), "\"");
    if (when == NULL)
        return wrong;
    size_t length = strcspn(when, "\"\\");
    char *end = skip(skip(when + length, "\""), "}");
    if (end == NULL || end[strspn(end, SPACE)] != '\0')
        return wrong;
    when[length] = '\0';
    return htw__relay_moment(when, ret_ms);
}

const char *htw__ask_set_token(struct htw__ask_guard *guard, const char *text) {
    text += strspn(text, SPACE);
    size_t size = strcspn(text, SPACE);
    bool is_plain = text[size + strspn(text + size, SPACE)] == '\0';
    for (size_t i = 0; i < size; i++)
        is_plain = is_plain && text[i] > ' ' && text[i] <= '~';
    if (!is_plain || size < HTW__ASK_TOKEN_LEAST || size > HTW__ASK_TOKEN_MAX)
        return "a token is 16 to 256 letters, digits and signs of ASCII";
    memcpy(guard->token, text, size);
    guard->token[size] = '\0';
    return NULL;
}
