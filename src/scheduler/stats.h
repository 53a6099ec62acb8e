/* SPDX-License-Identifier: MIT */
/* stats.h - what the parts of a scheduler have counted, put together. */
#ifndef HTW_SRC_SCHEDULER_STATS_H
#define HTW_SRC_SCHEDULER_STATS_H

#include "state.h"

/* All counters of `stats`, and the two distributions as histograms, which are the caller's. */
void htw__stats_gather(struct htw_scheduler *scheduler, struct htw_scheduler_stats *stats,
                       struct htw__histogram *lateness, struct htw__histogram *duration);

#endif /* HTW_SRC_SCHEDULER_STATS_H */
