/* SPDX-License-Identifier: MIT */
/*
 * workers.h - the pool of threads that run callbacks.
 *
 * Expirers bring batches, workers take them whole. There is a fixed number of batches: when all
 * are in use, expirers wait, and what is due waits in the wheel, where it can be cancelled
 * for the price of unlinking. The threads are started as they are needed. A callback
 * that takes long holds up what is left of its batch only until the expirer looks (every
 * millisecond while there is such a rest): then it goes to another worker.
 */
#ifndef HTW_SRC_SCHEDULER_WORKERS_H
#define HTW_SRC_SCHEDULER_WORKERS_H

#include "state.h"

/* 0 or -ENOMEM. */
int htw__pool_init(struct htw_scheduler *scheduler);
void htw__pool_fini(struct htw_scheduler *scheduler);

/* Starts threads that are not there yet: all, or the first if there is none. 0 or -ENOMEM. */
int htw__pool_start(struct htw_scheduler *scheduler, bool all);

/* An unused batch. Waits for one; NULL when the scheduler is being stopped. */
struct htw__batch *htw__pool_obtain(struct htw_scheduler *scheduler);

/* Takes a batch to be run; one without timers comes back at once. */
void htw__pool_submit(struct htw_scheduler *scheduler, struct htw__batch *batch);

/* Whether somebody may be kept waiting by a callback that takes long. */
bool htw__pool_needs_watch(struct htw_scheduler *scheduler);

/* Gives the rest of a batch that does not get on to another worker. */
void htw__pool_watch(struct htw_scheduler *scheduler);

/* Waits until everything that was submitted has been run. False: stopped meanwhile. */
bool htw__pool_wait_quiet(struct htw_scheduler *scheduler);

/* Counts what the user's executor holds: stop and advance wait for it. */
void htw__pool_add_outstanding(struct htw_scheduler *scheduler, uint32_t count);
void htw__pool_end_outstanding(struct htw_scheduler *scheduler);

/* Wakes everybody up who waits, since the scheduler is being stopped. */
void htw__pool_stop(struct htw_scheduler *scheduler);

/* Waits until all threads have ended, and the executor has given everything back; what they have
 * not begun with is in the shards. */
void htw__pool_join(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_WORKERS_H */
