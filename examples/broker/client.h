/* SPDX-License-Identifier: MIT */
/*
 * client.h - a connection: reading, executing, answering, going away.
 *
 * A client belongs to one loop, and only that loop's thread touches it, but for what says
 * otherwise. It reads into its loop's buffer and is answered from its loop's buffer; it
 * has buffers of its own only while a request is there in part, or a reply is not taken. So one
 * that waits, idle or blocked, takes some 200 bytes.
 */
#ifndef BROKER_CLIENT_H
#define BROKER_CLIENT_H

#include "buffer.h"

#include <stdint.h>

struct loop;
struct waiting;

struct client {
    struct loop *loop;         /* read by any thread */
    struct waiting *waiting;   /* what it is blocked on; NULL: it is not */
    struct client *prev;       /* of the loop's clients; guarded by its lock */
    struct client *next;       /* the same */
    struct client *queue_next; /* in the loop's queue */
    char *name;                /* CLIENT SETNAME; guarded by the loop's lock; may be NULL */
    struct buffer input;       /* read and not executed yet */
    struct buffer output;      /* from `sent` on: not taken by the client yet */
    size_t sent;
    size_t accounted; /* bytes of both that count in the broker's sum */
    size_t needed;    /* bytes of input without which the request cannot be complete */
    uint64_t id;
    int socket; /* -1: closed, and only kept for what it waits for */
    uint32_t interest;
    bool is_queued;  /* it has input to be executed, or replies to be sent */
    bool is_leaving; /* nothing is executed any more; it goes when it has taken its replies */
};

/* Takes a socket over; closes it when there is no memory. */
void client_create(struct loop *loop, int socket);

/* epoll has something to say of it. */
void client_event(struct client *client, uint32_t events);

/* What it waited for has ended, and this is the answer; frees it if it is closed. */
void client_resume(struct client *client);

/* It goes on executing what it has read. */
void client_continue(struct client *client);

/* The end of the program: what has not been executed will not be. It may be gone on return. */
void client_dismiss(struct client *client);

/* At once. It may be gone on return. */
void client_close(struct client *client);

#endif /* BROKER_CLIENT_H */
