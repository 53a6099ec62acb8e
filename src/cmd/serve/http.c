/* SPDX-License-Identifier: MIT */
/* http.c - `htw serve --http`: the page of a server. */
#include "http.h"

#include "page.h"

static struct htw__page page;
static struct htw__http_service service;
static bool is_open;

static void count(void *context, struct htw__page_numbers *ret_numbers) {
    struct htw__server *server = context;
    pthread_mutex_lock(&server->mutex);
    *ret_numbers = server->numbers;
    pthread_mutex_unlock(&server->mutex);
}

bool htw__serve_http_start(struct htw__server *server) {
    if (server->options.http == NULL)
        return true;
    page = (struct htw__page) { server->journal, count, server };
    service = (struct htw__http_service) { .option = "--http",
                                           .token_file = server->options.token_file,
                                           .token_variable = "HTW_SERVE_TOKEN" };
    htw__page_serve(&page, &service);
    is_open = htw__http_start(&service, server->options.http);
    return is_open;
}

const char *htw__serve_http_name(void) {
    return is_open ? htw__http_name() : NULL;
}

bool htw__serve_http_stop(void) {
    return !is_open || htw__http_stop();
}
