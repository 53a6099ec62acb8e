/* SPDX-License-Identifier: MIT */
/*
 * shed_idle.c - a TCP server that keeps idle connections for a minute, and for less when memory runs
 * short.
 *
 * Each connection has a timer with a least and a greatest delay, all in one group. After each change of
 * the memory in use the server sets the scale of the group: 1 up to LOW, 0 from HIGH on. That moves the
 * deadlines of all connections at once, in one step, so it may be done for each accept and each close.
 * The connections that have been idle for longest end first. When memory is free again, the others keep
 * their minute.
 *
 * The scheduler is embedded, as in keepalive_server.c.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/scheduler.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define LEAST_NS (100 * HTW_MILLISECOND)
#define GREATEST_NS HTW_MINUTE
#define CLIENTS 100u
#define BUFFER ((size_t)64 * 1024) /* what a connection takes */
#define LOW (16 * BUFFER)
#define HIGH (24 * BUFFER)

struct server {
    struct htw_scheduler *scheduler;
    struct htw_group *idle; /* the timers of all connections */
    int epoll, listener;
    _Atomic size_t memory; /* in use; the clients of the demo read it */
    unsigned closed;
    unsigned shed, too_early; /* only so that the demo can check itself */
    double least_scale;
};

struct connection {
    struct server *server;
    int socket;
    htw_handle idle;
    int64_t last_ns; /* of the last request */
    char buffer[BUFFER];
};

/* ---- the point of it */

static void account(struct server *server, size_t memory) {
    double scale = memory <= LOW    ? 1
                   : memory >= HIGH ? 0
                                    : (double)(HIGH - memory) / (double)(HIGH - LOW);
    atomic_store(&server->memory, memory);
    if (htw_group_set_scale(server->idle, scale) != 0)
        exit(1);
    if (scale < server->least_scale)
        server->least_scale = scale;
}

static void close_connection(struct connection *connection) {
    struct server *server = connection->server;
    server->closed++;
    close(connection->socket); /* leaves the epoll set, too */
    free(connection);
    account(server, server->memory - BUFFER);
}

static void idle_too_long(void *arg, const struct htw_expiration *expiration) {
    struct connection *connection = arg;
    int64_t idle_ns = htw_scheduler_now(expiration->scheduler) - connection->last_ns;
    connection->server->shed++;
    if (idle_ns < LEAST_NS)
        connection->server->too_early++;
    close_connection(connection);
}

/* ---- the rest of a server */

static bool watch(struct server *server, int fd, void *what) {
    struct epoll_event event = { .events = EPOLLIN, .data = { .ptr = what } };
    return fd >= 0 && epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void accept_connection(struct server *server) {
    struct connection *connection = malloc(sizeof(*connection));
    struct htw_spec spec = HTW_SPEC_INIT;
    if (connection == NULL)
        exit(1);
    connection->server = server;
    connection->socket = accept(server->listener, NULL, NULL);
    connection->last_ns = htw_scheduler_now(server->scheduler);
    spec.callback = idle_too_long;
    spec.arg = connection;
    spec.group = server->idle;
    spec.when_ns = LEAST_NS;
    spec.span_ns = GREATEST_NS - LEAST_NS;
    if (!watch(server, connection->socket, connection) ||
        htw_schedule_spec(server->scheduler, &spec, &connection->idle, NULL) != 0)
        exit(1);
    account(server, server->memory + BUFFER);
}

static void serve_request(struct connection *connection) {
    struct server *server = connection->server;
    ssize_t size = recv(connection->socket, connection->buffer, sizeof(connection->buffer), 0);
    if (size <= 0) { /* the client has gone */
        if (htw_cancel(server->scheduler, connection->idle) == HTW_CANCELLED)
            close_connection(connection);
        return;
    }
    connection->last_ns = htw_scheduler_now(server->scheduler);
    htw_reschedule(server->scheduler, connection->idle, LEAST_NS); /* keeps its span */
    send(connection->socket, connection->buffer, (size_t)size, MSG_NOSIGNAL);
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
    options.workers = 0;
    options.shards = 1; /* one thread arms all timers */
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(server->listener, (struct sockaddr *)&any, sizeof(any)) == 0 &&
           listen(server->listener, CLIENTS) == 0 && watch(server, server->listener, server) &&
           htw_scheduler_create(&server->scheduler, &options) == 0 &&
           htw_group_create(server->scheduler, &server->idle) == 0 &&
           watch(server, htw_scheduler_fd(server->scheduler), server->scheduler);
}

/* ---- the demo: clients come every 10 ms, send one request and fall silent; the first one goes on
   sending */

static void pause_10_ms(void) {
    nanosleep(&(struct timespec) { .tv_nsec = 10 * HTW_MILLISECOND }, NULL);
}

static void request(int socket) {
    char answer[16];
    if (send(socket, "ping", 4, MSG_NOSIGNAL) == 4)
        recv(socket, answer, sizeof(answer), 0);
}

static void *be_clients(void *arg) {
    struct server *server = arg;
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    int sockets[CLIENTS];
    if (getsockname(server->listener, (struct sockaddr *)&address, &size) != 0) /* which port? */
        exit(1);
    for (unsigned i = 0; i < CLIENTS; i++) {
        sockets[i] = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (connect(sockets[i], (struct sockaddr *)&address, size) != 0)
            exit(1);
        request(sockets[i]);
        request(sockets[0]);
        pause_10_ms();
    }
    while (atomic_load(&server->memory) >= HIGH) {
        request(sockets[0]);
        pause_10_ms();
    }
    for (unsigned i = 0; i < CLIENTS; i++)
        close(sockets[i]);
    return NULL;
}

int main(void) {
    struct server server = { .least_scale = 1 };
    pthread_t clients;
    if (!start(&server) || pthread_create(&clients, NULL, be_clients, &server) != 0)
        return 1;
    serve(&server);
    pthread_join(clients, NULL);
    printf("%u connections; %u closed for idleness, %u of them too early; the scale went down to "
           "%.2f and is %.2f again\n",
           server.closed, server.shed, server.too_early, server.least_scale,
           htw_group_scale(server.idle));
    bool clean = htw_pending(server.scheduler) == 0 && htw_group_scale(server.idle) == 1;
    htw_group_destroy(server.idle);
    htw_scheduler_destroy(server.scheduler);
    close(server.listener);
    close(server.epoll);
    /* Within a minute, so it was the scale that did it. */
    return server.shed >= CLIENTS - HIGH / BUFFER && server.too_early == 0 && clean ? 0 : 1;
}
