/* SPDX-License-Identifier: MIT */
/*
 * memory.h - what all clients take together, and which of them must go when that is too much.
 *
 * Counted are requests that are incomplete or not executed yet, replies that are not taken, the
 * keys on which clients are blocked, and their names. When the sum exceeds the limit, the client
 * that takes most is closed: it is the cause, and the one that came last usually is not.
 */
#ifndef BROKER_MEMORY_H
#define BROKER_MEMORY_H

#include <stddef.h>

struct client;
struct loop;

/* A client takes so many bytes now. */
void memory_count(struct client *client, size_t bytes);

/* Closes clients until the others take no more than they may. To be called between turns. A client
   of another loop is closed there, soon. */
void memory_relieve(struct loop *loop);

#endif /* BROKER_MEMORY_H */
