/* SPDX-License-Identifier: MIT */
/*
 * server.c - accepts clients, reads their requests, and writes the answers: one thread, which waits for
 * no client in particular.
 *
 * Each client has one request and a time in which all must be done. While all places are taken the
 * others wait to be accepted: so neither many clients nor slow ones cost more than the places.
 */
#include "server.h"

#include "../base/clock.h"
#include "../base/thread.h"
#include "answer.h"

#include <errno.h>
#include <limits.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define CLIENT_NS (5000 * MS)     /* from the accepting to the last byte */
#define ANSWER_PAUSE_NS (10 * MS) /* from one answer to the next: 100 in a second at most */
#define ANSWER_SHARE 10           /* of the time, at most the tenth part of a CPU is for answers, */
#define ANSWER_PAUSE_MOST_NS (2000 * MS) /* ... if none takes more than a fifth of a second */
#define ACCEPT_PAUSE_NS (100 * MS)       /* after a failure */
#define READS_AT_ONCE 16 /* so that a client that sends without end is not read for ever */

/* What epoll says has happened: the number of a client, or one of these. */
enum { LISTENER = HTW__CLIENTS, WAKE, DESCRIPTORS };

static bool is_closing(struct htw_monitor *monitor) {
    /* order: A hint to stop early; the thread is joined. */
    return atomic_load_explicit(&monitor->is_closing, memory_order_relaxed);
}

/* Has epoll report these events of a descriptor as `number`. */
static bool await(int epoll, int operation, int fd, uint32_t events, uint32_t number) {
    struct epoll_event event = { .events = events, .data.u32 = number };
    return epoll_ctl(epoll, operation, fd, &event) == 0;
}

/* ---- a client comes and goes */

static int *fd_of(struct htw_monitor *monitor, const struct htw__client *client) {
    return &monitor->descriptors.clients[client - monitor->clients];
}

static bool is_connected(const struct htw_monitor *monitor, const struct htw__client *client) {
    return monitor->descriptors.clients[client - monitor->clients] >= 0;
}

/* What it still sends is read: otherwise the system would drop the end of the answer for it. */
static void drop(struct htw_monitor *monitor, struct htw__client *client) {
    char rest[512];
    int *fd = fd_of(monitor, client);
    for (int i = 0; i < READS_AT_ONCE && recv(*fd, rest, sizeof(rest), MSG_DONTWAIT) > 0; i++) {
    }
    htw__text_fini(&client->body);
    /* A child that the program has made by other means than fork() may still have the descriptor. */
    epoll_ctl(monitor->descriptors.epoll, EPOLL_CTL_DEL, *fd, NULL);
    htw__registry_close(fd);
}

static bool may_read(int fd) {
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static struct htw__client *find_place(struct htw_monitor *monitor) {
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        if (!is_connected(monitor, &monitor->clients[i]))
            return &monitor->clients[i];
    return NULL;
}

/* Accepts the next client. False: none waits, or there is no place. */
static bool accept_client(struct htw_monitor *monitor, int64_t now_ns) {
    struct htw__client *client = find_place(monitor);
    if (client == NULL)
        return false;
    htw__registry_lock();
    int fd = accept4(monitor->descriptors.listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int error = errno;
    *fd_of(monitor, client) = fd;
    htw__registry_unlock();
    if (fd < 0) {
        if (error != EAGAIN && error != EINTR && error != ECONNABORTED)
            monitor->accept_from_ns = now_ns + ACCEPT_PAUSE_NS; /* no descriptor, or no memory */
        return error == EINTR || error == ECONNABORTED;
    }
    *client = (struct htw__client) { .awaited = EPOLLIN, .until_ns = now_ns + CLIENT_NS };
    htw__text_init(&client->body, &monitor->allocator);
    if (!may_read(fd) || !await(monitor->descriptors.epoll, EPOLL_CTL_ADD, fd, EPOLLIN,
                                (uint32_t)(client - monitor->clients)))
        drop(monitor, client);
    return true;
}

/* ---- the request */

/* Reads what is there. False: the client has gone. */
static bool receive(struct htw_monitor *monitor, struct htw__client *client) {
    for (int i = 0; i < READS_AT_ONCE && !client->is_ready && !client->has_answer; i++) {
        char bytes[512];
        ssize_t size = recv(*fd_of(monitor, client), bytes, sizeof(bytes), MSG_DONTWAIT);
        if (size < 0)
            return errno == EAGAIN || errno == EINTR;
        if (size == 0) { /* the end counts as that of the line */
            bytes[size++] = '\n';
            if (client->received == 0 || client->has_line)
                return false;
        }
        htw__answer_take(client, bytes, (size_t)size);
    }
    return true;
}

/* ---- the answer */

/* Writes what the client takes. False: all is written, or the client has gone. */
static bool respond(struct htw_monitor *monitor, struct htw__client *client) {
    size_t total = client->head_size + client->body.size;
    while (client->sent < total) {
        bool in_head = client->sent < client->head_size;
        const char *from = in_head ? client->head + client->sent
                                   : client->body.bytes + (client->sent - client->head_size);
        size_t size = in_head ? client->head_size - client->sent : total - client->sent;
        ssize_t sent = send(*fd_of(monitor, client), from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        client->sent += (size_t)sent;
    }
    return false;
}

/* ---- the loop */

/* When there is something to do at the latest. */
static int64_t next_ns(const struct htw_monitor *monitor, int64_t now_ns) {
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < HTW__CLIENTS; i++) {
        const struct htw__client *client = &monitor->clients[i];
        if (!is_connected(monitor, client))
            continue;
        next = htw__clock_earlier(next, client->until_ns);
        if (client->is_ready && !client->has_answer)
            next = htw__clock_earlier(next, monitor->next_answer_ns);
    }
    if (monitor->accept_from_ns > now_ns)
        next = htw__clock_earlier(next, monitor->accept_from_ns);
    return next;
}

static int timeout_ms(int64_t next, int64_t now_ns) {
    if (next == INT64_MAX)
        return -1;
    int64_t ms = next <= now_ns ? 0 : (next - now_ns + MS - 1) / MS;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* Has epoll report what is to be done next. False: the system refuses it. */
static bool await_next(struct htw_monitor *monitor, int64_t now_ns) {
    bool accepts = find_place(monitor) != NULL && monitor->accept_from_ns <= now_ns;
    if (accepts != monitor->accepts &&
        !await(monitor->descriptors.epoll, EPOLL_CTL_MOD, monitor->descriptors.listener,
               accepts ? EPOLLIN : 0, LISTENER))
        return false;
    monitor->accepts = accepts;
    for (uint32_t i = 0; i < HTW__CLIENTS; i++) {
        struct htw__client *client = &monitor->clients[i];
        uint32_t events = client->has_answer ? EPOLLOUT : client->is_ready ? 0 : EPOLLIN;
        if (!is_connected(monitor, client) || events == client->awaited)
            continue;
        client->awaited = events;
        if (!await(monitor->descriptors.epoll, EPOLL_CTL_MOD, *fd_of(monitor, client), events, i))
            drop(monitor, client);
    }
    return true;
}

/* Waits until something happens or it is time. Returns whether a client waits to be accepted. epoll, and not
   poll(), which fails once the process may have fewer descriptors than poll() is to watch. */
static bool wait_for_clients(struct htw_monitor *monitor) {
    struct epoll_event events[DESCRIPTORS];
    const struct timespec pause = { 0, ACCEPT_PAUSE_NS };
    int64_t now_ns = htw__clock_monotonic_ns();
    bool has_newcomer = false;
    int count = -1;
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        monitor->clients[i].happened = 0;
    if (await_next(monitor, now_ns))
        count = epoll_wait(monitor->descriptors.epoll, events, DESCRIPTORS,
                           timeout_ms(next_ns(monitor, now_ns), now_ns));
    if (count < 0 && errno != EINTR)
        nanosleep(&pause, NULL);
    for (int i = 0; i < count; i++) {
        if (events[i].data.u32 < HTW__CLIENTS)
            monitor->clients[events[i].data.u32].happened = events[i].events;
        has_newcomer |= events[i].data.u32 == LISTENER;
    }
    return has_newcomer;
}

/* The time of a CPU that this thread has used. */
static int64_t used_ns(void) {
    struct timespec used = { 0, 0 };
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &used);
    return used.tv_sec * HTW_SECOND + used.tv_nsec;
}

int64_t htw__clients_pause_ns(int64_t answer_ns) {
    int64_t pause_ns = answer_ns * (ANSWER_SHARE - 1);
    return pause_ns < ANSWER_PAUSE_NS        ? ANSWER_PAUSE_NS
           : pause_ns > ANSWER_PAUSE_MOST_NS ? ANSWER_PAUSE_MOST_NS
                                             : pause_ns;
}

static void answer(struct htw_monitor *monitor, struct htw__client *client) {
    int64_t before_ns = used_ns();
    htw__answer_make(monitor, client);
    monitor->next_answer_ns =
        htw__clock_monotonic_ns() + htw__clients_pause_ns(used_ns() - before_ns);
}

static void serve(struct htw_monitor *monitor, struct htw__client *client) {
    int64_t now_ns = htw__clock_monotonic_ns();
    bool stays = now_ns < client->until_ns;
    if (stays && !client->is_ready && !client->has_answer && client->happened != 0)
        stays = receive(monitor, client);
    else if (stays && !client->has_answer && (client->happened & (EPOLLHUP | EPOLLERR)) != 0)
        stays = false; /* it waits for its turn, and has gone */
    if (stays && client->is_ready && !client->has_answer && now_ns >= monitor->next_answer_ns)
        answer(monitor, client);
    if (stays && client->has_answer)
        stays = !is_closing(monitor) && respond(monitor, client);
    if (!stays)
        drop(monitor, client);
}

void *htw__clients_run(void *arg) {
    htw__thread_begin();
    struct htw_monitor *monitor = arg;
    while (!is_closing(monitor)) {
        bool has_newcomer = wait_for_clients(monitor);
        for (size_t i = 0; i < HTW__CLIENTS; i++)
            if (is_connected(monitor, &monitor->clients[i]) && !is_closing(monitor))
                serve(monitor, &monitor->clients[i]);
        while (has_newcomer && !is_closing(monitor))
            has_newcomer = accept_client(monitor, htw__clock_monotonic_ns());
    }
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        if (is_connected(monitor, &monitor->clients[i]))
            drop(monitor, &monitor->clients[i]);
    return NULL;
}

/* ---- opening and closing */

int htw__clients_open(struct htw__descriptors *descriptors) {
    descriptors->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int error = errno;
    descriptors->epoll = descriptors->wake < 0 ? -1 : epoll_create1(EPOLL_CLOEXEC);
    if (descriptors->epoll >= 0 &&
        await(descriptors->epoll, EPOLL_CTL_ADD, descriptors->wake, EPOLLIN, WAKE) &&
        await(descriptors->epoll, EPOLL_CTL_ADD, descriptors->listener, EPOLLIN, LISTENER))
        return 0;
    error = descriptors->wake >= 0 ? errno : error;
    htw__clients_close(descriptors);
    return error == EMFILE || error == ENFILE ? -error : -ENOMEM;
}

void htw__clients_close(const struct htw__descriptors *descriptors) {
    if (descriptors->epoll >= 0)
        close(descriptors->epoll);
    if (descriptors->wake >= 0)
        close(descriptors->wake);
}

void htw__clients_end(struct htw_monitor *monitor) {
    /* order: A hint to stop early; the thread is joined. */
    atomic_store_explicit(&monitor->is_closing, true, memory_order_relaxed);
    eventfd_write(monitor->descriptors.wake, 1);
}
