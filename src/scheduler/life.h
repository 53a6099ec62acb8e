/* SPDX-License-Identifier: MIT */
/* life.h - whether a scheduler runs, is being stopped or has stopped, and whether a thread of the
   user's is in htw_scheduler_process(), _advance() or _set_clock(). Starts the threads of a scheduler,
   and ends them. */
#ifndef HTW_SRC_SCHEDULER_LIFE_H
#define HTW_SRC_SCHEDULER_LIFE_H

#include "../base/lock.h"

#include <stdbool.h>

struct htw_scheduler;

struct htw__life {
    struct htw__mutex mutex;
    htw__system_condition changed;
    enum { HTW__ALIVE, HTW__STOPPING, HTW__STOPPED } phase;
    unsigned expirers_started;
    bool processing; /* a thread is in process(), advance() or set_clock() */
};

void htw__life_init(struct htw__life *life);
void htw__life_fini(struct htw__life *life);

/* Lets one thread at a time take the place of the expirer. 0: htw__life_end_processing() must follow;
   -EBUSY, -ESHUTDOWN. */
int htw__life_begin_processing(struct htw__life *life);
void htw__life_end_processing(struct htw__life *life);

/* True: this call has to stop the scheduler, and htw__life_end_stop() must follow. False: another
   call has stopped it. Waits for that call to end. */
bool htw__life_begin_stop(struct htw__life *life);
void htw__life_end_stop(struct htw__life *life);

/* ---- threads */

/* Whether the scheduler has expirers or workers that are threads of the library. */
bool htw__needs_threads(const struct htw_scheduler *scheduler);

/* Starts the threads that have not been started: the expirers, and all workers or the first one. 0
   or -ENOMEM: the threads that were started stay, and the next call starts the rest. */
int htw__start_threads(struct htw_scheduler *scheduler, bool all_workers);

/* From now on no callback starts. Waits for the callbacks that run, and for the threads. */
void htw__end_threads(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_LIFE_H */
