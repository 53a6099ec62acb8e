/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the listening socket.
 *
 * The first loop accepts all connections and assigns them to all loops in turn. A socket for each
 * thread would need SO_REUSEPORT. With that option a second broker could listen on the same port by
 * mistake and get half of the clients; --reuse-port yes allows it.
 */
#ifndef BROKER_LISTENER_H
#define BROKER_LISTENER_H

#include <stdbool.h>

struct loop;

/* Returns false after it has written the reason to stderr. */
bool listener_open(struct loop *loop);
void listener_close(struct loop *loop);

/* Accepts connections, up to a limit for each call. */
void listener_accept(struct loop *loop);

#endif /* BROKER_LISTENER_H */
