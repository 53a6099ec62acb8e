/* SPDX-License-Identifier: MIT */
/* run.h - runs the callbacks of a batch, and counts them. */
#ifndef HTW_SRC_SCHEDULER_RUN_H
#define HTW_SRC_SCHEDULER_RUN_H

#include "../base/histogram.h"
#include "../base/lock.h"
#include "shard.h"

/* What a thread that runs callbacks counts. The threads of an executor share one, and run batches of
   one timer. */
struct htw__run_stats {
    bool shared; /* `lock` must be held to write */
    struct htw__lock lock;
    struct htw__counter started, rearmed, ended, late, missed;
    struct htw__histogram lateness, duration;
    uint32_t pushed[HTW__STALE_AHEAD]; /* see htw__shard_push_all_stale() */
    uint32_t number;                   /* of the thread, or of the executor behind the last one */
};

/* For the n-th thread, or for the executor behind the last one. NULL: no memory. */
struct htw__run_stats *htw__run_stats_create(const struct htw_scheduler *scheduler, uint32_t n);

/* NULL is allowed. */
void htw__run_stats_destroy(const struct htw_scheduler *scheduler,
                            struct htw__run_stats *run_stats);

/* What is written in between is written by one thread at a time. */
static inline void htw__run_stats_lock(struct htw__run_stats *run_stats) {
    if (run_stats->shared)
        htw__lock_acquire(&run_stats->lock);
}

static inline void htw__run_stats_unlock(struct htw__run_stats *run_stats) {
    if (run_stats->shared)
        htw__lock_release(&run_stats->lock);
}

/*
 * Runs the timers of a batch that have not started, one after the other. Meanwhile another
 * thread may take timers from it (htw__workers_rebalance()). When the scheduler is being stopped,
 * the rest is put back.
 */
void htw__run_batch(struct htw__run_stats *run_stats, struct htw__batch *batch);

/* Puts the timers of a batch that have not started back into the wheel, where stop finds them. */
void htw__put_back_unstarted(struct htw__batch *batch);

#endif /* HTW_SRC_SCHEDULER_RUN_H */
