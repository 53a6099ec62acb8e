/* SPDX-License-Identifier: MIT */
/*
 * loop.c - the rounds of the server.
 *
 * A round asks epoll for events, runs the timers that are due, takes the operations that are back, and gives
 * connections their turns, first come, first served, for a limited time.
 */
#include "server.h"

#include "connection.h"
#include "operation.h"
#include "reservation.h"

#include "../../src/base/clock.h"
#include "../../src/base/probe.h"

#include <signal.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#define EVENTS_PER_ROUND 32
#define TURNS_NS (HTW_MILLISECOND / 10)
#define TIMERS_PER_ROUND 4096

/* For commits of a lone client. A slower disk would keep the next client and signals waiting, so the journal's thread commits. */
#define PATIENCE_NS HTW_MILLISECOND

/* When what could not be given back for want of memory is tried again. */
#define RETRY_MS 1000

/* How long the last answers may take when the program ends. */
#define DRAIN_NS (3 * HTW_SECOND / 2)

/* ---- the end */

static void for_each_connection(struct htw__server *server,
                                void (*act)(struct htw__connection *connection)) {
    for (struct htw__link *link = server->connections._next, *next; link != &server->connections;
         link = next) {
        next = link->_next; /* `act` may close the connection */
        act(HTW__HOLDER(link, htw__connection, link));
    }
}

static void take_signals(struct htw__server *server) {
    struct signalfd_siginfo info;
    while (read(server->signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo == SIGUSR1)
            server->is_draining = true;
        else
            server->is_stopping = true;
    }
}

/* ---- a round */

static void handle(struct htw__server *server, const struct epoll_event *event) {
    void *what = event->data.ptr;
    if (what == &server->signals) {
        take_signals(server);
    } else if (what == &server->scheduler) {
        server->is_scheduler_due = true;
    } else if (what != &server->wake) {
        struct htw__connection *connection = what;
        connection->events |= event->events;
        htw__server_queue(connection);
    }
}

static bool is_listener(const struct htw__server *server, const void *what) {
    return (const char *)what >= (const char *)server->listeners &&
           (const char *)what < (const char *)(server->listeners + HTW__SERVE_LISTENERS);
}

/* Closes the connection with the most bytes of input and output, until all together have few enough: it is the cause,
   and the one that came last usually is not. */
static void limit_memory(struct htw__server *server) {
    while (server->memory > server->options.max_memory) {
        struct htw__connection *largest = NULL;
        for (struct htw__link *link = server->connections._next; link != &server->connections;
             link = link->_next) {
            struct htw__connection *connection = HTW__HOLDER(link, htw__connection, link);
            if (largest == NULL || connection->counted > largest->counted)
                largest = connection;
        }
        htw__connection_close(largest);
    }
}

static void run_turns(struct htw__server *server, int64_t end_ns) {
    do {
        struct htw__connection *connection = server->turns;
        if (connection == NULL)
            return;
        server->turns = connection->next_turn;
        if (server->turns == NULL)
            server->last_turn = &server->turns;
        connection->is_queued = false;
        htw__connection_turn(connection);
        limit_memory(server);
        server->now_ns = htw__clock_monotonic_ns();
    } while (server->now_ns < end_ns);
}

/* Returns whether there were any. */
static bool take_operations(struct htw__server *server) {
    struct htw__operation *first = htw__operations_take(server), *next;
    if (first != NULL)
        HTW__PROBE1(server_commit, server);
    for (struct htw__operation *operation = first; operation != NULL; operation = next) {
        next = operation->next_done;
        htw__connection_done(operation);
    }
    return first != NULL;
}

/* Until the journal has nothing more, for a limited time. Returns whether it may have. */
static bool run_commands(struct htw__server *server) {
    bool has_more;
    server->now_ns = htw__clock_monotonic_ns();
    int64_t end_ns = server->now_ns + TURNS_NS;
    int64_t patience_ns = server->connection_count == 1 ? PATIENCE_NS : 0;
    run_turns(server, end_ns);
    do {
        (void)htw_journal_process(server->journal,
                                  server->options.in_memory ? HTW_NEVER_NS : patience_ns);
        has_more = take_operations(server);
        if (has_more)
            run_turns(server, end_ns);
        /* order: The loop alone adds. */
        unsigned given_back = atomic_load_explicit(&server->given_back, memory_order_relaxed);
        has_more = has_more && server->operations + given_back > 0;
    } while (has_more && server->now_ns < end_ns);
    return has_more;
}

/* What other threads may read. */
static void publish(struct htw__server *server) {
    pthread_mutex_lock(&server->mutex);
    server->numbers =
        (struct htw__server_numbers) { server->connection_count, server->producers, server->workers,
                                       server->waiting, server->is_draining };
    pthread_mutex_unlock(&server->mutex);
}

static void run_round(struct htw__server *server, int timeout_ms) {
    struct epoll_event events[EVENTS_PER_ROUND];
    if (!htw__ring_is_empty(&server->kept) && (timeout_ms < 0 || timeout_ms > RETRY_MS))
        timeout_ms = RETRY_MS;
    int count = epoll_wait(server->epoll, events, EVENTS_PER_ROUND,
                           server->turns == NULL && !server->has_more ? timeout_ms : 0);
    for (int i = 0; i < count; i++)
        if (!is_listener(server, events[i].data.ptr))
            handle(server, &events[i]);
    if (server->is_scheduler_due)
        server->is_scheduler_due =
            htw_scheduler_process(server->scheduler, TIMERS_PER_ROUND, NULL) == HTW_MORE;
    htw__reservations_retry(server);
    server->has_more = run_commands(server) || server->is_scheduler_due;
    for (int i = 0; i < count; i++) /* last: closed connections free descriptors first */
        if (is_listener(server, events[i].data.ptr))
            htw__server_accept(server, events[i].data.ptr);
    htw__connections_free(server);
    publish(server);
}

void htw__serve_loop(struct htw__server *server) {
    /* order: A hint that is looked at in each round; nothing is read by it. */
    while (!server->is_stopping && !atomic_load_explicit(&server->has_failed, memory_order_relaxed))
        run_round(server, -1);
    int64_t end_ns = htw__clock_boottime_ns() + DRAIN_NS;
    htw__server_stop_listening(server);
    for_each_connection(server, htw__connection_drain);
    while ((server->connection_count > 0 || server->operations > 0) &&
           htw__clock_boottime_ns() < end_ns)
        run_round(server, (int)((end_ns - htw__clock_boottime_ns()) / HTW_MILLISECOND) + 1);
    for_each_connection(server, htw__connection_close);
    while (server->operations > 0 || server->turns != NULL)
        run_round(server, (int)(DRAIN_NS / HTW_MILLISECOND));
    htw__connections_free(server);
}
