/* SPDX-License-Identifier: MIT */
/* loop.h - the rounds of the server. */
#ifndef HTW_SERVE_LOOP_H
#define HTW_SERVE_LOOP_H

#include "server.h"

/* Runs until a signal ends it, and all connections are closed. */
void htw__serve_loop(struct htw__server *server);

#endif /* HTW_SERVE_LOOP_H */
