/* SPDX-License-Identifier: MIT */
/* http.c - `htw serve --http`: the page of a server; and the same beside its file, for `htw journal`. */
#include "server.h"

#include "../kit/listen.h"
#include "../kit/terminal.h"
#include "page.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

static struct htw__http_page page;
static char file_name[PATH_MAX];
static struct htw__http_service service;
static struct htw__beside beside = { .folder = -1 };
static struct htw__listener beside_listener = { .fd = -1 };
static bool is_open, has_page;

/* Without it the server does all but what `htw journal` asks of it. */
static bool listen_beside(const char *file) {
    char where[sizeof("unix:") + HTW__BESIDE_PATH];
    int error = htw__beside_open(&beside, file);
    const char *why = error != 0 ? strerror(-error) : NULL;
    snprintf(where, sizeof(where), "unix:%s", beside.path);
    if (why == NULL)
        why = htw__listen_open(&beside_listener, where, HTW__LISTEN_MODE);
    if (why == NULL)
        return true;
    htw__terminal_error("%s-socket: %s: htw journal can only read while this serves", file, why);
    htw__beside_close(&beside);
    return false;
}

static void stop_beside(void) {
    htw__listen_close(&beside_listener);
    beside_listener = (struct htw__listener) { .fd = -1 };
    htw__beside_close(&beside);
}

bool htw__serve_http_start(struct htw__server *server) {
    struct htw__http_place places[2];
    size_t place_count = 0;
    has_page = server->options.http != NULL;
    if (has_page)
        places[place_count++] = (struct htw__http_place) { .where = server->options.http };
    if (server->options.path != NULL && listen_beside(server->options.path))
        places[place_count++] =
            (struct htw__http_place) { .fd = beside_listener.fd, .is_owners = true };
    if (place_count == 0)
        return true;
    page = (struct htw__http_page) { server, NULL };
    if (server->options.path != NULL)
        page.path = realpath(server->options.path, file_name);
    service = (struct htw__http_service) { .option = "--http",
                                           .token_file = server->options.token_file,
                                           .token_variable = "HTW_SERVE_TOKEN",
                                           .hosts = server->options.hosts,
                                           .payload_max = server->options.max_job_size };
    htw__page_serve(&page, &service);
    is_open = htw__http_start(&service, places, place_count);
    if (!is_open)
        stop_beside();
    return is_open;
}

const char *htw__serve_http_name(void) {
    return is_open && has_page ? htw__http_name() : NULL;
}

bool htw__serve_http_stop(void) {
    bool is_well = !is_open || htw__http_stop();
    stop_beside();
    return is_well;
}
