/* SPDX-License-Identifier: MIT */
/* crowd.c - connections that block in BLPOP. */
#include "crowd.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CLIENTS_PER_ADDRESS 20000 /* the kernel has some 28 000 ports for each address */
#define WAVE 64                   /* below the backlog of the servers */
#define BLOCKED_WITHIN_S 20

#define ITEM_REPLY "*2\r\n$12\r\nkey:%08u\r\n$8\r\n%08u\r\n"
#define ITEM_LENGTH 37
#define NIL_REPLY "*-1\r\n"

static void send_all(int fd, const char *text, size_t length) {
    ssize_t sent = send(fd, text, length, MSG_NOSIGNAL);
    if (sent < 0)
        load_fail("cannot send: %s", strerror(errno));
    if ((size_t)sent != length) /* cannot happen: a hundred bytes fit into an empty buffer */
        load_fail("cannot send more than %zd bytes of %zu", sent, length);
}

/* Reads from a blocking connection, and appends a 0. */
static size_t receive(int fd, char *buffer, size_t size) {
    ssize_t length = recv(fd, buffer, size - 1, 0);
    if (length <= 0)
        load_fail("the server has hung up: %s", length < 0 ? strerror(errno) : "end of stream");
    buffer[length] = '\0';
    return (size_t)length;
}

static int connect_from(uint32_t address, unsigned port) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        load_fail("no socket: %s", strerror(errno));
    static const int yes = 1;
    static const struct linger reset = { .l_onoff = 1, .l_linger = 0 };
    setsockopt(fd, IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT, &yes, sizeof(yes));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof(yes));
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
    struct sockaddr_in from = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(address) };
    struct sockaddr_in to = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)port),
                              .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    if (bind(fd, (struct sockaddr *)&from, sizeof(from)) != 0)
        load_fail("cannot bind to 127.0.0.%u: %s", address & 255, strerror(errno));
    if (connect(fd, (struct sockaddr *)&to, sizeof(to)) != 0)
        load_fail("cannot connect to port %u: %s", port, strerror(errno));
    return fd;
}

static void await_pong(int fd) {
    char answer[64];
    size_t length = receive(fd, answer, sizeof(answer));
    if (length != 7 || memcmp(answer, "+PONG\r\n", 7) != 0)
        load_fail("instead of PONG: %s", answer);
}

static void add_to_epoll(struct crowd *crowd, struct client *client) {
    struct epoll_event event = { .events = EPOLLIN, .data.ptr = client };
    if (fcntl(client->fd, F_SETFL, O_NONBLOCK) != 0 ||
        epoll_ctl(crowd->epoll, EPOLL_CTL_ADD, client->fd, &event) != 0)
        load_fail("cannot watch a connection: %s", strerror(errno));
}

/* Connects in waves, so that the backlog of the server does not overflow. */
void crowd_connect(struct crowd *crowd, const struct load *load) {
    *crowd = (struct crowd) { .load = load };
    crowd->clients = calloc(load->count, sizeof(*crowd->clients));
    crowd->epoll = epoll_create1(EPOLL_CLOEXEC);
    if (crowd->clients == NULL || crowd->epoll < 0)
        load_fail("%s", strerror(errno));
    crowd->control = connect_from(INADDR_LOOPBACK, load->port);
    unsigned greeted = 0;
    for (unsigned i = 0; i < load->count; i++) {
        struct client *client = &crowd->clients[i];
        client->fd = connect_from(INADDR_LOOPBACK + i / CLIENTS_PER_ADDRESS, load->port);
        client->key = i % load->keys;
        send_all(client->fd, "PING\r\n", 6);
        while (i - greeted == WAVE - 1 || (i == load->count - 1 && greeted <= i))
            await_pong(crowd->clients[greeted++].fd);
    }
    for (unsigned i = 0; i < load->count; i++)
        add_to_epoll(crowd, &crowd->clients[i]);
}

void crowd_disconnect(struct crowd *crowd) {
    for (unsigned i = 0; i < crowd->load->count; i++)
        close(crowd->clients[i].fd);
    close(crowd->control);
    close(crowd->epoll);
    free(crowd->clients);
}

void crowd_block(struct client *client, unsigned timeout_ms) {
    char seconds[32], command[128];
    int digits =
        snprintf(seconds, sizeof(seconds), "%u.%03u", timeout_ms / 1000, timeout_ms % 1000);
    int length =
        snprintf(command, sizeof(command), "*3\r\n$5\r\nBLPOP\r\n$12\r\nkey:%08u\r\n$%d\r\n%s\r\n",
                 client->key, digits, seconds);
    client->length = 0;
    client->due_ns = timeout_ms == 0 ? 0 : load_now_ns() + (int64_t)timeout_ms * 1000000;
    send_all(client->fd, command, (size_t)length);
}

/* Returns the number of a field of INFO. */
static unsigned long info(struct crowd *crowd, const char *name) {
    send_all(crowd->control, "INFO\r\n", 6);
    static char text[65536];
    size_t have = 0, wanted = 1;
    while (have < wanted) {
        have += receive(crowd->control, text + have, sizeof(text) - have);
        const char *body = strchr(text, '\n');
        if (text[0] != '$')
            load_fail("INFO is answered with: %.60s", text);
        wanted =
            body == NULL ? have + 1 : (size_t)(body + 1 - text) + strtoul(text + 1, NULL, 10) + 2;
        if (wanted >= sizeof(text))
            load_fail("INFO says too much: %zu bytes", wanted);
    }
    const char *line = strstr(text, name);
    if (line == NULL)
        load_fail("INFO has no line %s", name);
    return strtoul(line + strlen(name), NULL, 10);
}

void crowd_await_blocked(struct crowd *crowd) {
    int64_t end_ns = load_now_ns() + BLOCKED_WITHIN_S * INT64_C(1000000000);
    unsigned long blocked;
    while ((blocked = info(crowd, "\nblocked_clients:")) != crowd->load->count) {
        if (load_now_ns() > end_ns)
            load_fail("after %d s %lu of %u clients are blocked", BLOCKED_WITHIN_S, blocked,
                      crowd->load->count);
        nanosleep(&(struct timespec) { .tv_nsec = 1000000 }, NULL);
    }
}

enum outcome crowd_read(struct client *client) {
    size_t room = sizeof(client->reply) - 1 - client->length;
    ssize_t length = recv(client->fd, client->reply + client->length, room, 0);
    if (length < 0 && errno == EAGAIN)
        return OUTCOME_PART;
    if (length <= 0)
        load_fail("a client was hung up: %s", length < 0 ? strerror(errno) : "end of stream");
    client->length += (size_t)length;
    client->reply[client->length] = '\0';
    if (client->length == ITEM_LENGTH && memcmp(client->reply, "*2\r\n", 4) == 0)
        return OUTCOME_ITEM;
    if (strcmp(client->reply, NIL_REPLY) == 0)
        return OUTCOME_NIL;
    if (client->reply[0] != '*' || client->length >= ITEM_LENGTH)
        load_fail("BLPOP is answered with: %s", client->reply);
    return OUTCOME_PART;
}

bool crowd_has_item(const struct client *client, unsigned number) {
    char expected[sizeof(client->reply)];
    snprintf(expected, sizeof(expected), ITEM_REPLY, client->key, number);
    return strcmp(client->reply, expected) == 0;
}

void crowd_push(struct crowd *crowd, unsigned key, unsigned number) {
    char command[128];
    int length = snprintf(command, sizeof(command),
                          "*3\r\n$5\r\nLPUSH\r\n$12\r\nkey:%08u\r\n$8\r\n%08u\r\n", key, number);
    send_all(crowd->control, command, (size_t)length);
}

void crowd_finish_push(struct crowd *crowd) {
    char answer[64];
    size_t length = receive(crowd->control, answer, sizeof(answer));
    if (length != 4 || memcmp(answer, ":1\r\n", 4) != 0)
        load_fail("LPUSH is answered with: %s", answer);
}
