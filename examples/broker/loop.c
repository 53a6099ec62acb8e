/* SPDX-License-Identifier: MIT */
#include "loop.h"

#include "blocking.h"
#include "listener.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* How many sockets and timers are attended to in one round. */
#define EVENTS_A_ROUND 256
#define TIMERS_A_ROUND 1024

/* How long clients have to take their last replies. */
#define DRAIN_MS 2000

static _Thread_local struct loop *current;

struct loop *loop_current(void) {
    return current;
}

bool loop_watch(struct loop *loop, int fd, uint32_t events, void *what) {
    struct epoll_event event = { .events = events, .data = { .ptr = what } };
    return fd >= 0 && epoll_ctl(loop->epoll, EPOLL_CTL_ADD, fd, &event) == 0;
}

bool loop_change(struct loop *loop, int fd, uint32_t events, void *what) {
    struct epoll_event event = { .events = events, .data = { .ptr = what } };
    return epoll_ctl(loop->epoll, EPOLL_CTL_MOD, fd, &event) == 0;
}

/* ------------------------------------------------------------------ life */

static bool watch_first(struct loop *loop) {
    struct broker *broker = loop->broker;
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigaddset(&signals, SIGINT);
    loop->signals = signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK);
    return loop_watch(loop, loop->signals, EPOLLIN, &loop->signals) &&
           loop_watch(loop, htw_scheduler_fd(broker->scheduler), EPOLLIN, broker->scheduler) &&
           loop_watch(loop, htw_scheduler_fd(broker->wall_scheduler), EPOLLIN,
                      broker->wall_scheduler);
}

bool loop_init(struct loop *loop, struct broker *broker, bool is_first) {
    *loop = (struct loop) { .broker = broker, .listener = -1, .signals = -1, .reserve = -1 };
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->input = malloc(LOOP_INPUT_SIZE);
    if (loop->epoll < 0 || loop->input == NULL || pthread_mutex_init(&loop->mutex, NULL) != 0 ||
        !mailbox_init(&loop->mailbox) ||
        !loop_watch(loop, loop->mailbox.event, EPOLLIN, &loop->mailbox) ||
        (is_first && !watch_first(loop))) {
        fprintf(stderr, "broker: cannot set up a thread: %s\n", strerror(errno));
        return false;
    }
    return listener_open(loop);
}

void loop_fini(struct loop *loop) {
    listener_close(loop);
    mailbox_fini(&loop->mailbox);
    pthread_mutex_destroy(&loop->mutex);
    resp_fini(&loop->request);
    buffer_fini(&loop->reply);
    free(loop->input);
    close(loop->epoll);
    if (loop->signals >= 0)
        close(loop->signals);
}

/* ------------------------------------------------------------------ the end of the program */

static int64_t now_ms(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Ends all that wait, whose answers then lie in mailboxes, and tells the other loops. */
static void begin_end(struct loop *loop) {
    struct broker *broker = loop->broker;
    struct signalfd_siginfo info;
    ssize_t got = read(loop->signals, &info, sizeof(info));
    (void)got; /* whichever signal it was */
    if (atomic_exchange(&broker->draining, true))
        return;
    htw_purgatory_close(broker->purgatory, NULL, NULL);
    for (unsigned i = 0; i < broker->options.threads; i++)
        mailbox_wake(&broker->loops[i].mailbox);
}

static void for_each_client(struct loop *loop, void (*act)(struct client *client)) {
    for (struct client *client = loop->clients, *next; client != NULL; client = next) {
        next = client->next; /* since this one may be gone then */
        act(client);
    }
}

/* ------------------------------------------------------------------ a round */

void loop_queue(struct loop *loop, struct client *client) {
    if (client->is_queued)
        return;
    client->is_queued = true;
    client->queue_next = NULL;
    if (loop->queue == NULL)
        loop->queue = client;
    else
        loop->queue_newest->queue_next = client;
    loop->queue_newest = client;
}

/* Those who are in the queue now; who joins it meanwhile has his turn in the next round. */
static void run_queue(struct loop *loop) {
    struct client *client = loop->queue;
    loop->queue = NULL;
    while (client != NULL) {
        struct client *next = client->queue_next;
        client->is_queued = false;
        client_continue(client);
        client = next;
    }
}

static void run_mailbox(struct loop *loop) {
    struct waiting *waiting = mailbox_take(&loop->mailbox);
    while (waiting != NULL) {
        struct waiting *next = waiting->next;
        client_resume(waiting->client);
        waiting = next;
    }
}

/* Callbacks run with the store's lock held, so that none meets a command half way. */
static void run_timers(struct loop *loop, struct htw_scheduler *scheduler) {
    store_lock(&loop->broker->store);
    htw_scheduler_process(scheduler, TIMERS_A_ROUND, NULL);
    store_unlock(&loop->broker->store);
}

/* Waits for something to do, and attends to sockets and timers. */
static void run_events(struct loop *loop, int timeout_ms) {
    struct broker *broker = loop->broker;
    struct epoll_event events[EVENTS_A_ROUND];
    bool is_due = false, is_wall_due = false;
    int count = epoll_wait(loop->epoll, events, EVENTS_A_ROUND, timeout_ms);
    for (int i = 0; i < count; i++) {
        void *what = events[i].data.ptr;
        if (what == broker->scheduler)
            is_due = true;
        else if (what == broker->wall_scheduler)
            is_wall_due = true;
        else if (what == &loop->listener)
            listener_accept(loop);
        else if (what == &loop->mailbox)
            mailbox_hush(&loop->mailbox);
        else if (what == &loop->signals)
            begin_end(loop);
        else
            client_event(what, events[i].events);
    }
    if (is_due)
        run_timers(loop, broker->scheduler);
    if (is_wall_due)
        run_timers(loop, broker->wall_scheduler);
}

void loop_run(struct loop *loop) {
    int64_t end_ms = 0; /* 0: not told to end yet */
    current = loop;
    while (end_ms == 0 || loop->clients != NULL || loop->blocked > 0) {
        bool is_busy = loop->queue != NULL || !mailbox_is_empty(&loop->mailbox);
        int64_t left_ms = end_ms == 0 ? -1 : end_ms - now_ms();
        if (end_ms != 0 && left_ms <= 0) {
            for_each_client(loop, client_close);
            left_ms = 0;
        }
        run_events(loop, is_busy ? 0 : (int)left_ms);
        run_mailbox(loop);
        run_queue(loop);
        if (end_ms == 0 && atomic_load_explicit(&loop->broker->draining, memory_order_acquire)) {
            end_ms = now_ms() + DRAIN_MS;
            listener_close(loop);
            for_each_client(loop, client_dismiss);
        }
    }
    run_queue(loop); /* frees the closed ones that are left in it */
}
