/* SPDX-License-Identifier: MIT */
/*
 * peer_beanstalkd.c - beanstalkd with its log. All commands of a round are sent together, and then
 * all replies are read.
 */
#include "files.h"
#include "peer.h"

#include "../common/report.h"
#include "../common/server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/socket.h>
#include <unistd.h>

#define SOCKET "beanstalkd.sock"
#define LOG "binlog"
#define ROOM ((ROUND_MAX + 1) * (PAYLOAD_MAX + 100)) /* of the commands or replies of a round */

struct connection {
    int socket;
    char *commands, *replies;
    size_t command_size, reply_size, reply_at;
    unsigned long long taken[ROUND_MAX];
    size_t taken_count;
};

static struct connection *new_connection(int socket) {
    struct connection *self = calloc(1, sizeof(*self));
    if (self == NULL || (self->commands = malloc(ROOM)) == NULL ||
        (self->replies = malloc(ROOM)) == NULL)
        report_out_of_memory();
    self->socket = socket;
    return self;
}

static void *connect_to(void) {
    int socket;
    while ((socket = server_connect(SOCKET)) < 0)
        server_await();
    return new_connection(socket);
}

/* ---- commands and replies */

__attribute__((format(printf, 2, 3))) static void add(struct connection *self, const char *format,
                                                      ...) {
    va_list arguments;
    va_start(arguments, format);
    self->command_size += (size_t)vsnprintf(self->commands + self->command_size,
                                            ROOM - self->command_size, format, arguments);
    va_end(arguments);
}

static void read_some(struct connection *self) {
    ssize_t size = recv(self->socket, self->replies + self->reply_size, ROOM - 1 - self->reply_size,
                        MSG_DONTWAIT);
    if (size == 0 || (size < 0 && errno != EAGAIN && errno != EINTR))
        report_failure("beanstalkd has closed the connection");
    if (size > 0)
        self->reply_size += (size_t)size;
}

/* Reads replies meanwhile: the server does not read while it cannot write. */
static void send_all(struct connection *self) {
    self->reply_at = self->reply_size = 0;
    for (size_t at = 0; at < self->command_size;) {
        struct pollfd ready = { .fd = self->socket, .events = POLLIN | POLLOUT };
        poll(&ready, 1, -1);
        if (ready.revents & POLLIN)
            read_some(self);
        ssize_t size = send(self->socket, self->commands + at, self->command_size - at,
                            MSG_DONTWAIT | MSG_NOSIGNAL);
        if (size > 0)
            at += (size_t)size;
        else if (errno != EAGAIN && errno != EINTR)
            report_failure("beanstalkd: %s", strerror(errno));
    }
    self->command_size = 0;
}

/* Returns `size` bytes of the replies, which stay until the next round. */
static char *read_bytes(struct connection *self, size_t size) {
    while (self->reply_size - self->reply_at < size) {
        struct pollfd ready = { .fd = self->socket, .events = POLLIN };
        poll(&ready, 1, -1);
        read_some(self);
    }
    char *bytes = self->replies + self->reply_at;
    self->reply_at += size;
    return bytes;
}

/* Returns the next line of the replies, without its end. */
static const char *read_line(struct connection *self) {
    char *line = self->replies + self->reply_at, *end;
    while ((end = memchr(line, '\r', self->reply_size - self->reply_at)) == NULL ||
           end + 1 >= self->replies + self->reply_size) {
        struct pollfd ready = { .fd = self->socket, .events = POLLIN };
        poll(&ready, 1, -1);
        read_some(self);
    }
    *end = '\0';
    self->reply_at += (size_t)(end + 2 - line);
    return line;
}

static void expect(struct connection *self, const char *reply) {
    const char *line = read_line(self);
    if (strncmp(line, reply, strlen(reply)) != 0)
        report_failure("beanstalkd: %.40s where %s was expected", line, reply);
}

/* Its delays are whole seconds; 0 is at once. */
static void add_put(struct connection *self, int64_t deadline_ns, const char *payload,
                    size_t size) {
    int64_t delay_ns = deadline_ns - load_now_ns();
    long delay_s = delay_ns <= 0 ? 0 : (long)(delay_ns / 1000000000 + 1);
    add(self, "put 0 %ld 120 %zu\r\n%s\r\n", delay_s, size, payload);
}

/* ---- the peer */

static void put(void *connection, int64_t deadline_ns, const char *payload, size_t size) {
    add_put(connection, deadline_ns, payload, size);
    send_all(connection);
    expect(connection, "INSERTED ");
}

/* Returns false if no job is due. */
static bool take_one(struct connection *self, struct load *load) {
    const char *line = read_line(self);
    unsigned long long id;
    size_t size;
    if (strcmp(line, "TIMED_OUT") == 0)
        return false;
    if (sscanf(line, "RESERVED %llu %zu", &id, &size) != 2)
        report_failure("beanstalkd: %.40s", line);
    load_delivered(load, read_bytes(self, size + 2), size);
    self->taken[self->taken_count++] = id;
    return true;
}

static void make_round(void *connection, struct load *load) {
    struct connection *self = connection;
    char payload[PAYLOAD_MAX + 1];
    size_t ended = self->taken_count;
    size_t puts = load->put_next + (load->replaces ? ended : 0);
    size_t takes = load->replaces ? load->in_flight : 0;
    load->put_next = 0;
    for (size_t i = 0; i < ended; i++)
        add(self, "delete %llu\r\n", self->taken[i]);
    for (size_t i = 0; i < puts; i++) {
        int64_t deadline_ns = load_next(load, payload);
        add_put(self, deadline_ns, payload, load->payload_size);
    }
    for (size_t i = 0; i < takes; i++)
        add(self, "reserve-with-timeout 0\r\n");
    send_all(self);
    for (size_t i = 0; i < ended; i++) {
        expect(self, "DELETED");
        load_end(load, 1);
    }
    for (size_t i = 0; i < puts; i++)
        expect(self, "INSERTED ");
    self->taken_count = 0;
    for (size_t i = 0; i < takes; i++)
        take_one(self, load);
}

static uint64_t count(void) {
    static struct connection *self;
    if (self == NULL)
        self = connect_to();
    add(self, "stats\r\n");
    send_all(self);
    size_t size = strtoull(read_line(self) + strlen("OK "), NULL, 10);
    char *stats = read_bytes(self, size + 2);
    stats[size] = '\0';
    uint64_t sum = 0;
    static const char *const names[] = { "\ncurrent-jobs-ready: ", "\ncurrent-jobs-reserved: ",
                                         "\ncurrent-jobs-delayed: " };
    for (int i = 0; i < 3; i++) {
        const char *found = strstr(stats, names[i]);
        if (found == NULL)
            report_failure("beanstalkd: its statistics have no%s", names[i]);
        sum += strtoull(found + strlen(names[i]), NULL, 10);
    }
    return sum;
}

static void start(const struct peer *peer, size_t in_flight) {
    (void)in_flight;
    const char *path = server_find("beanstalkd", "/usr/bin/beanstalkd");
    if (mkdir(LOG, 0700) != 0 && errno != EEXIST)
        report_failure("%s: %s", LOG, strerror(errno));
    unlink(SOCKET);
    const char *sync = strcmp(peer->name, "beanstalkd") == 0 ? "-f0" : "-f50";
    const char *const arguments[] = { path, "-l", "unix:" SOCKET, "-b", LOG, sync, NULL };
    server_start("beanstalkd", arguments, NULL, SIGTERM);
    (void)count(); /* it accepts connections before it has read its log */
}

static uint64_t disk_bytes(void) {
    return files_total(LOG "/");
}

#define PEER_BEANSTALKD(name_, about_)                                                     \
    {                                                                                      \
        .name = name_, .about = about_, .clients = 2, .start = start, .stop = server_stop, \
        .connect = connect_to, .put = put, .round = make_round, .count = count,            \
        .disk_bytes = disk_bytes, .resident_bytes = server_resident_bytes                  \
    }

const struct peer peer_beanstalkd =
    PEER_BEANSTALKD("beanstalkd", "beanstalkd -b -f0: fsync before each reply");
const struct peer peer_beanstalkd_50ms =
    PEER_BEANSTALKD("beanstalkd-50ms", "beanstalkd -b -f50, its default: fsync each 50 ms");
