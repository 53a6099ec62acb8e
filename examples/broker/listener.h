/* SPDX-License-Identifier: MIT */
/*
 * listener.h - the listening socket, and who is let in.
 *
 * With several threads each has a listening socket of its own on the same port, among which the
 * kernel divides the connections.
 */
#ifndef BROKER_LISTENER_H
#define BROKER_LISTENER_H

#include <stdbool.h>

struct loop;

/* false: said why on stderr. */
bool listener_open(struct loop *loop);
void listener_close(struct loop *loop);

/* Lets in who stands at the door, a bounded number at a time. */
void listener_accept(struct loop *loop);

#endif /* BROKER_LISTENER_H */
