/* SPDX-License-Identifier: MIT */
/* start.c - the journal and the sockets of a server; accepting connections, also when descriptors run out. */
#include "server.h"

#include "connection.h"
#include "reader.h"
#include "tube.h"

#include "../../src/base/alloc.h"
#include "../../src/base/random.h"
#include "../kit/monitored.h"
#include "../kit/terminal.h"

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#define ACCEPTS_PER_ROUND 64
#define KEEPALIVE_S 300

/* Of listening, where nothing can be accepted. */
#define PAUSE_NS (100 * HTW_MILLISECOND)

/* Descriptors that are not connections: those of the file, and 64 for HTTP at each of two places. */
#define OTHER_FILES 192

static bool fail(const char *what, int error) {
    htw__terminal_error("%s: %s", what, htw_strerror(error));
    return false;
}

/* ---- the journal */

/* In the journal's thread. */
static void stopped(void *context, const char *why) {
    struct htw__server *server = context;
    const uint64_t one = 1;
    htw__terminal_error("%s", why);
    /* order: A hint; what is written to `wake` wakes the loop. */
    atomic_store_explicit(&server->has_failed, true, memory_order_relaxed);
    (void)!write(server->wake, &one, sizeof(one));
}

static bool open_journal(struct htw__server *server) {
    struct htw_journal_options options = HTW_JOURNAL_OPTIONS_INIT;
    options.stopped = stopped;
    options.context = server;
    options.synchronous = (enum htw_synchronous)server->options.synchronous;
    options.max_jobs = server->options.max_jobs;
    options.max_memory = server->options.max_memory;
    options.gather_ns = 1; /* a turn of the loop gathers */
    if (htw_journal_open(&server->journal, server->scheduler, server->options.path, &options) == 0)
        return true;
    htw__terminal_error("%s", htw_journal_error());
    return false;
}

static htw_callback listen_again;

static bool open_timers(struct htw__server *server) {
    struct htw_scheduler_options scheduler = HTW_SCHEDULER_OPTIONS_INIT;
    scheduler.embedded = true;
    scheduler.clock = HTW_CLOCK_BOOTTIME;
    scheduler.shards = 1;
    int error = htw_scheduler_create(&server->scheduler, &scheduler);
    if (error != 0)
        return fail("cannot start", error);
    /* This is always there. Its first time is so far away that the wheel gets all levels that it may need. */
    return htw_schedule_here(server->scheduler, HTW__SERVE_FAR_NS,
                             HTW_HERE(listen_again, "pause of listening"), server,
                             &server->pause) == 0 ||
           fail("cannot start", -ENOMEM);
}

/* ---- sockets */

static bool watch(struct htw__server *server, int fd, uint32_t events, void *what) {
    struct epoll_event event = { .events = events, .data = { .ptr = what } };
    return fd >= 0 && epoll_ctl(server->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

/* The listener is the next one, which was opened unless `why` says otherwise. */
static bool add_listener(struct htw__server *server, const char *where, const char *why) {
    struct htw__listener *listener = &server->listeners[server->listener_count++];
    if (why == NULL && !watch(server, listener->fd, EPOLLIN, listener))
        why = strerror(errno);
    if (why != NULL)
        htw__terminal_error("cannot listen at %s: %s", where, why);
    return why == NULL;
}

static bool listen_all(struct htw__server *server) {
    const struct htw__serve_options *options = &server->options;
    for (int fd = HTW__ACTIVATION_FIRST; fd < HTW__ACTIVATION_FIRST + (int)options->passed; fd++) {
        char where[32];
        snprintf(where, sizeof(where), "descriptor %d", fd);
        if (!add_listener(server, where,
                          htw__listen_adopt(&server->listeners[server->listener_count], fd)))
            return false;
    }
    for (uint32_t i = 0; i < options->listen.count; i++) {
        const char *where = options->listen.of[i];
        if (!add_listener(server, where,
                          htw__listen_open(&server->listeners[server->listener_count], where,
                                           options->socket_mode)))
            return false;
    }
    return true;
}

/* TCP_NODELAY sends small answers at once. SO_KEEPALIVE detects clients that have vanished: waiting ones would
   otherwise stay for ever. */
static void set_up(int socket) {
    const int on = 1, idle_s = KEEPALIVE_S;
    setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof(on));
    setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &idle_s, sizeof(idle_s));
}

static void set_listening(struct htw__server *server, uint32_t events) {
    for (uint32_t i = 0; i < server->listener_count; i++) {
        struct epoll_event event = { .events = events, .data = { .ptr = &server->listeners[i] } };
        (void)epoll_ctl(server->epoll, EPOLL_CTL_MOD, server->listeners[i].fd, &event);
    }
}

static void listen_again(void *arg, const struct htw_expiration *expiration) {
    struct htw__server *server = arg;
    (void)expiration;
    (void)htw_reschedule(server->scheduler, server->pause, HTW__SERVE_FAR_NS);
    set_listening(server, EPOLLIN);
}

static bool lacks_resources(int error) {
    return error == EMFILE || error == ENFILE || error == ENOMEM || error == ENOBUFS;
}

void htw__server_accept(struct htw__server *server, const struct htw__listener *listener) {
    for (int i = 0; i < ACCEPTS_PER_ROUND; i++) {
        int socket = accept4(listener->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (socket < 0) {
            if (lacks_resources(errno)) { /* epoll would report the connection again and again */
                set_listening(server, 0);
                (void)htw_reschedule(server->scheduler, server->pause, PAUSE_NS);
            }
            return;
        }
        if (server->connection_count >= server->options.max_connections) {
            close(socket);
            continue;
        }
        if (!listener->is_path)
            set_up(socket);
        htw__connection_create(server, socket);
    }
}

void htw__server_stop_listening(struct htw__server *server) {
    while (server->listener_count > 0)
        htw__listen_close(&server->listeners[--server->listener_count]);
}

/* ---- all */

/* Raises the limit on open files as far as allowed, and lowers that of connections if it is still too low. */
static void raise_file_limit(struct htw__serve_options *options) {
    struct rlimit limit;
    if (getrlimit(RLIMIT_NOFILE, &limit) != 0)
        return;
    limit.rlim_cur = limit.rlim_max;
    setrlimit(RLIMIT_NOFILE, &limit);
    if (limit.rlim_max == RLIM_INFINITY ||
        limit.rlim_max >= (rlim_t)options->max_connections + OTHER_FILES)
        return;
    options->max_connections =
        limit.rlim_max > OTHER_FILES ? (uint32_t)(limit.rlim_max - OTHER_FILES) : 1;
    htw__terminal_error("at most %u connections, because of the limit on open files",
                        options->max_connections);
}

/* Before any thread is started: they inherit the mask. */
static int open_signals(void) {
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGINT);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGUSR1);
    sigprocmask(SIG_BLOCK, &signals, NULL);
    return signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
}

static bool open_loop(struct htw__server *server) {
    server->epoll = epoll_create1(EPOLL_CLOEXEC);
    server->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    server->input = malloc(HTW__SERVE_INPUT);
    if (server->input == NULL)
        return fail("cannot start", -ENOMEM);
    return (watch(server, server->wake, EPOLLIN | EPOLLET, &server->wake) &&
            watch(server, server->signals, EPOLLIN, &server->signals) &&
            watch(server, htw_scheduler_fd(server->scheduler), EPOLLIN, &server->scheduler)) ||
           fail("cannot start", -errno);
}

static void init(struct htw__server *server, const struct htw__serve_options *options) {
    *server = (struct htw__server) { .options = *options, .epoll = -1, .wake = -1 };
    server->loop = pthread_self();
    raise_file_limit(&server->options);
    pthread_mutex_init(&server->mutex, NULL);
    server->last_done = &server->done;
    server->last_turn = &server->turns;
    htw__ring_init(&server->connections);
    htw__ring_init(&server->held);
    htw__ring_init(&server->kept);
    server->seed = htw__random_seed(server);
    htw__tubes_init(server, &htw__default_allocator);
    htw__readers_init(server);
    htw__key_table_init(&server->reservations, &htw__default_allocator);
    server->started_ns = htw__clock_boottime_ns();
    snprintf(server->id, sizeof(server->id), "%016llx", (unsigned long long)server->seed);
}

/* Reads only what other threads may read. */
static bool open_monitor(struct htw__server *server) {
    const struct htw__monitored shown = {
        .name = "serve",
        .scheduler = server->scheduler,
        .journal = { server->journal, htw_journal_get_stats, htw_journal_list_queues },
    };
    return !server->options.monitor || htw__monitored_begin(server->options.monitor_path, &shown);
}

/* This tube is always there. */
static bool keep_default(struct htw__server *server) {
    struct htw__tube *tube = htw__tube_get(server, "default");
    if (tube == NULL)
        htw__terminal_error("%s", strerror(ENOMEM));
    else
        tube->holders++;
    return tube != NULL;
}

bool htw__server_open(struct htw__server *server, const struct htw__serve_options *options) {
    init(server, options);
    server->signals = open_signals();
    return keep_default(server) && open_timers(server) && open_loop(server) &&
           open_journal(server) && listen_all(server) && open_monitor(server);
}

bool htw__server_close(struct htw__server *server) {
    htw__monitored_end();
    htw__server_stop_listening(server);
    htw__readers_fini(server);
    bool is_well = server->journal == NULL || htw_journal_close(server->journal) == 0;
    if (!is_well)
        htw__terminal_error("%s", htw_journal_error());
    htw_scheduler_destroy(server->scheduler);
    htw__tubes_fini(server);
    htw__key_table_fini(&server->reservations);
    pthread_mutex_destroy(&server->mutex);
    free(server->input);
    close(server->epoll); /* also where one was not opened */
    close(server->wake);
    close(server->signals);
    /* order: The journal is closed: its thread has ended. */
    return is_well && !atomic_load_explicit(&server->has_failed, memory_order_relaxed);
}
