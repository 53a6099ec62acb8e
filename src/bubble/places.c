/* SPDX-License-Identifier: MIT */
/* places.c - who can make a descriptor ready: this process, also another one, or only another one. */
#include "bubble.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>

static int option_of(int fd, int option) {
    int value = 0;
    socklen_t size = sizeof(value);
    getsockopt(fd, SOL_SOCKET, option, &value, &size);
    return value;
}

#define PORT (UINT64_C(1) << 63)

/* Of IPv4 and IPv6: the host begins at another byte, and what is not used is 0. */
struct address {
    sa_family_t family;
    in_port_t port;
    char host[20], rest[sizeof(struct sockaddr_storage) - 24];
};

/* A number that this end of a pipe or of a connection has, or that its other end has. For a connection, its port: the
   other end may still be in the queue of a socket that listens there. */
static uint64_t end_of(int fd, bool is_other) {
    struct stat status;
    struct address name = { .family = AF_UNSPEC };
    socklen_t size = sizeof(name);
    bool is_reader = (fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDONLY;
    if (fstat(fd, &status) != 0)
        return 0;
    if (S_ISFIFO(status.st_mode))
        return status.st_ino * 2 + (is_reader != is_other);
    (is_other ? getpeername : getsockname)(fd, (struct sockaddr *)&name, &size);
    return name.family == AF_INET || name.family == AF_INET6 ? PORT | name.port : is_other;
}

static enum bubble_place place_of_end(int fd) {
    uint64_t other = end_of(fd, true);
    for (int i = 0; i < FDS_MAX; i++)
        if (end_of(i, false) == other)
            return INSIDE;
    return OUTSIDE;
}

static enum bubble_place place_of_socket(int fd) {
    struct address own = { .family = AF_UNSPEC }, peer = { .family = AF_UNSPEC };
    socklen_t size = sizeof(own), peer_size = sizeof(peer);
    getsockname(fd, (struct sockaddr *)&own, &size);
    if (option_of(fd, SO_ACCEPTCONN) != 0)
        return EITHER;
    if (getpeername(fd, (struct sockaddr *)&peer, &peer_size) != 0)
        return option_of(fd, SO_TYPE) == SOCK_DGRAM ? EITHER : OUTSIDE;
    if (own.family == AF_UNIX) /* the first number of struct ucred is the process */
        return option_of(fd, SO_PEERCRED) == getpid() ? INSIDE : OUTSIDE;
    bool is_same_host = memcmp(own.host, peer.host, sizeof(own.host)) == 0;
    return is_same_host ? place_of_end(fd) : OUTSIDE;
}

char *bubble_read_proc(char *text, size_t size, const char *name, int number, const char *file) {
    char path[64];
    ssize_t length;
    size_t read_until = 0;
    snprintf(path, sizeof(path), "/proc/self/%s/%d%s", name, number, file);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while ((length = read(fd, text + read_until, size - 1 - read_until)) > 0)
        read_until += (size_t)length;
    if (fd >= 0)
        REAL(close)(fd);
    text[read_until] = '\0';
    return text;
}

/* Of those that it watches: the numbers after "tfd:". */
static enum bubble_place place_of_epoll(int fd) {
    const size_t size = 1 << 16; /* 900 descriptors */
    enum bubble_place place = INSIDE;
    char *text = malloc(size); /* one for each epoll: one may watch another */
    if (text == NULL)
        return OUTSIDE;
    const char *at = bubble_read_proc(text, size, "fdinfo", fd, "");
    while ((at = strstr(at, "tfd:")) != NULL) {
        at += strlen("tfd:");
        place |= bubble_place_of((int)strtol(at, NULL, 10));
    }
    free(text);
    return place;
}

static enum bubble_place place_of_anonymous(int fd) {
    char path[64], name[64] = "";
    snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
    if (readlink(path, name, sizeof(name) - 1) < 0)
        return OUTSIDE;
    if (strcmp(name, "anon_inode:[eventpoll]") == 0)
        return place_of_epoll(fd);
    if (strcmp(name, "anon_inode:[signalfd]") == 0)
        return EITHER;
    return strcmp(name, "anon_inode:[eventfd]") == 0 ? INSIDE : OUTSIDE;
}

enum bubble_place bubble_place_of(int fd) {
    struct stat status;
    if (fstat(fd, &status) != 0)
        return INSIDE; /* it does not wait */
    if (S_ISSOCK(status.st_mode))
        return place_of_socket(fd);
    return S_ISFIFO(status.st_mode) ? place_of_end(fd) : place_of_anonymous(fd);
}

enum bubble_place bubble_place_of_thread(const struct bubble_thread *thread) {
    const struct bubble_wait *wait = &thread->wait;
    enum bubble_place place = thread->place;
    for (nfds_t i = 0; thread->state == WAITS && i < wait->fd_count; i++)
        place |= bubble_place_of(wait->fds[i].fd);
    return place;
}
