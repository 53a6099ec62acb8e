/* SPDX-License-Identifier: MIT */
/*
 * client_memory.h - the memory of all clients together, and its limit.
 *
 * It counts input that is incomplete or not executed, unsent replies, the keys of blocked clients,
 * and names. When the sum exceeds the limit, the client with the most memory is closed: it is the
 * cause, and the client that came last usually is not.
 */
#ifndef BROKER_CLIENT_MEMORY_H
#define BROKER_CLIENT_MEMORY_H

#include <stddef.h>

struct client;
struct loop;

/* Sets the memory of a client, in bytes. */
void client_memory_update(struct client *client, size_t bytes);

/* Closes clients until the sum is within the limit. Call it between turns. If the client belongs to
   another loop, that loop is woken and closes it. */
void client_memory_enforce_limit(struct loop *loop);

#endif /* BROKER_CLIENT_MEMORY_H */
