/* SPDX-License-Identifier: MIT */
/* listen.c - where servers listen. */
#include "listen.h"

#include "count.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096

const char *htw__listen_parse(const char *where, struct sockaddr_in *ret_address) {
    static const char wrong[] = "not [ADDRESS:]PORT with an IPv4 address";
    char host[INET_ADDRSTRLEN] = "127.0.0.1";
    const char *colon = strrchr(where, ':');
    uint64_t port;
    if (colon != NULL) {
        if ((size_t)(colon - where) >= sizeof(host))
            return wrong;
        memcpy(host, where, (size_t)(colon - where));
        host[colon - where] = '\0';
    }
    if (!htw__count_parse(colon == NULL ? where : colon + 1, &port) || port > 65535)
        return wrong;
    memset(ret_address, 0, sizeof(*ret_address));
    ret_address->sin_family = AF_INET;
    ret_address->sin_port = htons((uint16_t)port);
    return inet_pton(AF_INET, host, &ret_address->sin_addr) == 1 ? NULL : wrong;
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

static const char *open_address(struct htw__listener *self, const char *where) {
    struct sockaddr_in address;
    const int on = 1;
    const char *why = htw__listen_parse(where, &address);
    if (why != NULL)
        return why;
    self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->fd < 0 || setsockopt(self->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(self->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(self->fd, BACKLOG) != 0)
        return strerror(errno);
    return describe(self);
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
