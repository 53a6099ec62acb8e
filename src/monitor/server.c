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
#include "../base/log.h"
#include "../port/system.h"
#include "answer.h"
#include "registry.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
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

/* ---- a client comes and goes */

/* What it still sends is read: otherwise the system would drop the end of the answer for it. */
static void drop(struct htw__client *client) {
    char rest[512];
    for (int i = 0; i < READS_AT_ONCE && recv(client->fd, rest, sizeof(rest), MSG_DONTWAIT) > 0;
         i++) {
    }
    htw__text_fini(&client->text);
    htw__registry_close(&client->fd);
}

static bool may_read(int fd) {
    struct ucred peer;
    socklen_t size = sizeof(peer);
    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) == 0 &&
           (peer.uid == geteuid() || peer.uid == 0);
}

static struct htw__client *find_place(struct htw_monitor *monitor) {
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        if (monitor->clients[i].fd < 0)
            return &monitor->clients[i];
    return NULL;
}

/* Accepts the next client. False: none waits, or there is no place. */
static bool accept_client(struct htw_monitor *monitor, int64_t now_ns) {
    struct htw__client *client = find_place(monitor);
    if (client == NULL)
        return false;
    htw__registry_lock();
    int fd = accept4(monitor->place.fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    int error = errno;
    client->fd = fd;
    htw__registry_unlock();
    if (fd < 0) {
        if (error != EAGAIN && error != EINTR && error != ECONNABORTED) {
            monitor->accept_from_ns = now_ns + ACCEPT_PAUSE_NS; /* no descriptor, or no memory */
            if (htw__report_is_due(&monitor->report_due_ns))
                htw__report(HTW_LOG_WARNING, "monitor", "%s: a client cannot be accepted: %s",
                            monitor->place.path, htw_strerror(-error));
        }
        return error == EINTR || error == ECONNABORTED;
    }
    *client = (struct htw__client) { .fd = fd, .until_ns = now_ns + CLIENT_NS };
    htw__text_init(&client->text, &monitor->allocator);
    if (!may_read(fd))
        drop(client);
    return true;
}

/* ---- the request */

/* Reads a part of what is there. False: the client has gone. */
static bool receive(struct htw__client *client) {
    char bytes[1024];
    ssize_t size = recv(client->fd, bytes, sizeof(bytes), MSG_DONTWAIT);
    if (size < 0)
        return errno == EAGAIN || errno == EINTR;
    if (size == 0) { /* the end counts as that of the line */
        if (client->text.size == 0 || strchr(client->text.bytes, '\n') != NULL)
            return false;
        bytes[size++] = '\n';
    }
    htw__answer_take(client, bytes, (size_t)size);
    return true;
}

/* ---- the answer */

/* Writes what the client takes. False: all is written, or the client has gone. */
static bool respond(struct htw__client *client) {
    size_t total = client->head_size + client->text.size;
    while (client->sent < total) {
        bool in_head = client->sent < client->head_size;
        const char *from = in_head ? client->head + client->sent
                                   : client->text.bytes + (client->sent - client->head_size);
        size_t size = in_head ? client->head_size - client->sent : total - client->sent;
        ssize_t sent = send(client->fd, from, size, MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0)
            return errno == EAGAIN || errno == EINTR;
        client->sent += (size_t)sent;
    }
    return false;
}

/* ---- the loop */

static int timeout_ms(int64_t next, int64_t now_ns) {
    if (next == INT64_MAX)
        return -1;
    return next <= now_ns ? 0 : (int)((next - now_ns + MS - 1) / MS); /* seconds at most */
}

/* Waits until something happens or it is time. Returns whether a client may wait to be accepted. */
static bool wait_for_clients(struct htw_monitor *monitor) {
    const struct timespec pause = { 0, ACCEPT_PAUSE_NS };
    int64_t now_ns = htw__clock_monotonic_ns();
    bool accepts = find_place(monitor) != NULL && monitor->accept_from_ns <= now_ns;
    int64_t next_ns = monitor->accept_from_ns > now_ns ? monitor->accept_from_ns : INT64_MAX;
    /* The last one is the listener, which also says when to end. */
    struct pollfd fds[HTW__CLIENTS + 1];
    for (size_t i = 0; i < HTW__CLIENTS; i++) {
        const struct htw__client *client = &monitor->clients[i];
        fds[i].fd = client->fd;
        fds[i].events = (short)(client->has_answer ? POLLOUT : client->is_ready ? 0 : POLLIN);
        if (client->fd >= 0)
            next_ns = htw__clock_earlier(next_ns, client->until_ns);
        if (client->fd >= 0 && client->is_ready && !client->has_answer)
            next_ns = htw__clock_earlier(next_ns, monitor->next_answer_ns);
    }
    fds[HTW__CLIENTS].fd = monitor->place.fd;
    fds[HTW__CLIENTS].events = accepts ? POLLIN : 0;
    bool is_told = poll(fds, HTW__CLIENTS + 1, timeout_ms(next_ns, now_ns)) >= 0;
    if (!is_told) /* the process may have fewer descriptors than these: all is tried */
        nanosleep(&pause, NULL);
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        monitor->clients[i].happened = is_told ? fds[i].revents : POLLIN;
    return accepts && (!is_told || fds[HTW__CLIENTS].revents != 0);
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

/* Until it is false no source is added or removed. */
static void set_answering(struct htw_monitor *monitor, bool is_answering) {
    htw__mutex_lock(&monitor->mutex);
    monitor->is_answering = is_answering;
    pthread_cond_broadcast(&monitor->answered);
    htw__mutex_unlock(&monitor->mutex);
}

static void answer(struct htw_monitor *monitor, struct htw__client *client) {
    int64_t before_ns = used_ns();
    set_answering(monitor, true);
    htw__answer_make(monitor, client);
    set_answering(monitor, false);
    monitor->next_answer_ns =
        htw__clock_monotonic_ns() + htw__clients_pause_ns(used_ns() - before_ns);
}

static void serve(struct htw_monitor *monitor, struct htw__client *client) {
    int64_t now_ns = htw__clock_monotonic_ns();
    bool stays = now_ns < client->until_ns;
    if (stays && !client->is_ready && !client->has_answer && client->happened != 0)
        stays = receive(client);
    else if (stays && !client->has_answer && (client->happened & (POLLHUP | POLLERR)) != 0)
        stays = false; /* it waits for its turn, and has gone */
    if (stays && client->is_ready && !client->has_answer && now_ns >= monitor->next_answer_ns)
        answer(monitor, client);
    if (stays && client->has_answer)
        stays = !htw__monitor_is_closing(monitor) && respond(client);
    if (!stays)
        drop(client);
}

void *htw__clients_run(void *arg) {
    htw__thread_begin();
    struct htw_monitor *monitor = arg;
    while (!htw__monitor_is_closing(monitor)) {
        bool has_newcomer = wait_for_clients(monitor);
        for (size_t i = 0; i < HTW__CLIENTS; i++)
            if (monitor->clients[i].fd >= 0 && !htw__monitor_is_closing(monitor))
                serve(monitor, &monitor->clients[i]);
        while (has_newcomer && !htw__monitor_is_closing(monitor))
            has_newcomer = accept_client(monitor, htw__clock_monotonic_ns());
    }
    for (size_t i = 0; i < HTW__CLIENTS; i++)
        if (monitor->clients[i].fd >= 0)
            drop(&monitor->clients[i]);
    return NULL;
}

void htw__clients_end(struct htw_monitor *monitor) {
    /* order: A hint to stop early; the thread is joined. */
    atomic_store_explicit(&monitor->is_closing, true, memory_order_relaxed);
    shutdown(monitor->place.fd, SHUT_RDWR);
}
