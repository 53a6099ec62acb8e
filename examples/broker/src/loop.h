/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a thread with an epoll set: its clients, its mailbox, its listening socket.
 *
 * A round has four steps. Each step has a time limit, and continues in the next round.
 *
 * 1. Ask epoll for events. Clients with events go into the queue.
 * 2. Run the timers that are due (first loop only). They are first, and get most of the time when
 *    they are behind. Otherwise busy clients would delay the timeouts of all others, and could
 *    create timers faster than these run.
 * 3. Reply to blocked clients whose requests have ended, in any thread, and to clients whose jobs
 *    are durable.
 * 4. Give the clients in the queue their turns, first come, first served.
 */
#ifndef BROKER_LOOP_H
#define BROKER_LOOP_H

#include "broker.h"
#include "buffer.h"
#include "client.h"
#include "mailbox.h"
#include "resp.h"

/* The size of a read, and so of the input that a client executes in one round. */
#define LOOP_INPUT_SIZE 65536

struct put;

struct loop {
    struct broker *broker;
    pthread_t thread;
    int epoll;
    int listener; /* -1: closed */
    int signals;  /* a signalfd; -1 except in the first loop */
    int spare_fd; /* closed to accept one more connection when descriptors run out */
    struct mailbox mailbox;
    pthread_mutex_t mutex;           /* guards the list of clients and their names */
    struct client *clients;          /* a list of utlist.h */
    struct put *puts;                /* jobs whose results are known; guarded by the mutex */
    unsigned undurable_clients;      /* which wait for the disk, closed ones included */
    unsigned blocked_clients;        /* including closed ones whose requests have not ended */
    struct blocked_request *answers; /* ended requests, from the mailbox, oldest first */
    struct client *queue;            /* clients that wait for a turn; the oldest */
    struct client *queue_newest;
    struct resp_request request; /* the request that is being executed */
    struct buffer reply;         /* the replies of the client in its turn */
    char *input;                 /* LOOP_INPUT_SIZE bytes; for reads */
    /* Statistics. This loop's thread writes them, any thread reads them. */
    atomic_uint_fast64_t commands;
    atomic_uint_fast64_t connections;
    atomic_uint_fast64_t refused;
    atomic_uint_fast64_t closed_for_input; /* clients that sent too much while they were blocked */
    atomic_uint_fast64_t evicted;          /* clients closed by client_memory.c */
};

/* Increments a counter that only this thread writes. A thread that reads the new value also sees
   what happened before. */
static inline void loop_count(atomic_uint_fast64_t *counter) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* Returns the loop of this thread. */
struct loop *loop_current(void);

/* Returns false after it has written the reason to stderr. */
bool loop_init(struct loop *loop, struct broker *broker, bool is_first);
void loop_fini(struct loop *loop);

/* Runs until the program ends and all clients are closed. */
void loop_run(struct loop *loop);

/* Adds a file descriptor to the epoll set, or changes its events. `what` identifies it. */
bool loop_watch(struct loop *loop, int fd, uint32_t events, void *what);
bool loop_change(struct loop *loop, int fd, uint32_t events, void *what);

/* Queues a client for a turn, unless it is queued already. */
void loop_queue(struct loop *loop, struct client *client);

/* Whether replies to blocked clients are due. */
bool loop_has_answers(const struct loop *loop);

#endif /* BROKER_LOOP_H */
