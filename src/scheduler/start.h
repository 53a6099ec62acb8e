/* SPDX-License-Identifier: MIT */
/* start.h - starts the threads of a scheduler, and ends them. */
#ifndef HTW_SRC_SCHEDULER_START_H
#define HTW_SRC_SCHEDULER_START_H

#include "state.h"

/* Whether the scheduler has expirers or workers that are threads of the library. */
bool htw__needs_threads(const struct htw_scheduler *scheduler);

/* Starts the threads that have not been started: the expirers, and all workers or the first one. 0
   or -ENOMEM: the threads that were started stay, and the next call starts the rest. */
int htw__start_threads(struct htw_scheduler *scheduler, bool all_workers);

/* From now on no callback starts. Waits for the callbacks that run, and for the threads. */
void htw__end_threads(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_START_H */
