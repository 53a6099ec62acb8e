/* SPDX-License-Identifier: MIT */
/* metrics.c - serves metrics, by libmicrohttpd. */
#include "metrics.h"

#include "../../../kit/listen.h"

#include <microhttpd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#define IDLE_SECONDS 10

static void forget(struct htw__metrics *self, size_t i) {
    self->count--;
    memmove(&self->fds[i], &self->fds[i + 1], (self->count - i) * sizeof(self->fds[0]));
}

/* Clients that say nothing shut nobody out: when half of the places are taken, the oldest connection ends for each new one. */
static void note_connection(void *context, struct MHD_Connection *connection, void **socket_context,
                            enum MHD_ConnectionNotificationCode code) {
    struct htw__metrics *self = context;
    int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
    size_t i = 0;
    (void)socket_context;
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        if (self->count == HTW__METRICS_CONNECTIONS) {
            shutdown(self->fds[0], SHUT_RDWR);
            forget(self, 0);
        }
        self->fds[self->count++] = fd;
        return;
    }
    while (i < self->count && self->fds[i] != fd)
        i++;
    if (i < self->count) /* or it was ended above */
        forget(self, i);
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status, const char *type,
                              char *text, size_t size, enum MHD_ResponseMemoryMode mode) {
    struct MHD_Response *response = MHD_create_response_from_buffer(size, text, mode);
    if (response == NULL)
        return MHD_NO;
    MHD_add_response_header(response, "Content-Type", type);
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_size, void **request) {
    static char wrong[] = "only GET /metrics\n";
    struct htw__metrics *self = context;
    char *text = NULL;
    size_t size = 0;
    (void)version, (void)data, (void)data_size, (void)request;
    if ((strcmp(method, "GET") != 0 && strcmp(method, "HEAD") != 0) || strcmp(url, "/metrics") != 0)
        return answer(connection, MHD_HTTP_NOT_FOUND, "text/plain", wrong, sizeof(wrong) - 1,
                      MHD_RESPMEM_PERSISTENT);
    FILE *stream = open_memstream(&text, &size);
    if (stream == NULL)
        return MHD_NO;
    self->write(self->context, stream);
    if (fclose(stream) != 0) {
        free(text);
        return MHD_NO;
    }
    return answer(connection, MHD_HTTP_OK, "text/plain; version=0.0.4", text, size,
                  MHD_RESPMEM_MUST_FREE);
}

const char *htw__metrics_open(struct htw__metrics *self, const char *where,
                              void (*write)(void *context, FILE *stream), void *context) {
    struct htw__listener listener;
    *self = (struct htw__metrics) { .write = write, .context = context };
    if (where == NULL)
        return NULL;
    const char *why = htw__listen_check(where); /* no path */
    if (why == NULL)
        why = htw__listen_open(&listener, where, HTW__LISTEN_MODE);
    if (why != NULL)
        return why;
    self->daemon =
        MHD_start_daemon(MHD_USE_EPOLL, 0, NULL, NULL, handle, self, MHD_OPTION_LISTEN_SOCKET,
                         listener.fd, /* which it closes */
                         MHD_OPTION_CONNECTION_LIMIT, 2U * HTW__METRICS_CONNECTIONS,
                         MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_SECONDS,
                         MHD_OPTION_NOTIFY_CONNECTION, note_connection, self, MHD_OPTION_END);
    if (self->daemon == NULL)
        htw__listen_close(&listener);
    return self->daemon != NULL ? NULL : "cannot listen there";
}

void htw__metrics_close(struct htw__metrics *self) {
    if (self->daemon != NULL)
        MHD_stop_daemon(self->daemon);
    self->daemon = NULL;
}

int htw__metrics_fd(const struct htw__metrics *self) {
    if (self->daemon == NULL)
        return -1;
    return MHD_get_daemon_info(self->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
}

void htw__metrics_run(struct htw__metrics *self) {
    if (self->daemon != NULL)
        MHD_run(self->daemon);
}
