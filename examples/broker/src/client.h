/* SPDX-License-Identifier: MIT */
/*
 * client.h - a connection: reading, executing, answering, going away.
 *
 * A client belongs to one loop, and only the thread of that loop touches it, except where a comment
 * says otherwise. It reads into the buffer of its loop and is answered from the buffer of its loop;
 * it has buffers of its own only while a request is incomplete, or a reply is not taken. So a
 * client that waits, idle or blocked, takes some 200 bytes.
 *
 * A client works in turns. What epoll reports gives it a place in the queue of its loop; a turn is
 * one read or the requests that were read already, and one write.
 *
 * - While a client has not taken `max_output` bytes of replies, nothing more is read from it and
 *   none of its requests is executed. So what it is owed is bounded by that mark and one reply, and
 *   no client is closed because one reply is long.
 * - While a client is blocked, what it sends is read and kept, up to a limit: otherwise the end of
 *   the connection would stay hidden behind it, and an item would be given to nobody.
 * - An item that a blocked client gets is its own when the kernel has taken the whole reply. If the
 *   connection ends before, the item goes back to its list.
 */
#ifndef BROKER_CLIENT_H
#define BROKER_CLIENT_H

#include "buffer.h"

#include <stdatomic.h>
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
    size_t needed;        /* bytes of input without which the request cannot be complete */
    atomic_size_t memory; /* what it takes, for memory.c; read by any thread */
    uint64_t id;
    int socket; /* -1: closed, and only kept for what it waits for */
    uint32_t interest;
    uint32_t events;  /* what epoll has reported since its last turn */
    bool is_queued;   /* it is in the loop's queue */
    bool is_in_turn;  /* it must not be freed */
    bool is_answered; /* its blocking command; the reply may be partly in `output` */
    bool is_leaving;  /* nothing is executed any more; it goes when it has taken its replies */
};

/* Takes a socket over; closes it if there is no memory. Any thread may create clients of any loop
   that runs. */
void client_create(struct loop *loop, int socket);

/* Its turn: what can be done for it now. It may be gone on return. */
void client_turn(struct client *client);

/* What it waited for has ended, and this is the answer. It may be gone on return. */
void client_resume(struct client *client);

/* The end of the program: what has not been executed will not be. It may be gone on return. */
void client_dismiss(struct client *client);

/* At once. It may be gone on return. */
void client_close(struct client *client);

#endif /* BROKER_CLIENT_H */
