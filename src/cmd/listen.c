/* SPDX-License-Identifier: MIT */
/* listen.c - where servers listen. */
#include "listen.h"

#include "count.h"

#include <arpa/inet.h>
#include <errno.h>
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

static const char *open_address(struct htw__listener *self, const char *where) {
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    char host[INET_ADDRSTRLEN];
    const int on = 1;
    const char *why = htw__listen_parse(where, &address);
    if (why != NULL)
        return why;
    self->is_local = ntohl(address.sin_addr.s_addr) >> 24 == IN_LOOPBACKNET;
    self->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (self->fd < 0 || setsockopt(self->fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        bind(self->fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(self->fd, BACKLOG) != 0 ||
        getsockname(self->fd, (struct sockaddr *)&address, &size) != 0)
        return strerror(errno);
    snprintf(self->name, sizeof(self->name), "%s:%u",
             inet_ntop(AF_INET, &address.sin_addr, host, sizeof(host)), ntohs(address.sin_port));
    return NULL;
}

static const char *open_path(struct htw__listener *self, const char *path) {
    int error = *path == '\0' ? -ENOENT : htw__place_prepare(path);
    if (error == 0)
        error = htw__place_open(&self->place, path);
    if (error != 0)
        return strerror(-error);
    self->has_place = self->is_local = true;
    self->fd = self->place.fd;
    snprintf(self->name, sizeof(self->name), "%s", path);
    return NULL;
}

const char *htw__listen_open(struct htw__listener *self, const char *where) {
    static const char scheme[] = "unix:";
    const size_t length = sizeof(scheme) - 1;
    *self = (struct htw__listener) { .fd = -1 };
    return strncmp(where, scheme, length) == 0 ? open_path(self, where + length)
                                               : open_address(self, where);
}

void htw__listen_close(struct htw__listener *self) {
    if (self->has_place)
        htw__place_close(&self->place);
    else if (self->fd >= 0)
        close(self->fd);
}
