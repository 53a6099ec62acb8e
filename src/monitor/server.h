/* SPDX-License-Identifier: MIT */
/* server.h - the thread of a monitor. */
#ifndef HTW_SRC_MONITOR_SERVER_H
#define HTW_SRC_MONITOR_SERVER_H

#include "state.h"

/* Opens what the thread waits on, for a listener that is open. 0 or a negative errno. */
int htw__server_open(struct htw__descriptors *descriptors);
void htw__server_close(const struct htw__descriptors *descriptors);

/* The main function; the argument is the monitor. */
void *htw__server_run(void *monitor);

/* Has it return, at the latest when it has read a source. */
void htw__server_end(struct htw_monitor *monitor);

#endif /* HTW_SRC_MONITOR_SERVER_H */
