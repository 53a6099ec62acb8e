/* SPDX-License-Identifier: MIT */
/*
 * keepalive_server.c - a TCP server that closes a connection on which nothing comes for 200 ms.
 *
 * Each connection has one timer, which every request moves: the most frequent call by far, and one of
 * a few nanoseconds.
 *
 * The scheduler is embedded: its file descriptor is in the server's epoll set like any socket,
 * its callbacks run in the server's only thread, and so nothing here needs a lock.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/scheduler.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define IDLE_NS (200 * HTW_MILLISECOND)
#define CLIENTS 3

struct server {
    struct htw_scheduler *scheduler;
    int epoll, listener;
    unsigned requests, closed, too_early;
};

struct connection {
    struct server *server;
    int socket;
    htw_handle idle; /* the timer */
    int64_t last_ns; /* of the last request; only so that the demo can check itself */
};

static void close_connection(struct connection *connection) {
    connection->server->closed++;
    close(connection->socket); /* leaves the epoll set, too */
    free(connection);
}

static void idle_too_long(void *arg, const struct htw_expiration *expiration) {
    struct connection *connection = arg;
    if (htw_scheduler_now(expiration->scheduler) - connection->last_ns < IDLE_NS)
        connection->server->too_early++;
    close_connection(connection);
}

static bool watch(struct server *server, int fd, void *what) {
    struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = what } };
    return fd >= 0 && epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void accept_connection(struct server *server) {
    struct connection *connection = malloc(sizeof(*connection));
    if (connection == NULL)
        exit(1);
    *connection = (struct connection) { .server = server,
                                        .socket = accept(server->listener, NULL, NULL),
                                        .last_ns = htw_scheduler_now(server->scheduler) };
    if (!watch(server, connection->socket, connection) ||
        htw_schedule(server->scheduler, IDLE_NS, idle_too_long, connection, &connection->idle) != 0)
        exit(1);
}

static void serve_request(struct connection *connection) {
    struct server *server = connection->server;
    char request[64];
    ssize_t size = recv(connection->socket, request, sizeof(request), 0);
    if (size <= 0) { /* the client has gone */
        if (htw_cancel(server->scheduler, connection->idle) == HTW_CANCELLED)
            close_connection(connection);
        return;
    }
    connection->last_ns = htw_scheduler_now(server->scheduler);
    htw_reschedule(server->scheduler, connection->idle, IDLE_NS);
    server->requests++;
    send(connection->socket, request, (size_t)size, MSG_NOSIGNAL);
}

static void serve(struct server *server) {
    while (server->closed < CLIENTS) {
        struct epoll_event events[16];
        int count = epoll_wait(server->epoll, events, 16, -1);
        bool due = false;
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == server->scheduler)
                due = true;
            else if (events[i].data.ptr == server)
                accept_connection(server);
            else
                serve_request(events[i].data.ptr);
        }
        if (due) /* last, since it frees connections, which `events` may name */
            htw_scheduler_process(server->scheduler, 0, NULL);
    }
}

static bool start(struct server *server) {
    struct htw_scheduler_options options = HTW_SCHEDULER_OPTIONS_INIT;
    options.embedded = true;
    options.workers = HTW_NO_WORKERS;
    options.shards = 1; /* one thread arms all timers */
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(server->listener, (struct sockaddr *)&any, sizeof(any)) == 0 &&
           listen(server->listener, CLIENTS) == 0 && watch(server, server->listener, server) &&
           htw_scheduler_create(&server->scheduler, &options) == 0 &&
           watch(server, htw_scheduler_fd(server->scheduler), server->scheduler);
}

/* ---- the demo: clients that send 0, 10 and 20 requests, 20 ms apart, and then fall silent */

static void *be_clients(void *arg) {
    const int *sockets = arg;
    char answer[64];
    for (int round = 0; round < 10 * (CLIENTS - 1); round++) {
        for (int i = round / 10 + 1; i < CLIENTS; i++)
            if (send(sockets[i], "ping", 4, MSG_NOSIGNAL) == 4)
                recv(sockets[i], answer, sizeof(answer), 0);
        nanosleep(&(struct timespec) { .tv_nsec = 20 * HTW_MILLISECOND }, NULL);
    }
    for (int i = 0; i < CLIENTS; i++) {
        while (recv(sockets[i], answer, sizeof(answer), 0) > 0)
            ; /* until the server has closed it */
        close(sockets[i]);
    }
    return NULL;
}

int main(void) {
    struct server server = { .closed = 0 };
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    pthread_t thread;
    int sockets[CLIENTS];
    if (!start(&server) ||
        getsockname(server.listener, (struct sockaddr *)&address, &size) != 0) /* which port? */
        return 1;
    for (int i = 0; i < CLIENTS; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(sockets[i], (struct sockaddr *)&address, size) != 0)
            return 1;
    }
    if (pthread_create(&thread, NULL, be_clients, sockets) != 0)
        return 1;
    serve(&server);
    pthread_join(thread, NULL);
    printf("%u requests; %u connections closed for idleness, %u of them too early\n",
           server.requests, server.closed, server.too_early);
    bool clean = htw_pending(server.scheduler) == 0;
    htw_scheduler_destroy(server.scheduler);
    close(server.listener);
    close(server.epoll);
    return server.requests > 0 && server.too_early == 0 && clean ? 0 : 1;
}
