/* SPDX-License-Identifier: MIT */
/* bars.h - the bars of a histogram: what they have counted between two samples. */
#ifndef HTW_TOP_BARS_H
#define HTW_TOP_BARS_H

#include "snapshot.h"

/* What has been counted since `before`. False: nothing, or `before` is NULL; `ret_counts` then has what was counted
   in all the time. */
bool htw__bars_since(const uint64_t *before, const uint64_t *now,
                     uint64_t ret_counts[HTW__TOP_BUCKETS]);

/* The time below which a part (0 to 1) of what was counted lies, as if that were spread evenly within a bar.
   `first_ns` is the end of the first bar; each of the others ends at twice its beginning. 0: nothing was counted. */
uint64_t htw__bars_percentile_ns(const uint64_t counts[HTW__TOP_BUCKETS], uint64_t first_ns,
                                 double part);

#endif /* HTW_TOP_BARS_H */
