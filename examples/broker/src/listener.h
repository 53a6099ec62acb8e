/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the listening socket, and who is let in.
 *
 * There is one, in the first loop, which deals the connections to all loops in turn. A socket for
 * each thread would need SO_REUSEPORT, which lets a second broker listen on the same port
 * unnoticed, and get half of the clients; with --reuse-port yes that is allowed.
 */
#ifndef BROKER_LISTENER_H
#define BROKER_LISTENER_H

#include <stdbool.h>

struct loop;

/* false: said why on stderr. */
bool listener_open(struct loop *loop);
void listener_close(struct loop *loop);

/* Accepts connections, a bounded number at a time. */
void listener_accept(struct loop *loop);

#endif /* BROKER_LISTENER_H */
