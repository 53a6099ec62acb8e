/* SPDX-License-Identifier: MIT */
/* threshold.h - requests that wait for a value. */
#ifndef HTW_SRC_PURGATORY_THRESHOLD_H
#define HTW_SRC_PURGATORY_THRESHOLD_H

#include "state.h"
#include "value_tree.h"

struct htw_threshold {
    alignas(HTW__CACHE_LINE) struct htw__lock lock; /* guards all that follows but `link` */
    bool closed;
    uint64_t value;
    uint64_t used; /* requests that are in the tree, or have been and not been released yet */
    struct htw__value_tree waiting;
    struct htw_purgatory *purgatory;
    struct htw__purgatory_shard *shard; /* in which its requests are counted */
    struct htw__link link;              /* in the purgatory's rings, under its lock */
};

/* Takes a request that waits on a threshold out, and counts it out. */
void htw__threshold_unlink(struct htw_request *request, int reason);

/* The last hook of a request that waited on it has returned: it may be destroyed from then on. */
void htw__threshold_leave(struct htw_threshold *threshold);

/* Ends what waits on thresholds, for htw_purgatory_close(). Returns how many. */
int64_t htw__threshold_close_all(struct htw__frame *frame);

/* The bytes of all thresholds, for statistics. */
uint64_t htw__threshold_bytes(struct htw_purgatory *purgatory);

#endif /* HTW_SRC_PURGATORY_THRESHOLD_H */
