/* SPDX-License-Identifier: MIT */
/*
 * crowd.h - thousands of connections to a server of the Redis protocol, each of which blocks in
 * BLPOP on its own key or on a shared one; and a control connection for pushes.
 *
 * All keys have the same length, and so have all items. So a reply has one of two lengths. Any
 * other reply ends the program.
 */
#ifndef BROKER_BENCH_CROWD_H
#define BROKER_BENCH_CROWD_H

#include "load.h"

#include <stdbool.h>

struct client {
    int fd;
    unsigned key;
    int64_t due_ns; /* the deadline, counted from before BLPOP was written; 0: never */
    size_t length;  /* of the reply so far */
    char reply[64];
};

struct crowd {
    const struct load *load;
    struct client *clients; /* load->count of them */
    int epoll;              /* of the clients; data.ptr points to the client */
    int control;            /* the control connection; its socket blocks */
};

enum outcome {
    OUTCOME_PART, /* the reply is incomplete */
    OUTCOME_ITEM,
    OUTCOME_NIL,
};

/* Connects all clients, and waits for the answer to a PING of each. */
void crowd_connect(struct crowd *crowd, const struct load *load);

/* Resets all connections, so that their ports are free at once. */
void crowd_disconnect(struct crowd *crowd);

/* Sends BLPOP with a timeout. */
void crowd_block(struct client *client, unsigned timeout_ms);

/* Waits until INFO says that all clients are blocked. */
void crowd_await_blocked(struct crowd *crowd);

/* Reads without blocking. */
enum outcome crowd_read(struct client *client);

/* Whether the reply is item `number` of the client's key. */
bool crowd_has_item(const struct client *client, unsigned number);

/* Sends an LPUSH of item `number` (below 1e8) to a key. */
void crowd_push(struct crowd *crowd, unsigned key, unsigned number);

/* Reads the answer to the LPUSH, which must be 1. */
void crowd_finish_push(struct crowd *crowd);

#endif
