/* SPDX-License-Identifier: MIT */
/* client.c - connections that speak beanstalkd's protocol. */
#include "client.h"

#include "../common/clock.h"
#include "../common/report.h"
#include "../common/server.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#define PATIENCE_MS 60000

void client_connect(struct client *client, unsigned port) {
    static const int yes = 1;
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    memset(client, 0, sizeof(*client));
    for (;;) {
        client->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        if (client->socket < 0)
            report_failure("socket: %s", strerror(errno));
        setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
        if (connect(client->socket, (struct sockaddr *)&to, sizeof(to)) == 0)
            return;
        close(client->socket);
        server_await();
    }
}

/* Each waits for an answer, so that the backlog of the server does not overflow. */
static void greet(struct client *client) {
    client_say(client, "use default\r\n");
    client_expect(client, "USING default");
}

void clients_connect(struct clients *clients, unsigned port, unsigned count) {
    struct rlimit limit;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    clients->epoll = epoll_create1(EPOLL_CLOEXEC);
    clients->count = count;
    clients->of = calloc(count, sizeof(*clients->of));
    if (clients->epoll < 0 || clients->of == NULL)
        report_failure("%s", strerror(errno));
    for (unsigned i = 0; i < count; i++) {
        struct epoll_event event = { .events = EPOLLIN, .data.ptr = &clients->of[i] };
        client_connect(&clients->of[i], port);
        greet(&clients->of[i]);
        if (epoll_ctl(clients->epoll, EPOLL_CTL_ADD, clients->of[i].socket, &event) != 0)
            report_failure("epoll: %s", strerror(errno));
    }
}

void clients_wait(struct clients *clients, int64_t until_ns) {
    struct epoll_event events[READY_MAX];
    int64_t left_ns = until_ns - clock_now_ns(), most_ns = PATIENCE_MS * INT64_C(1000000);
    bool is_last = left_ns > most_ns;
    left_ns = is_last ? most_ns : left_ns > 0 ? left_ns : 0;
    struct timespec left = { .tv_sec = left_ns / 1000000000, .tv_nsec = left_ns % 1000000000 };
    int count = epoll_pwait2(clients->epoll, events, READY_MAX, &left, NULL);
    if (count == 0 && is_last)
        report_failure("no answer");
    clients->ready_count = count < 0 ? 0 : (unsigned)count;
    for (unsigned i = 0; i < clients->ready_count; i++)
        clients->ready[i] = events[i].data.ptr;
}

void client_send(struct client *client, const char *bytes, size_t size) {
    while (size > 0) {
        ssize_t sent = send(client->socket, bytes, size, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR)
            report_failure("send: %s", strerror(errno));
        bytes += sent < 0 ? 0 : sent;
        size -= sent < 0 ? 0 : (size_t)sent;
    }
}

void client_say(struct client *client, const char *command) {
    client_send(client, command, strlen(command));
}

size_t client_write_put(char *text, unsigned delay_s) {
    return (size_t)sprintf(text, "put 0 %u 120 %d\r\n%0*d\r\n", delay_s, BODY_SIZE, BODY_SIZE, 0);
}

void client_put(struct client *client, unsigned delay_s) {
    char text[128];
    int size = sprintf(text, "put 0 %u 120 %d\r\n%0*lld\r\n", delay_s, BODY_SIZE, BODY_SIZE,
                       (long long)clock_wall_ns());
    client_send(client, text, (size_t)size);
}

int64_t client_age_ns(const char *body) {
    return clock_wall_ns() - strtoll(body, NULL, 10);
}

void client_receive(struct client *client, bool blocks) {
    size_t left = client->size - client->at;
    memmove(client->input, client->input + client->at, left);
    client->at = 0;
    client->size = left;
    if (blocks) {
        struct pollfd readable = { .fd = client->socket, .events = POLLIN };
        if (poll(&readable, 1, PATIENCE_MS) == 0)
            report_failure("no answer");
    }
    ssize_t size =
        recv(client->socket, client->input + left, sizeof(client->input) - left, MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        report_failure("a connection was closed");
    client->size += size < 0 ? 0 : (size_t)size;
}

const char *client_line(struct client *client) {
    char *line = client->input + client->at;
    char *end = memchr(line, '\n', client->size - client->at);
    if (end == NULL)
        return NULL;
    *end = '\0';
    client->at = (size_t)(end + 1 - client->input);
    return line;
}

void client_check(const char *line, const char *answer) {
    if (strncmp(line, answer, strlen(answer)) != 0)
        report_failure("%.40s where %s was expected", line, answer);
}

const char *client_expect(struct client *client, const char *answer) {
    const char *line;
    while ((line = client_line(client)) == NULL)
        client_receive(client, true);
    client_check(line, answer);
    return line;
}
