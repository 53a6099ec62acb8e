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

/* Of IPv4 and IPv6: the host begins at another byte, and what is not used is 0. */
struct address {
    sa_family_t family;
    in_port_t port;
    char host[20], rest[sizeof(struct sockaddr_storage) - 24];
};

/* Whether `other` reads where this pipe writes, or is the socket whose address is `peer`, or listens there: the other
   end may still be in its queue. */
static bool is_other_end(int other, int fd, const struct stat *status, const struct address *peer) {
    struct stat of_other;
    struct address name = { .family = AF_UNSPEC };
    socklen_t size = sizeof(name);
    if (fstat(other, &of_other) != 0)
        return false;
    if (S_ISSOCK(status->st_mode))
        return getsockname(other, (struct sockaddr *)&name, &size) == 0 &&
               (name.family == AF_INET || name.family == AF_INET6) && name.port == peer->port;
    int own = fcntl(fd, F_GETFL) & O_ACCMODE;
    return of_other.st_ino == status->st_ino && of_other.st_dev == status->st_dev &&
           (own == O_RDWR || (fcntl(other, F_GETFL) & O_ACCMODE) != own);
}

static enum bubble_place place_of_ends(int fd, const struct stat *status,
                                       const struct address *peer) {
    for (int other = 0; other < FDS_MAX; other++)
        if (is_other_end(other, fd, status, peer))
            return INSIDE;
    return OUTSIDE;
}

static enum bubble_place place_of_socket(int fd, const struct stat *status) {
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
    return is_same_host ? place_of_ends(fd, status, &peer) : OUTSIDE;
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

/* The worst of those that it watches: the numbers after "tfd:". */
static enum bubble_place place_of_epoll(int fd) {
    const size_t size = 1 << 16; /* 900 descriptors */
    enum bubble_place worst = INSIDE;
    char *text = malloc(size); /* one for each epoll: one may watch another */
    if (text == NULL)
        return OUTSIDE;
    const char *at = bubble_read_proc(text, size, "fdinfo", fd, "");
    while ((at = strstr(at, "tfd:")) != NULL) {
        at += strlen("tfd:");
        worst = bubble_worse(worst, bubble_place_of((int)strtol(at, NULL, 10)));
    }
    free(text);
    return worst;
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
    if (!S_ISFIFO(status.st_mode) && !S_ISSOCK(status.st_mode))
        return place_of_anonymous(fd);
    return S_ISSOCK(status.st_mode) ? place_of_socket(fd, &status)
                                    : place_of_ends(fd, &status, &(struct address) { 0 });
}

enum bubble_place bubble_place_of_thread(const struct bubble_thread *thread) {
    enum bubble_place worst = thread->place;
    for (nfds_t i = 0; thread->state == POLLS && i < thread->fd_count; i++)
        worst = bubble_worse(worst, bubble_place_of(thread->fds[i].fd));
    return worst;
}
