/* SPDX-License-Identifier: MIT */
/*
 * client.h - a connection: reads requests, executes them, sends replies.
 *
 * A client belongs to one loop. Only the thread of that loop uses it, except where a comment says
 * otherwise. It reads into a buffer of the loop and writes replies to a buffer of the loop. It has
 * buffers of its own only while a request is incomplete or a reply is unsent. So an idle or blocked
 * client takes some 200 bytes.
 *
 * A client works in turns. An event of epoll puts it into the queue of its loop. A turn is one
 * read, or the execution of requests that were read before, and one write.
 *
 * - A client with `max_output` bytes of unsent replies is throttled: the loop reads nothing from it
 *   and executes none of its requests. So its unsent replies are at most that limit and one reply,
 *   and no client is closed because one reply is long.
 * - The loop reads and stores what a blocked client sends, up to a limit. Otherwise the end of the
 *   connection would stay hidden behind unread input, and an item would go to a closed client.
 * - An item of a blocked client is delivered when the kernel has accepted the whole reply. If the
 *   connection ends before that, the item goes back to its list.
 */
#ifndef BROKER_CLIENT_H
#define BROKER_CLIENT_H

#include "buffer.h"

#include <stdatomic.h>
#include <stdint.h>

struct loop;
struct blocked_request;
struct put;

struct client {
    struct loop *loop;               /* read by any thread */
    struct blocked_request *blocked; /* its request in the purgatory; NULL: not blocked */
    struct client *prev;             /* in the loop's list; guarded by the loop's mutex */
    struct client *next;             /* likewise */
    struct client *queue_next;       /* in the loop's queue */
    char *name;                      /* of CLIENT SETNAME, or NULL; guarded by the loop's mutex */
    struct buffer input;             /* read, not executed */
    struct buffer output;            /* replies; the kernel has accepted the first `sent` bytes */
    size_t sent;
    struct buffer kept;   /* replies that wait for the disk: journal.h */
    struct put *puts;     /* jobs whose replies are in `kept`; the oldest */
    struct put *last_put; /* likewise; valid if `puts` is not NULL */
    unsigned undurable;   /* of these, jobs whose results are not known; 0: `kept` is empty */
    size_t needed;        /* the request is incomplete until `input` has this many bytes */
    atomic_size_t memory; /* see client_memory.h; any thread reads it */
    uint64_t id;
    int socket;        /* -1: closed, and kept only until its request ends */
    uint32_t interest; /* events that epoll reports */
    uint32_t events;   /* events since its last turn */
    bool is_queued;    /* in the loop's queue */
    bool is_in_turn;   /* must not be freed */
    bool is_answered;  /* its blocked request has its reply, which may be partly unsent */
    bool is_closing;   /* executes nothing more; is closed when `output` is sent */
};

/* Creates a client for a socket, and owns the socket from then on; closes it if there is no memory.
   Any thread may create clients of any running loop. */
void client_create(struct loop *loop, int socket);

/* Gives the client a turn. May free it. */
void client_turn(struct client *client);

/* Replies to the client: its blocked request has ended. May free it. */
void client_resume(struct client *client);

/* Sends the replies that it has kept: all its jobs are durable, or have failed. May free it. */
void client_durable(struct client *client);

/* Closes the client as soon as its output is sent, and executes nothing more. May free it. */
void client_close_after_output(struct client *client);

/* Closes the client at once. May free it. */
void client_close(struct client *client);

#endif /* BROKER_CLIENT_H */
