/* SPDX-License-Identifier: MIT */
/* listener.c - accepts connections, also when file descriptors run out. */
#include "listener.h"

#include "loop.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define BACKLOG 4096
#define ACCEPTS_PER_ROUND 64
#define KEEPALIVE_S 300

static int open_spare_fd(void) {
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

static bool bind_and_listen(struct loop *loop) {
    struct broker *broker = loop->broker;
    struct sockaddr_in address = { .sin_family = AF_INET };
    socklen_t size = sizeof(address);
    int on = 1, is_shared = broker->options.reuse_port;
    address.sin_port = htons(broker->options.port);
    if (inet_pton(AF_INET, broker->options.bind, &address.sin_addr) != 1) {
        errno = EADDRNOTAVAIL;
        return false;
    }
    if (setsockopt(loop->listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on)) != 0 ||
        setsockopt(loop->listener, SOL_SOCKET, SO_REUSEPORT, &is_shared, sizeof(is_shared)) != 0 ||
        bind(loop->listener, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(loop->listener, BACKLOG) != 0 ||
        getsockname(loop->listener, (struct sockaddr *)&address, &size) != 0)
        return false;
    broker->port = ntohs(address.sin_port);
    return true;
}

bool listener_open(struct loop *loop) {
    loop->spare_fd = open_spare_fd();
    loop->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (loop->listener >= 0 && bind_and_listen(loop) &&
        loop_watch(loop, loop->listener, EPOLLIN, &loop->listener))
        return true;
    fprintf(stderr, "broker: cannot listen on %s:%u: %s\n", loop->broker->options.bind,
            loop->broker->options.port, strerror(errno));
    return false;
}

void listener_close(struct loop *loop) {
    if (loop->listener >= 0)
        close(loop->listener);
    if (loop->spare_fd >= 0)
        close(loop->spare_fd);
    loop->listener = loop->spare_fd = -1;
}

/* TCP_NODELAY sends small replies at once. SO_KEEPALIVE detects vanished clients; blocked ones
   would otherwise stay for ever. */
static void set_up(int socket) {
    int on = 1, idle_s = KEEPALIVE_S;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static void refuse(struct loop *loop, int socket) {
    static const char text[] = "-ERR max number of clients reached\r\n";
    send(socket, text, sizeof(text) - 1, MSG_NOSIGNAL | MSG_DONTWAIT);
    close(socket);
    loop_count(&loop->refused);
}

/* No file descriptor is free. The pending connection would stay, and epoll would report it again
   and again. So it is accepted with the spare descriptor, and refused. */
static void refuse_with_spare_fd(struct loop *loop) {
    if (loop->spare_fd >= 0)
        close(loop->spare_fd);
    int socket = accept4(loop->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    if (socket >= 0)
        refuse(loop, socket);
    loop->spare_fd = open_spare_fd();
}

void listener_accept(struct loop *loop) {
    struct broker *broker = loop->broker;
    for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
        int socket = accept4(loop->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket < 0 && (errno == EMFILE || errno == ENFILE)) {
            refuse_with_spare_fd(loop);
            return;
        }
        if (socket < 0)
            return;
        /* The loop that it would be assigned to may have ended. */
        if (atomic_load(&broker->is_stopping)) {
            close(socket);
            continue;
        }
        if (atomic_load(&broker->clients) >= broker->options.max_clients) {
            refuse(loop, socket);
            continue;
        }
        set_up(socket);
        loop_count(&loop->connections);
        client_create(&broker->loops[broker->assigned++ % broker->options.threads], socket);
    }
}
