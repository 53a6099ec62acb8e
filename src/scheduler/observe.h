/* SPDX-License-Identifier: MIT */
/*
 * observe.h - what is counted and recorded of a timer where something is observed. A hot path tests the mode of the
 * scheduler (state.h), and comes here only if it is not 0.
 */
#ifndef HTW_SRC_SCHEDULER_OBSERVE_H
#define HTW_SRC_SCHEDULER_OBSERVE_H

#include "expirer.h"
#include "run.h"
#include "../observe/stacks.h"

/* ---- under the lock of the shard */

/* A timer was armed or cancelled: counts, and records an event, as the mode says. For a timer of this shard or,
   claimed by a cancel, of another. */
void htw__observe_step(struct htw__shard *shard, const struct htw__record *record,
                       htw_handle handle, enum htw_event_kind kind);

/* The common case: only sites are counted, and this one is found at once. False: it is not. */
static inline bool htw__observe_count_only(struct htw__shard *shard, unsigned mode,
                                           const struct htw__record *record,
                                           enum htw__site_number number) {
    htw__origin origin = htw__origin_of(record);
    struct htw__site_entry *entry =
        mode == HTW_OBSERVE_SITES ? htw__observer_first_place(shard->observer, origin) : NULL;
    if (HTW__UNLIKELY(entry == NULL))
        return false;
    htw__site_add(entry, number, 1);
    return true;
}

/* `stack`: of htw__stack_take(). */
static inline void htw__observe_armed(struct htw__shard *shard, const struct htw__record *record,
                                      htw_handle handle, const struct htw_stack *stack) {
    if (!htw__observe_count_only(shard, htw__mode(shard->scheduler), record, HTW__SITE_ARMED))
        htw__observe_step(shard, record, handle, HTW_EVENT_ARMED);
    if (HTW__UNLIKELY(stack != NULL))
        htw__stacks_keep(shard, handle, stack);
}

static inline void htw__observe_cancelled(struct htw__shard *shard,
                                          const struct htw__record *record, htw_handle handle) {
    if (!htw__observe_count_only(shard, htw__mode(shard->scheduler), record, HTW__SITE_CANCELLED))
        htw__observe_step(shard, record, handle, HTW_EVENT_CANCELLED);
}

/* A timer has another deadline. */
static inline void htw__observe_moved(struct htw__shard *shard, const struct htw__record *record,
                                      htw_handle handle) {
    if (HTW__UNLIKELY(htw__mode(shard->scheduler) & HTW_OBSERVE_EVENTS))
        htw__observe_step(shard, record, handle, HTW_EVENT_MOVED);
}

/* ---- in the thread that runs a callback */

/* A run that is observed. */
struct htw__observed_run {
    const struct htw_expiration *expiration;
    htw__origin origin;
    unsigned mode;                 /* when it began: its end is observed if its beginning was */
    struct htw__site_entry *entry; /* if sites are counted */
    int64_t started_ns;            /* by the clock of the scheduler */
};

/* `end_ns`: by the clock of the scheduler; for HTW_EVENT_STARTED it does not count. */
void htw__observe_run_event(struct htw__run_stats *run_stats, const struct htw__observed_run *run,
                            enum htw_event_kind kind, int64_t end_ns);

/* `record` is RUNNING. `now_ns`: by the clock of the scheduler. */
static inline void htw__observe_start(struct htw__run_stats *run_stats,
                                      const struct htw__record *record,
                                      const struct htw_expiration *expiration, int64_t now_ns,
                                      struct htw__observed_run *run) {
    const struct htw_scheduler *scheduler = expiration->scheduler;
    run->expiration = expiration;
    run->origin = htw__origin_of(record);
    run->mode = htw__mode(scheduler);
    run->started_ns = now_ns;
    htw__run_stats_lock(run_stats);
    if (run->mode & HTW_OBSERVE_SITES) {
        run->entry = htw__observer_site(run_stats->observer, run->origin);
        htw__site_add(run->entry, HTW__SITE_EXPIRED, 1);
        if (expiration->late_ns > scheduler->late_threshold_ns)
            htw__site_add(run->entry, HTW__SITE_LATE, 1);
    }
    if (HTW__UNLIKELY(run->mode & HTW_OBSERVE_EVENTS))
        htw__observe_run_event(run_stats, run, HTW_EVENT_STARTED, now_ns);
    htw__run_stats_unlock(run_stats);
}

static inline void htw__observe_end(struct htw__run_stats *run_stats,
                                    const struct htw__observed_run *run, int64_t end_ns) {
    if (!(run->mode & HTW__MODE_OBSERVE))
        return;
    htw__run_stats_lock(run_stats);
    if ((run->mode & HTW_OBSERVE_SITES) && end_ns > run->started_ns)
        htw__site_add(run->entry, HTW__SITE_CALLBACK_NS, (uint64_t)(end_ns - run->started_ns));
    if (HTW__UNLIKELY(run->mode & HTW_OBSERVE_EVENTS))
        htw__observe_run_event(run_stats, run, HTW_EVENT_ENDED, end_ns);
    htw__run_stats_unlock(run_stats);
}

/* ---- in the role of an expirer */

/* It has taken a batch of timers that were due by a clock. Under the lock of their shard. */
void htw__observe_collected(struct htw__expirer *expirer, const struct htw__clockwork *clockwork,
                            const struct htw__batch *batch);

/* It has served its shards. */
void htw__observe_served(struct htw__expirer *expirer);

#endif /* HTW_SRC_SCHEDULER_OBSERVE_H */
