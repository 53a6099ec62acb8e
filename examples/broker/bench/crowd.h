/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - thousands of connections to a server of the Redis protocol, each of which blocks in
 * BLPOP on a key of its own or on a shared one, and one connection to command it all.
 *
 * All keys are equally long and so are all items, hence a reply has one of two lengths. Anything
 * else from the server ends the program.
 */
#ifndef BROKER_BENCH_CROWD_H
#define BROKER_BENCH_CROWD_H

#include "load.h"

#include <stdbool.h>

struct client {
    int fd;
    unsigned key;
    int64_t due_ns; /* by our clock, read before BLPOP was written; 0: never */
    size_t length;  /* of what has come of the reply */
    char reply[64];
};

struct crowd {
    const struct load *load;
    struct client *clients; /* load->count of them */
    int epoll;              /* of the clients; data.ptr is the client */
    int control;            /* another connection; blocking */
};

enum outcome {
    OUTCOME_PART, /* not all of the reply is there */
    OUTCOME_ITEM,
    OUTCOME_NIL,
};

/* Connects all; each has had an answer to a PING. */
void crowd_connect(struct crowd *crowd, const struct load *load);

/* Resets all connections, so that their ports are free at once. */
void crowd_disconnect(struct crowd *crowd);

/* Sends BLPOP with a timeout out of those that the load allows. */
void crowd_block(struct client *client, unsigned timeout_ms);

/* Returns when the server says that all clients are blocked. */
void crowd_await_blocked(struct crowd *crowd);

/* Reads what has come, without waiting. */
enum outcome crowd_read(struct client *client);

/* Whether the client was served item `number` of its key. */
bool crowd_has_item(const struct client *client, unsigned number);

/* Writes an LPUSH of item `number` (below 1e8) to a key. */
void crowd_push(struct crowd *crowd, unsigned key, unsigned number);

/* Reads the answer to it, which says how many items the list has. */
void crowd_finish_push(struct crowd *crowd);

#endif
