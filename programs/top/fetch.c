/* SPDX-License-Identifier: MIT */
/* fetch.c - asks a monitor through its socket. */
#include "fetch.h"

#include "../../src/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CAPACITY_FIRST ((size_t)65536)
#define CAPACITY_MAX ((size_t)16 * 1024 * 1024)

static void close_socket(struct htw__fetch *fetch) {
    if (fetch->fd >= 0)
        close(fetch->fd);
    fetch->fd = -1;
}

void htw__fetch_end(struct htw__fetch *fetch) {
    close_socket(fetch);
    free(fetch->bytes);
    *fetch = (struct htw__fetch)HTW__FETCH_INIT;
}

static int fail(struct htw__fetch *fetch, int error) {
    close_socket(fetch);
    return -error;
}

int htw__fetch_begin(struct htw__fetch *fetch, const char *path, const char *request) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char line[HTW__FETCH_REQUEST_MAX + 2];
    size_t length = (size_t)snprintf(line, sizeof(line), "%s\n", request);
    size_t path_length = strlen(path);
    if (length >= sizeof(line))
        return -EMSGSIZE;
    if (path_length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, path_length);
    close_socket(fetch);
    fetch->size = 0;
    fetch->until_ns = htw__clock_monotonic_ns() + HTW__FETCH_NS;
    fetch->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fetch->fd < 0)
        return -errno;
    if (connect(fetch->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
        return fail(fetch, errno);
    if (send(fetch->fd, line, length, MSG_NOSIGNAL) != (ssize_t)length)
        return fail(fetch, errno);
    return 0;
}

/* Room for at least one more byte. */
static int make_room(struct htw__fetch *fetch) {
    if (fetch->size < fetch->capacity)
        return 0;
    size_t capacity = fetch->capacity == 0 ? CAPACITY_FIRST : fetch->capacity * 2;
    if (capacity > CAPACITY_MAX)
        return EMSGSIZE;
    char *bytes = realloc(fetch->bytes, capacity);
    if (bytes == NULL)
        return ENOMEM;
    fetch->bytes = bytes;
    fetch->capacity = capacity;
    return 0;
}

int htw__fetch_go_on(struct htw__fetch *fetch) {
    for (;;) {
        int error = make_room(fetch);
        if (error != 0)
            return fail(fetch, error);
        ssize_t size =
            recv(fetch->fd, fetch->bytes + fetch->size, fetch->capacity - fetch->size, 0);
        if (size > 0) {
            fetch->size += (size_t)size;
        } else if (size == 0) {
            close_socket(fetch);
            return fetch->size > 0 ? 1 : -ECONNRESET;
        } else if (errno == EAGAIN) {
            return htw__clock_monotonic_ns() < fetch->until_ns ? 0 : fail(fetch, ETIMEDOUT);
        } else if (errno != EINTR) {
            return fail(fetch, errno);
        }
    }
}

int htw__fetch_all(struct htw__fetch *fetch, const char *path, const char *request) {
    int result = htw__fetch_begin(fetch, path, request);
    while (result == 0 && (result = htw__fetch_go_on(fetch)) == 0) {
        struct pollfd wanted = { .fd = fetch->fd, .events = POLLIN };
        poll(&wanted, 1, 100);
    }
    return result < 0 ? result : 0;
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
    case -EPIPE:
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
