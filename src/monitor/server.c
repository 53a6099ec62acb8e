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
#include "answer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define MS 1000000LL
#define CLIENT_NS (5000 * MS)      /* from the accepting to the last byte */
#define ANSWER_PAUSE_NS (10 * MS)  /* from one answer to the next: 100 in a second */
#define ACCEPT_PAUSE_NS (100 * MS) /* after a failure */
#define READS_AT_ONCE 16 /* so that a client that sends without end is not read for ever */

/* ---- a client comes and goes */

static int *fd_of(struct htw_monitor *monitor, const struct htw__client *client) {
    return &monitor->descriptors.clients[client - monitor->clients];
}

/* What it still sends is read: otherwise the system would drop the end of the answer for it. */
static void drop(struct htw_monitor *monitor, struct htw__client *client) {
    char rest[512];
    int *fd = fd_of(monitor, client);
    for (int i = 0; i < READS_AT_ONCE && recv(*fd, rest, sizeof(rest), MSG_DONTWAIT) > 0; i++) {
    }
    htw__text_fini(&client->body);
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
        if (monitor->descriptors.clients[i] < 0)
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
    *client = (struct htw__client) { .until_ns = now_ns + CLIENT_NS };
    htw__text_init(&client->body, &monitor->allocator);
    if (!may_read(fd))
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

static int64_t earlier(int64_t a, int64_t b) {
    return a < b ? a : b;
}

/* When there is something to do at the latest. */
static int64_t next_ns(const struct htw_monitor *monitor, int64_t now_ns) {
    int64_t next = INT64_MAX;
    for (size_t i = 0; i < HTW__CLIENTS; i++) {
        const struct htw__client *client = &monitor->clients[i];
        if (monitor->descriptors.clients[i] < 0)
            continue;
        next = earlier(next, client->until_ns);
        if (client->is_ready && !client->has_answer)
            next = earlier(next, monitor->next_answer_ns);
    }
    if (monitor->accept_from_ns > now_ns)
        next = earlier(next, monitor->accept_from_ns);
    return next;
}

static int timeout_ms(int64_t next, int64_t now_ns) {
    if (next == INT64_MAX)
        return -1;
    int64_t ms = next <= now_ns ? 0 : (next - now_ns + MS - 1) / MS;
    return ms > INT_MAX ? INT_MAX : (int)ms;
}

/* Waits until a descriptor is ready or it is time; `wanted` has a place for each client behind those of
   `wake` and of the listener. */
static void wait_for_clients(struct htw_monitor *monitor, struct pollfd *wanted) {
    int64_t now_ns = htw__clock_monotonic_ns();
    bool accepts = find_place(monitor) != NULL && monitor->accept_from_ns <= now_ns;
    wanted[0] = (struct pollfd) { .fd = monitor->descriptors.wake, .events = POLLIN };
    wanted[1] =
        (struct pollfd) { .fd = accepts ? monitor->descriptors.listener : -1, .events = POLLIN };
    for (size_t i = 0; i < HTW__CLIENTS; i++) {
        const struct htw__client *client = &monitor->clients[i];
        int events = client->has_answer ? POLLOUT : client->is_ready ? 0 : POLLIN;
        wanted[2 + i] =
            (struct pollfd) { .fd = monitor->descriptors.clients[i], .events = (short)events };
    }
    if (poll(wanted, 2 + HTW__CLIENTS, timeout_ms(next_ns(monitor, now_ns), now_ns)) >= 0)
        return;
    for (size_t i = 0; i < 2 + HTW__CLIENTS; i++)
        wanted[i].revents = 0;
    if (errno != EINTR) { /* no memory in the kernel */
        const struct timespec pause = { 0, ACCEPT_PAUSE_NS };
        nanosleep(&pause, NULL);
    }
}

static void serve(struct htw_monitor *monitor, struct htw__client *client, short revents) {
    int64_t now_ns = htw__clock_monotonic_ns();
    bool stays = now_ns < client->until_ns;
    if (stays && !client->is_ready && !client->has_answer && revents != 0)
        stays = receive(monitor, client);
    else if (stays && !client->has_answer && (revents & (POLLHUP | POLLERR)) != 0)
        stays = false; /* it waits for its turn, and has gone */
    if (stays && client->is_ready && !client->has_answer && now_ns >= monitor->next_answer_ns) {
        htw__answer_make(monitor, client);
        monitor->next_answer_ns = htw__clock_monotonic_ns() + ANSWER_PAUSE_NS;
    }
    if (stays && client->has_answer)
        stays = respond(monitor, client);
    if (!stays)
        drop(monitor, client);
}

void *htw__server_run(void *arg) {
    struct htw_monitor *monitor = arg;
    struct pollfd wanted[2 + HTW__CLIENTS];
    for (;;) {
        wait_for_clients(monitor, wanted);
        if (wanted[0].revents != 0)
            break;
        for (size_t i = 0; i < HTW__CLIENTS; i++)
            if (wanted[2 + i].fd >= 0)
                serve(monitor, &monitor->clients[i], wanted[2 + i].revents);
        if (wanted[1].revents != 0)
            while (accept_client(monitor, htw__clock_monotonic_ns())) {
            }
    }
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        if (monitor->descriptors.clients[i] >= 0)
            drop(monitor, &monitor->clients[i]);
    return NULL;
}
