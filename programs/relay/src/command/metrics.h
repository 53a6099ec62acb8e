/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - serves text over HTTP, for Prometheus.
 *
 * By libmicrohttpd, which Debian has and which parses what strangers send; it runs in the loop of the
 * relay, so that the numbers need no lock.
 */
#ifndef HTW_RELAY_COMMAND_METRICS_H
#define HTW_RELAY_COMMAND_METRICS_H

#include <stdio.h>

struct MHD_Daemon;

#define HTW__METRICS_CONNECTIONS 16

struct htw__metrics {
    struct MHD_Daemon *daemon; /* NULL: none */
    void (*write)(void *context, FILE *stream);
    void *context;
    int fds[HTW__METRICS_CONNECTIONS]; /* of its connections, the oldest first */
    size_t count;
};

/* Listens at [ADDRESS:]PORT; without an address at 127.0.0.1. Returns NULL, or why that failed (a static
 * phrase). `write` writes what is served at /metrics. */
const char *htw__metrics_open(struct htw__metrics *metrics, const char *where,
                              void (*write)(void *context, FILE *stream), void *context);
void htw__metrics_close(struct htw__metrics *metrics);

/* Readable when there is something to do; -1: never. */
int htw__metrics_fd(const struct htw__metrics *metrics);
void htw__metrics_run(struct htw__metrics *metrics);

#endif /* HTW_RELAY_COMMAND_METRICS_H */
