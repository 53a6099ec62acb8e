/* SPDX-License-Identifier: MIT */
/* fetch.c - asks a monitor through its socket. */
#include "fetch.h"

#include "../kit/exchange.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PATIENCE_NS INT64_C(3000000000) /* a monitor may take so long to answer */

void htw__fetch_end(struct htw__fetch *fetch) {
    free(fetch->bytes);
    *fetch = (struct htw__fetch) { NULL, 0 };
}

int htw__fetch_ask(struct htw__fetch *fetch, const char *path, const char *request,
                   const int wakes[2]) {
    char line[HTW__FETCH_REQUEST_MAX + 2];
    int length = snprintf(line, sizeof(line), "%s\n", request);
    int fd = length < (int)sizeof(line) ? htw__exchange_connect(path) : -EMSGSIZE;
    const struct htw__exchange asked = { line, (size_t)length, PATIENCE_NS, wakes };
    htw__fetch_end(fetch);
    return fd < 0 ? fd : htw__exchange(fd, &asked, &fetch->bytes, &fetch->size);
}

const char *htw__fetch_sentence(int error) {
    switch (error) {
    case -ENOENT:
    case -ECONNREFUSED:
        return "no program can be watched there (any more)";
    case -EACCES:
    case -EPERM:
        return "only the user of the program and root may watch it";
    case -ECONNRESET:
        return "the program has closed the connection: it has ended, or belongs to another user";
    case -ETIMEDOUT:
        return "the program does not answer: it may be stopped";
    case -EAGAIN:
        return "the program has too many watchers, or is stopped";
    case -ENOTSOCK:
    case -EPROTOTYPE:
        return "this is not the socket of a monitor";
    default:
        return strerror(-error);
    }
}
