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

#define PATIENCE_NS INT64_C(3000000000) /* a monitor may take so long to answer */
#define PART 65536
#define ANSWER_MAX ((size_t)16 * 1024 * 1024)

void htw__fetch_end(struct htw__fetch *fetch) {
    free(fetch->bytes);
    *fetch = (struct htw__fetch) { NULL, 0 };
}

/* Connects, and sends the request. Returns a descriptor or a negative errno. */
static int begin(const char *path, const char *request) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    char line[HTW__FETCH_REQUEST_MAX + 2];
    size_t length = (size_t)snprintf(line, sizeof(line), "%s\n", request);
    size_t path_length = strlen(path);
    if (length >= sizeof(line))
        return -EMSGSIZE;
    if (path_length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, path_length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0 &&
        send(fd, line, length, MSG_NOSIGNAL) == (ssize_t)length)
        return fd;
    int error = -errno;
    if (fd >= 0)
        close(fd);
    return error;
}

/* Reads what is there. 1: that was the end; 0: more will come; or a negative errno. */
static int go_on(int fd, FILE *stream, size_t *total) {
    char part[PART];
    ssize_t size;
    while ((size = recv(fd, part, sizeof(part), 0)) > 0) {
        *total += (size_t)size;
        if (*total > ANSWER_MAX)
            return -EMSGSIZE;
        if (fwrite(part, 1, (size_t)size, stream) != (size_t)size)
            return -ENOMEM;
    }
    if (size < 0)
        return errno == EAGAIN || errno == EINTR ? 0 : -errno;
    return *total > 0 ? 1 : -ECONNRESET;
}

int htw__fetch_ask(struct htw__fetch *fetch, const char *path, const char *request,
                   const int wakes[2]) {
    int64_t until_ns = htw__clock_monotonic_ns() + PATIENCE_NS;
    size_t total = 0;
    htw__fetch_end(fetch);
    FILE *stream = open_memstream(&fetch->bytes, &fetch->size);
    int fd = stream == NULL ? -ENOMEM : begin(path, request), result = fd < 0 ? fd : 0;
    while (result == 0 && (result = go_on(fd, stream, &total)) == 0) {
        struct pollfd wanted[] = { { .fd = fd, .events = POLLIN },
                                   { .fd = wakes == NULL ? -1 : wakes[0], .events = POLLIN },
                                   { .fd = wakes == NULL ? -1 : wakes[1], .events = POLLIN } };
        poll(wanted, 3, 100);
        if ((wanted[1].revents | wanted[2].revents) != 0)
            result = -ECANCELED;
        else if (htw__clock_monotonic_ns() >= until_ns)
            result = -ETIMEDOUT;
    }
    if (fd >= 0)
        close(fd);
    if (stream != NULL && fclose(stream) != 0)
        result = -ENOMEM;
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
