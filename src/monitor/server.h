/* SPDX-License-Identifier: MIT */
/* server.h - the thread of a monitor. */
#ifndef HTW_SRC_MONITOR_SERVER_H
#define HTW_SRC_MONITOR_SERVER_H

#include "state.h"

/* The main function; the argument is the monitor. */
void *htw__clients_run(void *monitor);

/* How long no answer is made after one that took so much of a CPU: so that clients who ask for one census of many timers after
   the other leave the CPU to the program. */
int64_t htw__clients_pause_ns(int64_t answer_ns);

/* Has it return, at the latest when it has read a source. */
void htw__clients_end(struct htw_monitor *monitor);

#endif /* HTW_SRC_MONITOR_SERVER_H */
