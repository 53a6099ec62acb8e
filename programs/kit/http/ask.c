/* SPDX-License-Identifier: MIT */
/* ask.c - requests over HTTP: which route they take, and whether they may. */
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

static bool has_token(const struct htw__http_ask *ask, const struct htw__http_guard *guard) {
    static const char scheme[] = "Bearer ";
    const size_t length = sizeof(scheme) - 1;
    return ask->authorization != NULL && strncasecmp(ask->authorization, scheme, length) == 0 &&
           is_token(guard->token, ask->authorization + length);
}

/* Whether a host, which may have a port, is one of a list. */
static bool is_listed_host(const char *host, const char *hosts) {
    size_t size = strcspn(host, ":");
    for (size_t length; hosts != NULL && *hosts != '\0'; hosts += length + (hosts[length] == ',')) {
        length = strcspn(hosts, ",");
        if (length == size && size > 0 && strncasecmp(host, hosts, size) == 0)
            return true;
    }
    return false;
}

/* Whether a host, which may have a port, is no name that a stranger could lead here. */
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
static bool is_own_page(const struct htw__http_ask *ask) {
    if (ask->site != NULL && strcmp(ask->site, "same-origin") != 0 &&
        strcmp(ask->site, "none") != 0)
        return false;
    if (ask->origin == NULL)
        return true;
    const char *slashes = strstr(ask->origin, "://");
    return slashes != NULL && ask->host != NULL && strcasecmp(slashes + 3, ask->host) == 0;
}

const char *htw__http_set_token(struct htw__http_guard *guard, const char *text) {
    text += strspn(text, SPACE);
    size_t size = strcspn(text, SPACE);
    bool is_plain = text[size + strspn(text + size, SPACE)] == '\0';
    for (size_t i = 0; i < size; i++)
        is_plain = is_plain && text[i] > ' ' && text[i] <= '~';
    if (!is_plain || size < HTW__HTTP_TOKEN_LEAST || size > HTW__HTTP_TOKEN_MAX)
        return "a token is 16 to 256 letters, digits and signs of ASCII";
    memcpy(guard->token, text, size);
    guard->token[size] = '\0';
    return NULL;
}

/* ---- what it asks for */

static bool fits(const char *pattern, const char *path, struct htw__http_target *target) {
    const char *star = strchr(pattern, '*');
    if (star == NULL)
        return strcmp(pattern, path) == 0;
    size_t before = (size_t)(star - pattern), after = strlen(star + 1), size = strlen(path);
    if (size <= before + after || strncmp(pattern, path, before) != 0 ||
        strcmp(star + 1, path + size - after) != 0)
        return false;
    target->name = path + before;
    target->name_size = size - before - after;
    return true;
}

static void refuse(struct htw__http_target *target, unsigned status, const char *why) {
    target->status = status;
    target->why = why;
}

/* A HEAD is answered as the GET would be, without its body. */
static bool is_method(const struct htw__http_route *route, const char *method) {
    return strcmp(route->method, strcmp(method, "HEAD") == 0 ? "GET" : method) == 0;
}

static void find(const struct htw__http_routes *routes, const struct htw__http_ask *ask,
                 struct htw__http_target *target) {
    size_t length = 0;
    for (size_t i = 0; i < routes->count; i++) {
        const struct htw__http_route *route = &routes->all[i];
        if (!fits(route->path, ask->path, target))
            continue;
        if (is_method(route, ask->method)) {
            target->route = route;
            target->methods[0] = '\0';
            return;
        }
        length += (size_t)snprintf(target->methods + length, sizeof(target->methods) - length,
                                   "%s%s%s", length == 0 ? "" : ", ", route->method,
                                   is_method(route, "HEAD") ? ", HEAD" : "");
    }
    if (length == 0)
        refuse(target, 404, routes->paths);
    else
        refuse(target, 405, "this path has no such method");
}

struct htw__http_target htw__http_find(const struct htw__http_routes *routes,
                                       const struct htw__http_ask *ask,
                                       const struct htw__http_guard *guard) {
    struct htw__http_target target = { 0 };
    find(routes, ask, &target);
    const struct htw__http_route *route = target.route;
    bool changes = route != NULL && route->right == HTW__HTTP_CHANGE && !guard->is_owners;
    if (route != NULL && route->right <= HTW__HTTP_OPEN)
        return target;
    if (guard->is_local &&
        (ask->host == NULL || !(is_own_host(ask->host) || is_listed_host(ask->host, guard->hosts))))
        refuse(
            &target, 403,
            "the Host of the request is neither localhost, nor an address, nor a name of --host");
    else if (target.status != 0 || route->right == HTW__HTTP_PAGE)
        return target;
    else if (!is_own_page(ask))
        refuse(&target, 403, "another page asks, which may not");
    else if (changes && guard->token[0] == '\0')
        refuse(&target, 403, "this server has no token, and this needs one");
    else if ((changes || !guard->is_local) && !has_token(ask, guard))
        refuse(&target, 401, "the token is missing, or it is wrong");
    return target;
}

const char *htw__http_set_limit(size_t *limit, const char *value) {
    uint64_t count;
    if (!htw__count_parse(value, &count) || count == 0 || count > HTW__HTTP_LIMIT_MAX)
        return "limit: not a number from 1 to 1000";
    *limit = (size_t)count;
    return NULL;
}
