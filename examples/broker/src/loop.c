/* SPDX-License-Identifier: MIT */
/* loop.c - the rounds of a thread, and the end of the program. */
#include "loop.h"

#include "blocking.h"
#include "listener.h"
#include "client_memory.h"
#include "journal.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

/* Events of one round. */
#define EVENTS_PER_ROUND 256

/* Time limits of the steps. When timers are behind, they get four times as much time as each other
   step, to catch up. */
#define TIMERS_NS (4 * HTW_MILLISECOND)
#define STEP_NS (2 * HTW_MILLISECOND)
#define STEP_BEHIND_NS (1 * HTW_MILLISECOND)

/* Timers that run before the store's lock is released for other threads. */
#define TIMERS_PER_LOCK 256

/* How long the last replies may take when the program ends. */
#define DRAIN_NS (2 * HTW_SECOND)

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

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * HTW_SECOND + now.tv_nsec;
}

/* ------------------------------------------------------------------ create and destroy */

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
    *loop = (struct loop) { .broker = broker, .listener = -1, .signals = -1, .spare_fd = -1 };
    loop->epoll = epoll_create1(EPOLL_CLOEXEC);
    loop->input = malloc(LOOP_INPUT_SIZE);
    if (loop->epoll < 0 || loop->input == NULL || pthread_mutex_init(&loop->mutex, NULL) != 0 ||
        !mailbox_init(&loop->mailbox) ||
        !loop_watch(loop, loop->mailbox.event, EPOLLIN, &loop->mailbox) ||
        (is_first && !watch_first(loop))) {
        fprintf(stderr, "broker: cannot set up a thread: %s\n", strerror(errno));
        return false;
    }
    return !is_first || listener_open(loop);
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

/* Ends all blocked requests, which go to the mailboxes, and wakes the other loops. */
static void start_shutdown(struct loop *loop) {
    struct broker *broker = loop->broker;
    struct signalfd_siginfo info;
    ssize_t got = read(loop->signals, &info, sizeof(info));
    (void)got; /* it does not matter which signal it was */
    if (atomic_exchange(&broker->is_stopping, true))
        return;
    htw_purgatory_close(broker->purgatory, NULL, NULL);
    for (unsigned i = 0; i < broker->options.threads; i++)
        mailbox_wake(&broker->loops[i].mailbox);
}

static void for_each_client(struct loop *loop, void (*act)(struct client *client)) {
    for (struct client *client = loop->clients, *next; client != NULL; client = next) {
        next = client->next; /* `act` may free the client */
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

/* Returns the next blocked client that gets a reply, the oldest first; NULL if there is none. */
static struct client *next_answer(struct loop *loop) {
    if (loop->answers == NULL)
        loop->answers = mailbox_pop_all(&loop->mailbox);
    struct blocked_request *blocked = loop->answers;
    if (blocked == NULL)
        return NULL;
    loop->answers = blocked->next;
    return blocked->client;
}

bool loop_has_answers(const struct loop *loop) {
    return loop->answers != NULL || !mailbox_is_empty(&loop->mailbox);
}

static void run_answers(struct loop *loop, int64_t end_ns) {
    for (struct client *client; (client = next_answer(loop)) != NULL;) {
        client_resume(client);
        client_memory_enforce_limit(loop);
        if (now_ns() >= end_ns)
            return;
    }
}

static void run_queue(struct loop *loop, int64_t end_ns) {
    while (loop->queue != NULL) {
        struct client *client = loop->queue;
        loop->queue = client->queue_next;
        client->is_queued = false;
        client_turn(client);
        client_memory_enforce_limit(loop);
        if (loop_has_answers(loop)) /* this client's commands have served blocked clients */
            run_answers(loop, end_ns);
        if (now_ns() >= end_ns)
            return;
    }
}

/*
 * Runs timers that are due, up to the time limit. Returns true if more are due. Callbacks run under
 * the store's lock, so that none runs during a command.
 */
static bool run_timers(struct loop *loop, struct htw_scheduler *scheduler) {
    int64_t end_ns = now_ns() + TIMERS_NS;
    int result;
    do {
        store_lock(&loop->broker->store);
        result = htw_scheduler_process(scheduler, TIMERS_PER_LOCK, NULL);
        store_unlock(&loop->broker->store);
    } while (result == HTW_MORE && now_ns() < end_ns);
    return result == HTW_MORE;
}

/* The events that are not of clients. */
struct reported {
    bool is_due, is_wall_due, has_connections;
};

/* Waits for events, and queues clients. */
static struct reported run_events(struct loop *loop, int timeout_ms) {
    struct broker *broker = loop->broker;
    struct epoll_event events[EVENTS_PER_ROUND];
    int count = epoll_wait(loop->epoll, events, EVENTS_PER_ROUND, timeout_ms);
    /* If the array is full, epoll may have more: run the schedulers anyway. */
    bool is_full = count == EVENTS_PER_ROUND;
    struct reported reported = { .is_due = is_full, .is_wall_due = is_full };
    for (int i = 0; i < count; i++) {
        void *what = events[i].data.ptr;
        if (what == broker->scheduler) {
            reported.is_due = true;
        } else if (what == broker->wall_scheduler) {
            reported.is_wall_due = true;
        } else if (what == &loop->listener) {
            reported.has_connections = true;
        } else if (what == &loop->mailbox) {
            mailbox_clear_event(&loop->mailbox);
        } else if (what == &loop->signals) {
            start_shutdown(loop);
        } else {
            struct client *client = what;
            client->events |= events[i].events;
            loop_queue(loop, client);
        }
    }
    return reported;
}

static void run_round(struct loop *loop, int timeout_ms) {
    struct broker *broker = loop->broker;
    struct reported reported = run_events(loop, timeout_ms);
    bool is_behind = false;
    if (loop == &broker->loops[0]) {
        if (reported.is_due)
            is_behind = run_timers(loop, broker->scheduler);
        if (reported.is_wall_due)
            is_behind = run_timers(loop, broker->wall_scheduler) || is_behind;
    }
    int64_t step_ns = is_behind ? STEP_BEHIND_NS : STEP_NS;
    client_memory_enforce_limit(loop); /* another loop may have woken this one for it */
    run_answers(loop, now_ns() + step_ns);
    if (loop->undurable_clients > 0)
        journal_resume_clients(loop);
    run_queue(loop, now_ns() + step_ns);
    if (reported.has_connections) /* last: closed clients free descriptors first */
        listener_accept(loop);
}

void loop_run(struct loop *loop) {
    int64_t end_ns = 0; /* 0: the program does not end yet */
    current = loop;
    while (end_ns == 0 || loop->clients != NULL || loop->blocked_clients > 0 ||
           loop->undurable_clients > 0) {
        int64_t left_ns = end_ns == 0 ? 0 : end_ns - now_ns();
        if (end_ns != 0 && left_ns <= 0)
            for_each_client(loop, client_close);
        int timeout_ms = end_ns == 0 ? -1 : left_ns <= 0 ? 0 : (int)(left_ns / HTW_MILLISECOND) + 1;
        bool is_busy = loop->queue != NULL || loop_has_answers(loop);
        run_round(loop, is_busy ? 0 : timeout_ms);
        if (end_ns == 0 && atomic_load_explicit(&loop->broker->is_stopping, memory_order_acquire)) {
            end_ns = now_ns() + DRAIN_NS;
            listener_close(loop);
            for_each_client(loop, client_close_after_output);
        }
    }
    while (loop->queue != NULL) /* frees closed clients that are still queued */
        run_queue(loop, INT64_MAX);
}
