/* SPDX-License-Identifier: MIT */
/* listen.c - where servers listen: addresses, paths, sockets of systemd, and the socket beside a journal. */
#include "listen.h"

#include "count.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096
#define HOST_MAX 254 /* of a name, with its NUL */

/* Cuts [HOST:]PORT in two. Returns NULL, or why it is wrong. */
static const char *split(const char *where, char host[HOST_MAX], const char **ret_port) {
    static const char wrong[] = "not [ADDRESS:]PORT, with an address of IPv6 in brackets";
    const char *colon = strrchr(where, ':');
    size_t size = colon == NULL ? 0 : (size_t)(colon - where);
    uint64_t port;
    strcpy(host, "127.0.0.1");
    *ret_port = colon == NULL ? where : colon + 1;
    if (!htw__count_parse(*ret_port, &port) || port > 65535)
        return wrong;
    if (colon == NULL)
        return NULL;
    bool has_brackets = size > 2 && where[0] == '[' && where[size - 1] == ']';
    if (has_brackets) {
        where++;
        size -= 2;
    }
    if (size == 0 || size >= HOST_MAX || (!has_brackets && memchr(where, ':', size) != NULL))
        return wrong;
    memcpy(host, where, size);
    host[size] = '\0';
    return NULL;
}

const char *htw__listen_check(const char *where) {
    char host[HOST_MAX];
    const char *port;
    return split(where, host, &port);
}

/* What the name and who reaches it are. */
static const char *describe(struct htw__listener *self) {
    union {
        struct sockaddr any;
        struct sockaddr_in ipv4;
        struct sockaddr_in6 ipv6;
        struct sockaddr_un path;
    } address = { .any = { .sa_family = AF_UNSPEC } };
    socklen_t size = sizeof(address);
    char host[INET6_ADDRSTRLEN];
    if (getsockname(self->fd, &address.any, &size) != 0)
        return strerror(errno);
    if (address.any.sa_family == AF_INET) {
        self->is_local = ntohl(address.ipv4.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
        snprintf(self->name, sizeof(self->name), "%s:%u",
                 inet_ntop(AF_INET, &address.ipv4.sin_addr, host, sizeof(host)),
                 ntohs(address.ipv4.sin_port));
    } else if (address.any.sa_family == AF_INET6) {
        self->is_local = IN6_IS_ADDR_LOOPBACK(&address.ipv6.sin6_addr);
        snprintf(self->name, sizeof(self->name), "[%s]:%u",
                 inet_ntop(AF_INET6, &address.ipv6.sin6_addr, host, sizeof(host)),
                 ntohs(address.ipv6.sin6_port));
    } else if (address.any.sa_family == AF_UNIX) {
        self->is_local = self->is_path = true;
        snprintf(self->name, sizeof(self->name), "%.*s", (int)sizeof(address.path.sun_path),
                 address.path.sun_path);
    } else {
        return "not a socket of TCP or of a path";
    }
    return NULL;
}

static bool listen_at(struct htw__listener *self, const struct addrinfo *address) {
    const int on = 1;
    self->fd = socket(address->ai_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->fd < 0)
        return false;
    if (setsockopt(self->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) == 0 &&
        bind(self->fd, address->ai_addr, address->ai_addrlen) == 0 &&
        listen(self->fd, BACKLOG) == 0)
        return true;
    int error = errno;
    close(self->fd);
    self->fd = -1;
    errno = error;
    return false;
}

/* At the first address of the name where that is possible. */
static const char *open_address(struct htw__listener *self, const char *where) {
    const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_NUMERICSERV };
    char host[HOST_MAX];
    const char *port, *why = split(where, host, &port);
    struct addrinfo *all, *one;
    if (why != NULL)
        return why;
    int error = getaddrinfo(host, port, &hints, &all);
    if (error != 0)
        return error == EAI_SYSTEM ? strerror(errno) : gai_strerror(error);
    for (one = all; one != NULL && !listen_at(self, one);)
        one = one->ai_next;
    why = one == NULL ? strerror(errno) : NULL;
    freeaddrinfo(all);
    return why != NULL ? why : describe(self);
}

static const char *open_path(struct htw__listener *self, const char *path, unsigned mode) {
    int error = *path == '\0' ? -ENOENT : htw__place_prepare(path);
    if (error == 0)
        error = htw__place_open(&self->place, path, mode);
    if (error != 0)
        return strerror(-error);
    self->has_place = self->is_path = self->is_local = true;
    self->fd = self->place.fd;
    snprintf(self->name, sizeof(self->name), "%s", path);
    return NULL;
}

const char *htw__listen_open(struct htw__listener *self, const char *where, unsigned mode) {
    static const char scheme[] = "unix:";
    const size_t length = sizeof(scheme) - 1;
    *self = (struct htw__listener) { .fd = -1 };
    return strncmp(where, scheme, length) == 0 ? open_path(self, where + length, mode)
                                               : open_address(self, where);
}

const char *htw__listen_adopt(struct htw__listener *self, int fd) {
    int listens = 0, type = 0;
    socklen_t size = sizeof(int);
    *self = (struct htw__listener) { .fd = fd };
    if (getsockopt(fd, SOL_SOCKET, SO_ACCEPTCONN, &listens, &size) != 0 || listens == 0 ||
        getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &size) != 0 || type != SOCK_STREAM)
        return "not a socket that listens for streams";
    int flags = fcntl(fd, F_GETFL);
    if (flags < 0 || fcntl(fd, F_SETFL, flags | O_NONBLOCK) != 0)
        return strerror(errno);
    return describe(self);
}

void htw__listen_close(struct htw__listener *self) {
    if (self->has_place)
        htw__place_close(&self->place);
    else if (self->fd >= 0)
        close(self->fd);
}

enum { PID, FDS, NAMES, VARIABLES };
static const char *const variables[VARIABLES] = { "LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES" };

static const char *read_variables(uint32_t *ret_count) {
    const char *pid_text = getenv(variables[PID]); /* NOLINT(concurrency-mt-unsafe) */
    const char *fds_text = getenv(variables[FDS]); /* NOLINT(concurrency-mt-unsafe) */
    uint64_t pid, count;
    if (pid_text == NULL || fds_text == NULL)
        return NULL;
    if (!htw__count_parse(pid_text, &pid))
        return "LISTEN_PID is not a number";
    if (pid != (uint64_t)getpid())
        return NULL;
    if (!htw__count_parse(fds_text, &count) || count > HTW__ACTIVATION_MAX)
        return "LISTEN_FDS is not a number up to 9";
    *ret_count = (uint32_t)count;
    return NULL;
}

const char *htw__activation_take(uint32_t *ret_count) {
    *ret_count = 0;
    const char *why = read_variables(ret_count);
    for (uint32_t i = 0; i < *ret_count && why == NULL; i++)
        if (fcntl(HTW__ACTIVATION_FIRST + (int)i, F_SETFD, FD_CLOEXEC) != 0)
            why = "LISTEN_FDS says more descriptors than there are";
    for (size_t i = 0; i < VARIABLES; i++)
        unsetenv(variables[i]); /* NOLINT(concurrency-mt-unsafe) */
    return why;
}

int htw__beside_open(struct htw__beside *self, const char *file) {
    char real[PATH_MAX];
    self->folder = -1;
    if (realpath(file, real) == NULL)
        return -errno;
    char *slash = strrchr(real, '/');
    *slash = '\0';
    self->folder = open(slash == real ? "/" : real, O_PATH | O_DIRECTORY | O_CLOEXEC);
    if (self->folder < 0)
        return -errno;
    int length = snprintf(self->path, sizeof(self->path), "/proc/self/fd/%d/%s-socket",
                          self->folder, slash + 1);
    return length < 0 || (size_t)length > HTW__PLACE_PATH_MAX ? -ENAMETOOLONG : 0;
}

void htw__beside_close(struct htw__beside *self) {
    if (self->folder >= 0)
        close(self->folder);
    self->folder = -1;
}
