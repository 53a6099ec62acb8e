/* SPDX-License-Identifier: MIT */
/* stats.h - the counters of all parts of a scheduler, added up. */
#ifndef HTW_SRC_SCHEDULER_STATS_H
#define HTW_SRC_SCHEDULER_STATS_H

#include "../base/histogram.h"
#include "state.h"

/* Adds up what the runners have counted. `fired` includes the timers that run now. */
void htw__stats_add_runners(const struct htw_scheduler *scheduler,
                            struct htw_scheduler_stats *stats);

/* Fills in all counters of `stats`, and the two histograms of the caller. */
void htw__stats_gather(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                       struct htw__histogram *lateness, struct htw__histogram *duration);

#endif /* HTW_SRC_SCHEDULER_STATS_H */
