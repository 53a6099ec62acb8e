/* SPDX-License-Identifier: MIT */
/*
 * workers.h - the threads that run callbacks.
 *
 * Expirers submit batches; a worker runs a batch as a whole. Workers are started when they are
 * needed. A callback that takes long delays the rest of its batch by about a millisecond: then the
 * rest is handed to another worker (htw__workers_rebalance()).
 */
#ifndef HTW_SRC_SCHEDULER_WORKERS_H
#define HTW_SRC_SCHEDULER_WORKERS_H

#include "state.h"

struct htw__worker {
    struct htw_scheduler *scheduler;
    pthread_t thread;
    struct htw__run_stats *run_stats;
    /* Guarded by the mutex of the queue: the batch that it runs; what the last rebalance saw. */
    struct htw__batch *batch;
    struct htw__batch *seen_batch;
    uint32_t seen_next;
};

/* 0 or -ENOMEM. In either case htw__workers_fini() must follow. */
int htw__workers_init(struct htw_scheduler *scheduler);
void htw__workers_fini(struct htw_scheduler *scheduler);

/* Starts the workers that have not been started: all, or the first one. 0 or -ENOMEM. */
int htw__workers_start(struct htw_scheduler *scheduler, bool all);

/* A spare batch. Waits until there is one. NULL: the scheduler is being stopped. */
struct htw__batch *htw__workers_wait_for_batch(struct htw_scheduler *scheduler);

/* Hands a batch to the workers. A batch without timers becomes spare. */
void htw__workers_submit(struct htw_scheduler *scheduler, struct htw__batch *batch);

/* Whether htw__workers_rebalance() may be needed soon, because a batch waits behind a callback. */
bool htw__workers_need_rebalance(struct htw_scheduler *scheduler);

/* If a worker has been in one callback since the last call, hands the rest of its batch to another
   worker. Acts at most once a millisecond. */
void htw__workers_rebalance(struct htw_scheduler *scheduler);

/* Waits until all that was submitted has run. False: the scheduler is being stopped. */
bool htw__workers_wait_until_idle(struct htw_scheduler *scheduler);

/* After htw__work_queue_stop(): waits until the workers have ended and the executor has no task.
   Timers that were not started are kept for stop. */
void htw__workers_join(struct htw_scheduler *scheduler);

#endif /* HTW_SRC_SCHEDULER_WORKERS_H */
