/* SPDX-License-Identifier: MIT */
/* answer.c - the requests: the table below, the same by HTTP/1.0, for curl and Prometheus, and `observe`. */
#include "answer.h"

#include "writers.h"

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

/* What a client may send: a line, and after it what HTTP sends. */
#define LINE_MAX_SIZE 200u
#define REQUEST_MAX_SIZE 8192u

/* Whether a line asks for a path: "GET PATH HTTP/...". */
static bool gets(const char *line, const char *path) {
    size_t length = strlen(path);
    return strncmp(line, "GET ", 4) == 0 && strncmp(line + 4, path, length) == 0 &&
           (line[4 + length] == ' ' || line[4 + length] == '?');
}

static const struct request *find(const char *line, bool is_http) {
    for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
        if (is_http ? gets(line, requests[i].path) : strcmp(line, requests[i].line) == 0)
            return &requests[i];
    return NULL;
}

static void write_head(struct htw__client *client, const char *status, const char *type) {
    client->head_size = 0;
    if (client->is_http)
        client->head_size = (uint32_t)snprintf(client->head, sizeof(client->head),
                                               "HTTP/1.0 %s\r\nContent-Type: %s\r\n"
                                               "Content-Length: %zu\r\n\r\n",
                                               status, type, client->text.size);
}

/* An answer that says what is wrong. If there is no memory for it, it is empty. */
static void write_error(struct htw__client *client, const char *status, const char *sentence) {
    htw__text_fini(&client->text);
    htw__text_add(&client->text, "error: %s\n", sentence);
    write_head(client, status, "text/plain");
}

/* NULL, or what is wrong. */
static const char *make(struct htw_monitor *monitor, struct htw__client *client, char *line,
                        const char **ret_type) {
    const struct request *request = find(line, client->is_http);
    if (request != NULL) {
        *ret_type = request->type;
        request->write(monitor, &client->text);
        return NULL;
    }
    if (client->is_http)
        return "this monitor has GET /json, /json/sites, /events and /metrics";
    if (strncmp(line, OBSERVE, strlen(OBSERVE)) == 0)
        return htw__observe(monitor, line + strlen(OBSERVE), &client->text);
    return "the requests are: json, json sites, events, metrics, observe";
}

void htw__answer_make(struct htw_monitor *monitor, struct htw__client *client) {
    const char *type = "";
    char line[LINE_MAX_SIZE + 1] = "";
    memcpy(line, client->text.bytes, strcspn(client->text.bytes, "\r\n"));
    htw__text_fini(&client->text);
    const char *why = make(monitor, client, line, &type);
    client->has_answer = true;
    if (why != NULL)
        write_error(client, "404 Not Found", why);
    else if (client->text.has_failed)
        write_error(client, "503 Service Unavailable", "no memory");
    else
        write_head(client, "200 OK", type);
}

void htw__answer_take(struct htw__client *client, const char *bytes, size_t size) {
    const struct htw__answer_text *text = &client->text;
    htw__text_add(&client->text, "%.*s", (int)size, bytes);
    const char *end = text->has_failed ? NULL : strchr(text->bytes, '\n');
    if (end != NULL) {
        const char *version = strstr(text->bytes, " HTTP/");
        client->is_http = version != NULL && version > text->bytes && version < end;
        client->is_ready =
            !client->is_http || strstr(end, "\n\n") != NULL || strstr(end, "\n\r\n") != NULL;
    }
    size_t line_size = end != NULL ? (size_t)(end - text->bytes) : text->size;
    if (text->has_failed || line_size > LINE_MAX_SIZE || text->size > REQUEST_MAX_SIZE) {
        client->has_answer = true;
        /* A line without an end: methods of HTTP are in capitals, the requests above are not. */
        client->is_http |= !text->has_failed && text->bytes[0] >= 'A' && text->bytes[0] <= 'Z';
        write_error(client, "400 Bad Request",
                    text->has_failed ? "no memory" : "the request is too long");
    }
}
