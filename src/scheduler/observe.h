/* SPDX-License-Identifier: MIT */
/*
 * observe.h - what the calls and threads of a scheduler do where something is observed, beside their work. A hot
 * path tests the mode of the scheduler (state.h), and comes here only if it is not 0.
 */
#ifndef HTW_SRC_SCHEDULER_OBSERVE_H
#define HTW_SRC_SCHEDULER_OBSERVE_H

#include "expirer.h"
#include "run.h"

/* These count for a timer, or record an event, as the mode says. */

/* ---- under the lock of the shard */

/* A timer was armed. */
void htw__observe_armed(struct htw__shard *shard, const struct htw__record *record,
                        htw_handle handle);

/* A timer was cancelled: one of this shard or, claimed, of another. */
void htw__observe_cancelled(struct htw__shard *shard, const struct htw__record *record,
                            htw_handle handle);

/* A timer has another deadline. */
void htw__observe_moved(struct htw__shard *shard, const struct htw__record *record,
                        htw_handle handle);

/* ---- in the thread that runs a callback */

/* What its end must know of its start. */
struct htw__observed_run {
    struct htw__site_entry *entry; /* NULL: not counted */
    struct htw__event event;       /* kind 0: not recorded */
    int64_t started_ns;            /* by the clock of the scheduler, as the end */
};

/* `record` is RUNNING. `now_ns`: of the scheduler's clock. */
struct htw__observed_run htw__observe_start(struct htw__run_stats *run_stats,
                                            const struct htw__record *record,
                                            const struct htw_expiration *expiration,
                                            int64_t now_ns);
void htw__observe_end(struct htw__run_stats *run_stats, struct htw__observed_run *run,
                      const struct htw_scheduler *scheduler, int64_t now_ns);

/* ---- in the role of an expirer */

/* It has taken a batch of timers that were due by a clock. Under the lock of their shard. */
void htw__observe_collected(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                            const struct htw__batch *batch);

/* It has served its shards. */
void htw__observe_served(struct htw__expirer *expirer);

#endif /* HTW_SRC_SCHEDULER_OBSERVE_H */
