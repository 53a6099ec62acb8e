/* SPDX-License-Identifier: MIT */
/*
 * settings_server.c - a TCP server of settings whose clients wait until one of them changes: a long
 * poll that misses no change.
 *
 *     set size 7                     answer: ok 1, the version after it
 *     watch 1 30000 colour size      waits until one of these is newer than version 1, for 30 s at most:
 *                                    colour 2 red, or: unchanged
 *     waiting                        how many clients wait
 *     stop
 *
 * A client that waits is a request on the names that it has given. A change asks the requests on its
 * name, and no others. A client that goes away while it waits cancels its request, and at the end all
 * are told. The scheduler is embedded, as in keepalive_server.c: one thread, no lock.
 */
#define _POSIX_C_SOURCE 200809L
#include <htw/purgatory.h>

#include <netinet/in.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#define SETTINGS 3
#define LINE_MAX_SIZE 512
#define CLIENTS 100

struct setting {
    const char *name;
    char value[64];
    uint64_t version; /* of its last change */
};

struct server {
    struct htw_scheduler *scheduler;
    struct htw_purgatory *purgatory;
    int epoll, listener;
    struct setting settings[SETTINGS];
    uint64_t version; /* of the last change of all */
    unsigned connections, waiting, cancelled;
    bool is_stopped;
};

struct connection {
    struct server *server;
    int socket;
    bool is_waiting;
    char line[LINE_MAX_SIZE];
    size_t size;
    const struct setting *watched[SETTINGS], *changed;
    size_t count;  /* of those that it watches */
    uint64_t seen; /* the version that it knows */
    struct htw_request request;
};

static struct connection *connection_of(struct htw_request *request) {
    return HTW_CONTAINER_OF(request, struct connection, request);
}

/* What a client does not read is lost to it, and nobody waits for it. */
static __attribute__((format(printf, 2, 3))) void answer(struct connection *connection,
                                                         const char *format, ...) {
    char text[128];
    va_list arguments;
    va_start(arguments, format);
    int size = vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)!send(connection->socket, text, (size_t)size, MSG_NOSIGNAL | MSG_DONTWAIT);
}

/* ---- the point of it: the hooks, and what calls them */

static bool has_changed(void *context, struct htw_request *request) {
    struct connection *connection = connection_of(request);
    (void)context;
    for (size_t i = 0; i < connection->count; i++) {
        if (connection->watched[i]->version > connection->seen) {
            connection->changed = connection->watched[i];
            return true;
        }
    }
    return false;
}

static void end_of_wait(void *context, struct htw_request *request, enum htw_reason reason) {
    struct server *server = context;
    struct connection *connection = connection_of(request);
    const struct setting *setting = connection->changed;
    connection->is_waiting = false;
    server->waiting--;
    if (reason == HTW_REASON_COMPLETED)
        answer(connection, "%s %llu %s\n", setting->name, (unsigned long long)setting->version,
               setting->value);
    else if (reason == HTW_REASON_CANCELLED)
        server->cancelled++;
    else
        answer(connection, reason == HTW_REASON_EXPIRED ? "unchanged\n" : "stopped\n");
}

static struct setting *find(struct server *server, const char *name) {
    for (size_t i = 0; name != NULL && i < SETTINGS; i++)
        if (strcmp(server->settings[i].name, name) == 0)
            return &server->settings[i];
    return NULL;
}

/* The answer has been sent, or will be, unless this returns false. */
static bool watch(struct connection *connection, char *words) {
    struct server *server = connection->server;
    char *seen = strtok_r(NULL, " ", &words), *timeout_ms = strtok_r(NULL, " ", &words);
    struct htw_key keys[SETTINGS];
    const struct setting *setting;
    size_t count = 0;
    while (count < SETTINGS && (setting = find(server, strtok_r(NULL, " ", &words))) != NULL) {
        keys[count] = (struct htw_key) { setting->name, strlen(setting->name) };
        connection->watched[count++] = setting;
    }
    if (count == 0)
        return false;
    connection->count = count;
    connection->seen = strtoull(seen, NULL, 10);
    connection->is_waiting = true;
    server->waiting++;
    int64_t timeout_ns = (int64_t)strtoul(timeout_ms, NULL, 10) * HTW_MILLISECOND;
    if (htw_purgatory_try_complete_else_watch(server->purgatory, &connection->request, keys, count,
                                              timeout_ns) >= 0)
        return true;
    connection->is_waiting = false;
    server->waiting--;
    return false;
}

static bool set(struct server *server, struct connection *connection, char *words) {
    struct setting *setting = find(server, strtok_r(NULL, " ", &words));
    char *value = strtok_r(NULL, " ", &words);
    if (setting == NULL || value == NULL)
        return false;
    snprintf(setting->value, sizeof(setting->value), "%s", value);
    setting->version = ++server->version; /* first the change, then the event */
    htw_purgatory_check(server->purgatory, setting->name, strlen(setting->name));
    answer(connection, "ok %llu\n", (unsigned long long)setting->version);
    return true;
}

static void stop(struct server *server) {
    server->is_stopped = true;                          /* when all have gone */
    htw_purgatory_close(server->purgatory, NULL, NULL); /* those that wait are told */
}

static void close_connection(struct connection *connection) {
    if (connection->is_waiting)
        htw_request_cancel(connection->server->purgatory, &connection->request);
    connection->server->connections--;
    close(connection->socket); /* leaves the epoll set, too */
    free(connection);
}

/* ---- the rest of a server */

static void execute(struct connection *connection) {
    char *words, *command = strtok_r(connection->line, " ", &words);
    bool is_right = command != NULL;
    if (is_right && strcmp(command, "watch") == 0)
        is_right = watch(connection, words);
    else if (is_right && strcmp(command, "set") == 0)
        is_right = set(connection->server, connection, words);
    else if (is_right && strcmp(command, "waiting") == 0)
        answer(connection, "%u\n", connection->server->waiting);
    else if (is_right && strcmp(command, "stop") == 0)
        stop(connection->server);
    else
        is_right = false;
    if (!is_right)
        answer(connection, "refused\n");
}

/* One line at a time: a client that sends more before its answer is closed, and one that has gone. */
static void read_line(struct connection *connection) {
    size_t room = sizeof(connection->line) - connection->size;
    ssize_t got = connection->is_waiting
                      ? 0
                      : recv(connection->socket, connection->line + connection->size, room, 0);
    char *end = got > 0 ? memchr(connection->line + connection->size, '\n', (size_t)got) : NULL;
    if (got <= 0 || (end == NULL ? (size_t)got == room
                                 : end != connection->line + connection->size + got - 1)) {
        close_connection(connection);
        return;
    }
    connection->size += (size_t)got;
    if (end != NULL) {
        *end = '\0';
        connection->size = 0;
        execute(connection);
    }
}

static bool add(struct server *server, int fd, void *what) {
    struct epoll_event event = { .events = EPOLLIN | EPOLLRDHUP, .data = { .ptr = what } };
    return fd >= 0 && epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

static void accept_connection(struct server *server) {
    struct connection *connection = calloc(1, sizeof(*connection));
    if (connection == NULL)
        exit(1);
    connection->server = server;
    connection->socket = accept(server->listener, NULL, NULL);
    if (!add(server, connection->socket, connection))
        exit(1);
    server->connections++;
}

static void serve(struct server *server) {
    while (!server->is_stopped || server->connections > 0) {
        struct epoll_event events[16];
        int count = epoll_wait(server->epoll, events, 16, -1);
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == server->scheduler)
                htw_scheduler_process(server->scheduler, 0, NULL);
            else if (events[i].data.ptr == server)
                accept_connection(server);
            else
                read_line(events[i].data.ptr);
        }
    }
}

static bool start(struct server *server) {
    struct htw_scheduler_options scheduler_options = HTW_SCHEDULER_OPTIONS_INIT;
    scheduler_options.embedded = true;
    scheduler_options.workers = HTW_NO_WORKERS;
    struct htw_purgatory_options options = HTW_PURGATORY_OPTIONS_INIT;
    options.try_complete = has_changed;
    options.on_complete = end_of_wait;
    options.context = server;
    struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr = { htonl(INADDR_LOOPBACK) } };
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    return bind(server->listener, (struct sockaddr *)&any, sizeof(any)) == 0 &&
           listen(server->listener, CLIENTS) == 0 && add(server, server->listener, server) &&
           htw_scheduler_create(&server->scheduler, &scheduler_options) == 0 &&
           htw_purgatory_create(&server->purgatory, server->scheduler, &options) == 0 &&
           add(server, htw_scheduler_fd(server->scheduler), server->scheduler);
}

/* ---- the demo: its clients */

static int connect_to(const struct server *server) {
    struct sockaddr_in address;
    socklen_t size = sizeof(address);
    int client = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (getsockname(server->listener, (struct sockaddr *)&address, &size) != 0 ||
        connect(client, (struct sockaddr *)&address, size) != 0)
        exit(1);
    return client;
}

static void say(int client, const char *line) {
    if (send(client, line, strlen(line), MSG_NOSIGNAL) != (ssize_t)strlen(line))
        exit(1);
}

static bool hears(int client, const char *wanted) {
    char line[128];
    size_t size = 0;
    while (size < sizeof(line) - 1 && (size == 0 || line[size - 1] != '\n') &&
           recv(client, line + size, 1, 0) == 1)
        size++;
    line[size] = '\0';
    return strcmp(line, wanted) == 0;
}

static bool asks(int client, const char *line, const char *wanted) {
    say(client, line);
    return hears(client, wanted);
}

static bool watches(int one, int two) {
    say(one, "watch 0 60000 colour size\n");
    return asks(two, "set size 7\n", "ok 1\n") && hears(one, "size 1 7\n") &&
           asks(one, "watch 1 50 colour\n", "unchanged\n") &&
           asks(two, "set colour red\n", "ok 2\n") && /* nobody waits: it is not missed */
           asks(one, "watch 1 60000 size colour\n", "colour 2 red\n");
}

/* Half of those that wait go away; the others get the change. */
static bool goes_to_those_that_stay(const struct server *server, int two) {
    int clients[CLIENTS], told = 0;
    for (int i = 0; i < CLIENTS; i++) {
        clients[i] = connect_to(server);
        say(clients[i], "watch 2 60000 shape\n");
    }
    while (!asks(two, "waiting\n", "100\n"))
        ;
    for (int i = 0; i < CLIENTS / 2; i++)
        close(clients[i]);
    while (!asks(two, "waiting\n", "50\n"))
        ;
    bool is_set = asks(two, "set shape round\n", "ok 3\n");
    for (int i = CLIENTS / 2; i < CLIENTS; i++) {
        told += hears(clients[i], "shape 3 round\n");
        close(clients[i]);
    }
    printf("%d clients waited, %d stayed, %d were told\n", CLIENTS, CLIENTS / 2, told);
    return is_set && told == CLIENTS / 2;
}

static void *be_clients(void *arg) {
    static bool is_well;
    const struct server *server = arg;
    int one = connect_to(server), two = connect_to(server);
    is_well = watches(one, two) && goes_to_those_that_stay(server, two);
    say(one, "watch 3 60000 size\n");
    while (!asks(two, "waiting\n", "1\n"))
        ;
    say(two, "stop\n");
    is_well = hears(one, "stopped\n") && is_well;
    close(one);
    close(two);
    return is_well ? &is_well : NULL;
}

int main(void) {
    struct server server = { .settings = {
                                 { .name = "colour" }, { .name = "size" }, { .name = "shape" } } };
    pthread_t clients;
    void *is_well;
    if (!start(&server) || pthread_create(&clients, NULL, be_clients, &server) != 0)
        return 1;
    serve(&server);
    pthread_join(clients, &is_well);
    bool is_clean = server.cancelled == CLIENTS / 2 && server.waiting == 0;
    htw_purgatory_destroy(server.purgatory);
    htw_scheduler_destroy(server.scheduler);
    close(server.listener);
    close(server.epoll);
    return is_well != NULL && is_clean ? 0 : 1;
}
