/* SPDX-License-Identifier: MIT */
/* answer.c - the requests: the table below, the same by HTTP/1.0, for curl and Prometheus, and `observe`. */
#include "answer.h"

#include "events.h"
#include "json.h"
#include "metrics.h"
#include "observe.h"

#include <stdio.h>
#include <string.h>

struct request {
    const char *line; /* as it is without HTTP */
    const char *path; /* by HTTP; only what changes nothing */
    const char *type; /* of the answer */
    void (*write)(struct htw_monitor *monitor, struct htw__answer_text *text);
};

static const struct request requests[] = {
    { "json", "/json", "application/json", htw__json_write },
    { "json sites", "/json/sites", "application/json", htw__json_write_detail },
    { "events", "/events", "application/x-ndjson", htw__events_write },
    { "metrics", "/metrics", "text/plain; version=0.0.4; charset=utf-8", htw__metrics_write },
};

#define OBSERVE "observe "

/* Whether a line is a request by HTTP, whose head goes on after it. */
static bool is_http(const char *line) {
    const char *version = strstr(line, " HTTP/");
    return version != NULL && version != line;
}

/* Whether a line asks for a path: "GET PATH HTTP/...". */
static bool gets(const char *line, const char *path) {
    size_t length = strlen(path);
    return strncmp(line, "GET ", 4) == 0 && strncmp(line + 4, path, length) == 0 &&
           (line[4 + length] == ' ' || line[4 + length] == '?');
}

static const struct request *find(const struct htw__client *client) {
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        if (client->is_http ? gets(client->line, requests[i].path)
                            : strcmp(client->line, requests[i].line) == 0)
            return &requests[i];
    return NULL;
}

static void write_head(struct htw__client *client, const char *status, const char *type) {
    client->head_size = 0;
    if (client->is_http)
        client->head_size = (uint32_t)snprintf(client->head, sizeof(client->head),
                                               "HTTP/1.0 %s\r\nContent-Type: %s\r\n"
                                               "Content-Length: %zu\r\n\r\n",
                                               status, type, client->body.size);
}

/* An answer that says what is wrong. If there is no memory for it, it is empty. */
static void write_error(struct htw__client *client, const char *status, const char *sentence) {
    htw__text_fini(&client->body);
    htw__text_add(&client->body, "error: %s\n", sentence);
    write_head(client, status, "text/plain");
}

/* NULL, or what is wrong: then the status says it by HTTP. */
static const char *make(struct htw_monitor *monitor, struct htw__client *client,
                        const char **ret_status, const char **ret_type) {
    const struct request *request = find(client);
    bool is_get = !client->is_http || strncmp(client->line, "GET ", 4) == 0;
    *ret_status = is_get ? "404 Not Found" : "405 Method Not Allowed";
    if (request != NULL) {
        *ret_type = request->type;
        request->write(monitor, &client->body);
        return NULL;
    }
    if (client->is_http)
        return "this monitor has GET /json, /json/sites, /events and /metrics";
    if (strncmp(client->line, OBSERVE, strlen(OBSERVE)) == 0)
        return htw__observe(monitor, client->line + strlen(OBSERVE), &client->body);
    return "the requests are: json, json sites, events, metrics, observe";
}

void htw__answer_make(struct htw_monitor *monitor, struct htw__client *client) {
    const char *status, *type = "";
    const char *why = make(monitor, client, &status, &type);
    client->has_answer = true;
    if (why != NULL)
        write_error(client, status, why);
    else if (client->body.has_failed)
        write_error(client, "503 Service Unavailable", "no memory");
    else
        write_head(client, "200 OK", type);
}

static void refuse(struct htw__client *client) {
    client->has_answer = true;
    write_error(client, "400 Bad Request", "the request is too long");
}

/* Takes a byte. False: the request is too long. */
static bool take_byte(struct htw__client *client, char byte) {
    if (++client->received > HTW__REQUEST_MAX)
        return false;
    if (client->has_line) { /* the head of HTTP, which ends with an empty line */
        client->is_ready = byte == '\n' && client->line_is_empty;
        client->line_is_empty = byte == '\n' || (byte == '\r' && client->line_is_empty);
        return true;
    }
    if (byte == '\n') {
        if (client->line_size > 0 && client->line[client->line_size - 1] == '\r')
            client->line_size--;
        client->line[client->line_size] = '\0';
        client->has_line = true;
        client->line_is_empty = true;
        client->is_http = is_http(client->line);
        client->is_ready = !client->is_http;
        return true;
    }
    if (client->line_size == HTW__LINE_MAX)
        return false;
    client->line[client->line_size++] = byte;
    return true;
}

void htw__answer_take(struct htw__client *client, const char *bytes, size_t size) {
    for (size_t i = 0; i < size && !client->is_ready && !client->has_answer; i++)
        if (!take_byte(client, bytes[i]))
            refuse(client);
}
