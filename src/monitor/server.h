/* SPDX-License-Identifier: MIT */
/* server.h - the thread of a monitor. */
#ifndef HTW_SRC_MONITOR_SERVER_H
#define HTW_SRC_MONITOR_SERVER_H

#include "state.h"

/* The main function; the argument is the monitor. It returns soon after something was
   written to the descriptor `wake`. */
void *htw__server_run(void *monitor);

#endif /* HTW_SRC_MONITOR_SERVER_H */
