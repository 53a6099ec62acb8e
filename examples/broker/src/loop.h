/* SPDX-License-Identifier: MIT */
/*
 * loop.h - a thread with its epoll set: its clients, its listening socket, its mailbox.
 *
 * A round has four steps, each of which ends when its time is over and goes on in the next round:
 *
 * 1. Ask epoll who has something to say. Clients are only put into the queue.
 * 2. Run the timers that are due (in the first loop). They come first, and get most of the time
 * when they are behind: otherwise clients that keep the loop busy delay the time-outs of all
 * others, and may even create timers faster than these are run.
 * 3. Answer the blocked clients whose requests have ended, whichever thread ended them.
 * 4. Give the clients in the queue their turns, first come, first served.
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
    struct waiting *answers;     /* out of the mailbox, to be answered; the oldest */
    struct client *queue;        /* clients that have something to do; the oldest */
    struct client *queue_newest; /* the same */
    struct resp_request request; /* what is being parsed */
    struct buffer reply;         /* what is being answered */
    char *input;                 /* LOOP_INPUT_SIZE bytes: what has just been read */
    /* Statistics; written by this loop's thread, read by any. */
    atomic_uint_fast64_t commands;
    atomic_uint_fast64_t connections;
    atomic_uint_fast64_t refused;
    atomic_uint_fast64_t flooded; /* clients closed for what they sent while they were blocked */
    atomic_uint_fast64_t evicted; /* clients closed for the memory that they took */
};

/* Adds one to a counter that only this thread writes; who reads it sees what was done before. */
static inline void loop_count(atomic_uint_fast64_t *counter) {
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1,
                          memory_order_release);
}

/* The loop whose thread this is. */
struct loop *loop_current(void);

/* false: said why on stderr. */
bool loop_init(struct loop *loop, struct broker *broker, bool is_first);
void loop_fini(struct loop *loop);

/* Runs until the program is to end and all clients are gone. */
void loop_run(struct loop *loop);

/* Lets epoll watch a file descriptor, or watch it for something else. */
bool loop_watch(struct loop *loop, int fd, uint32_t events, void *what);
bool loop_change(struct loop *loop, int fd, uint32_t events, void *what);

/* Gives a client a turn. It stands in the queue once at most. */
void loop_queue(struct loop *loop, struct client *client);

/* Whether blocked clients are to be answered. */
bool loop_has_answers(const struct loop *loop);

#endif /* BROKER_LOOP_H */
