/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a thread with its epoll set: its clients, its listening socket, its mailbox.
 *
 * Each round does a bounded piece of work for each client that has some to do: one read, the
 * requests in it, one write. Then come the timers that are due (in the first loop) and the
 * blocked clients that have been served, whoever served them.
 */
#ifndef BROKER_LOOP_H
#define BROKER_LOOP_H

#include "broker.h"
#include "buffer.h"
#include "client.h"
#include "mailbox.h"
#include "resp.h"

/* What a client may have read and executed in one round. */
#define LOOP_INPUT_SIZE 65536

struct loop {
    struct broker *broker;
    pthread_t thread;
    int epoll;
    int listener; /* -1: closed */
    int signals;  /* a signalfd; only the first loop has one, others -1 */
    int reserve;  /* a file descriptor to give up when there are no others */
    struct mailbox mailbox;
    pthread_mutex_t mutex;       /* guards the list of clients, and their names */
    struct client *clients;      /* utlist */
    unsigned blocked;            /* clients, closed ones included, with something to wait for */
    struct client *queue;        /* clients with more to execute; the oldest */
    struct client *queue_newest; /* the same */
    struct resp_request request; /* what is being parsed */
    struct buffer reply;         /* what is being answered */
    char *input;                 /* LOOP_INPUT_SIZE bytes: what has just been read */
    /* Statistics; written by this loop's thread, read by any. */
    atomic_uint_fast64_t commands;
    atomic_uint_fast64_t connections;
    atomic_uint_fast64_t refused;
    atomic_uint_fast64_t overflowed; /* clients closed for what they let pile up */
};

/* Adds one to a counter that only this thread writes; who reads it sees what was done before. */
static inline void loop_count(atomic_uint_fast64_t *counter) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* The loop whose thread this is. */
struct loop *loop_current(void);

/* false: said why on stderr. `port` 0: any that is free, and then it is told in the broker. */
bool loop_init(struct loop *loop, struct broker *broker, bool is_first);
void loop_fini(struct loop *loop);

/* Runs until the program is to end and all clients are gone. */
void loop_run(struct loop *loop);

/* Lets epoll watch a file descriptor, or watch it for something else. */
bool loop_watch(struct loop *loop, int fd, uint32_t events, void *what);
bool loop_change(struct loop *loop, int fd, uint32_t events, void *what);

/* When the queue is run next, the client is to go on. It stands in it once at most. */
void loop_queue(struct loop *loop, struct client *client);

#endif /* BROKER_LOOP_H */
