/* SPDX-License-Identifier: MIT */
/* stop.h - the threads' beginning and end. */
#ifndef HTW_SRC_SCHEDULER_STOP_H
#define HTW_SRC_SCHEDULER_STOP_H

#include "state.h"

/* Starts the threads that are not there yet: the expirers, and one worker or all. 0 or -ENOMEM:
   those that could be started stay, and the rest is tried again. (In scheduler.c.) */
int htw__scheduler_start(struct htw_scheduler *scheduler, bool all_workers);

/* Lets no callback start any more, and waits for those that run, and for the threads. */
void htw__scheduler_end_threads(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_STOP_H */
