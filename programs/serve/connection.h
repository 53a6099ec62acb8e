/* SPDX-License-Identifier: MIT */
/*
 * connection.h - a client: its turns, its input and output.
 *
 * A connection works in turns. An event of epoll, or an operation that is back, puts it into the queue of the loop. A
 * turn executes commands for a limited time, at least one, and writes once. Buffers exist only while they have bytes, so an idle
 * or waiting connection takes some 300 bytes.
 *
 * - With `max_output` bytes of unsent answers, it is not read, and none of its commands starts.
 * - What comes behind a command that waits is read up to a limit. The end of the connection is seen nevertheless.
 * - Its reserved jobs are given back when it ends.
 */
#ifndef HTW_SERVE_CONNECTION_H
#define HTW_SERVE_CONNECTION_H

#include "server.h"

/* Owns the socket from then on; closes it where there is no memory. */
void htw__connection_create(struct htw__server *server, int socket);

/* Gives it a turn. */
void htw__connection_turn(struct htw__connection *connection);

/* Closes it at once. It stays until the end of the round. */
void htw__connection_close(struct htw__connection *connection);

/* Closes it when the answers of the commands that have started are sent. */
void htw__connection_drain(struct htw__connection *connection);

/* An operation of it is back. */
void htw__connection_done(struct htw__operation *operation);

/* The end of a round: frees those that are closed, and to which nothing refers. */
void htw__connections_free(struct htw__server *server);

#endif /* HTW_SERVE_CONNECTION_H */
