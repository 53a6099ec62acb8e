/* SPDX-License-Identifier: MIT */
/* exchange.c - a request and its answer. */
#include "exchange.h"

#include "../../src/base/clock.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define PART 65536
#define ANSWER_MAX ((size_t)16 << 20)

int htw__exchange_connect(const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    size_t length = strlen(path);
    if (length >= sizeof(address.sun_path))
        return -ENAMETOOLONG;
    memcpy(address.sun_path, path, length);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0 || connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        return fd < 0 ? -errno : fd;
    int error = -errno;
    close(fd);
    return error;
}

/* Sends what there is room for. Where the other side reads no more, it may have answered. */
static int send_some(int fd, const struct htw__exchange *asked, size_t *sent) {
    while (*sent < asked->size) {
        ssize_t size =
            send(fd, asked->request + *sent, asked->size - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
        if (size < 0 && errno != EPIPE)
            return errno == EAGAIN || errno == EINTR ? 0 : -errno;
        *sent = size < 0 ? asked->size : *sent + (size_t)size;
    }
    return 0;
}

/* Reads what is there. 1: that was the end; 0: more will come; or a negative errno. */
static int receive_some(int fd, FILE *stream, size_t *total) {
    char part[PART];
    ssize_t size;
    while ((size = recv(fd, part, sizeof(part), MSG_DONTWAIT)) > 0) {
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

int htw__exchange(int fd, const struct htw__exchange *asked, char **ret_answer, size_t *ret_size) {
    int64_t until_ns = htw__clock_monotonic_ns() + asked->patience_ns;
    size_t sent = 0, total = 0;
    *ret_answer = NULL;
    FILE *stream = open_memstream(ret_answer, ret_size);
    int result = stream == NULL ? -ENOMEM : 0;
    while (result == 0 && (result = send_some(fd, asked, &sent)) == 0 &&
           (result = receive_some(fd, stream, &total)) == 0) {
        const int *wakes = asked->wakes;
        short events = sent < asked->size ? POLLIN | POLLOUT : POLLIN;
        struct pollfd wanted[] = { { .fd = fd, .events = events },
                                   { .fd = wakes == NULL ? -1 : wakes[0], .events = POLLIN },
                                   { .fd = wakes == NULL ? -1 : wakes[1], .events = POLLIN } };
        poll(wanted, 3, 100);
        if ((wanted[1].revents | wanted[2].revents) != 0)
            result = -ECANCELED;
        else if (htw__clock_monotonic_ns() >= until_ns)
            result = -ETIMEDOUT;
    }
    close(fd);
    if (stream != NULL && fclose(stream) != 0)
        result = -ENOMEM;
    return result < 0 ? result : 0;
}
