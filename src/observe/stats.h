/* SPDX-License-Identifier: MIT */
/* stats.h - the counters of all parts of a scheduler, added up. */
#ifndef HTW_SRC_OBSERVE_STATS_H
#define HTW_SRC_OBSERVE_STATS_H

#include "../base/histogram.h"
#include "../scheduler/shard.h"

/* Adds up what the runners have counted. `fired` includes the timers that run now. */
void htw__stats_add_runners(const struct htw_scheduler *scheduler,
                            struct htw_scheduler_stats *stats);

/* Fills in all counters of `stats`, and the two histograms of the caller. */
void htw__stats_gather(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                       struct htw__histogram *lateness, struct htw__histogram *duration);

/* Fills in all of `stats`. `*ret_histograms` receives two histograms, of the lateness and of the
   callbacks, which the caller releases. 0 or a negative errno. */
int htw__stats_of(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                  struct htw__histogram **ret_histograms);
void htw__stats_release(struct htw_scheduler *scheduler, struct htw__histogram *histograms);

/* Adds the counters of a shard, the timers in its wheels, and its groups. Locks the shard. */
void htw__stats_add_shard(struct htw__shard *shard, struct htw_scheduler_stats *stats,
                          uint64_t *in_wheels, uint64_t *groups);

#endif /* HTW_SRC_OBSERVE_STATS_H */
