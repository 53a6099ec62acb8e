/* SPDX-License-Identifier: MIT */
/* stats.h - the counters of all parts of a scheduler, added up. */
#ifndef HTW_SRC_OBSERVE_STATS_H
#define HTW_SRC_OBSERVE_STATS_H

#include "../scheduler/shard.h"
#include "distribution.h"

#include <htw/observe.h>

/* Adds up what the runners have counted. `fired` includes the timers that run now. */
void htw__stats_add_runners(const struct htw_scheduler *scheduler,
                            struct htw_scheduler_stats *stats);

struct htw__gathered {
    struct htw_scheduler_stats stats;
    struct htw__histogram lateness, callback;
};

/* All of it, which the caller releases. NULL: no memory. */
struct htw__gathered *htw__stats_gather(struct htw_scheduler *scheduler);

/* Adds the counters of a shard, the timers in its wheels, and its groups. Locks the shard. */
void htw__stats_add_shard(struct htw__shard *shard, struct htw_scheduler_stats *stats,
                          uint64_t *in_wheels, uint64_t *groups);

#endif /* HTW_SRC_OBSERVE_STATS_H */
